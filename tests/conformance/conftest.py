"""Every store must pass this suite: a new backend adds one entry to `OPENERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everwhen.store import Store
from everwhen.store.sqlite import SqliteStore
from tests.conformance.turns import DIMENSION

Reopen = Callable[[], Store]


def _sqlite(folder: Path) -> Store:
    return SqliteStore.open(folder / "banks" / "b.db", embedder="fake", dimension=DIMENSION, zone="UTC")


OPENERS: dict[str, Callable[[Path], Store]] = {"sqlite": _sqlite}


@pytest.fixture(params=sorted(OPENERS))
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Reopen]:
    """Open the same bank, as often as wanted; all are closed in the end."""
    opened: list[Store] = []

    def again() -> Store:
        opened.append(OPENERS[request.param](tmp_path))
        return opened[-1]

    yield again
    for store in opened:
        store.close()


@pytest.fixture
def store(reopen: Reopen) -> Store:
    return reopen()
