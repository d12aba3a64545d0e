"""The packaged networks as the tests use them: opened once by each worker, and run once on each input by all workers.

What the real network gave for the very same numbers is kept in a folder of the run, and is given again, bit by bit. No
run knows what an earlier one kept. Tests about the networks themselves, or about how long something takes, ask for the
fixture `networks_run`: they open them and run them as users do.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from everwhen.models import embedder

Arrays = list[NDArray[Any]]
_open = embedder._open


class Remembered:
    """A session that runs its network on each input once."""

    def __init__(self, session: Any, model: str, folder: Path) -> None:
        self._session = session
        self._model = model
        self._folder = folder

    def run(self, wanted: Sequence[str], inputs: Mapping[str, NDArray[Any]]) -> Arrays:
        if _networks.run:
            return list(self._session.run(wanted, inputs))
        file = self._folder / self._name(wanted, inputs)
        try:
            kept: Arrays = pickle.loads(file.read_bytes())
        except FileNotFoundError:
            kept = list(self._session.run(wanted, inputs))
            part = file.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
            part.write_bytes(pickle.dumps(kept))
            part.rename(file)  # whoever reads it meanwhile finds all of it or nothing
        return kept

    def _name(self, wanted: Sequence[str], inputs: Mapping[str, NDArray[Any]]) -> str:
        said = blake2b(repr((self._model, list(wanted))).encode(), digest_size=20)
        for name, values in sorted(inputs.items()):
            said.update(repr((name, values.dtype.str, values.shape)).encode())
            said.update(np.ascontiguousarray(values).data)
        return said.hexdigest()


class _Networks:
    """What this worker does with the networks."""

    folder: Path | None = None
    run = False
    """Whether they are opened and run each time."""


_networks = _Networks()
_opened = cache(_open)


def _network_or_tokenizer(path: Path) -> Any:
    if path not in embedder.PACKAGED:
        return _open(path)
    found = (_open if _networks.run else _opened)(path)
    if path.suffix == ".json" or _networks.folder is None:
        return found
    return Remembered(found, str(path), _networks.folder)


embedder._open = _network_or_tokenizer


@pytest.fixture(scope="session", autouse=True)
def _kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp()
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    _networks.folder = base.parent / f"networks-{run}" if run else base / "networks"
    _networks.folder.mkdir(exist_ok=True)


@contextmanager
def running_each_time() -> Iterator[None]:
    """The networks are opened and run, also on what they have read before."""
    before, _networks.run = _networks.run, True
    try:
        yield
    finally:
        _networks.run = before


@pytest.fixture
def networks_run() -> Iterator[None]:
    with running_each_time():
        yield
