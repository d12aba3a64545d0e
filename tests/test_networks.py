"""What the tests keep of the networks is what the networks give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from everwhen.models import embedder
from everwhen.models.embedder import open_embedder
from tests import networks

MODELS = [path for path in embedder.PACKAGED if path.suffix == ".onnx"]
WANTED = {
    "conversation_1": ["sentence", "token_vectors"],
    "reader_2": ["relevance", "kind", "status", "span"],
}


class Counted:
    """The real session, and how often it ran."""

    def __init__(self, path: Path) -> None:
        self.session = networks._open(path)
        self.runs = 0

    def run(self, wanted: list[str], inputs: dict[str, Any]) -> list[Any]:
        self.runs += 1
        return list(self.session.run(wanted, inputs))


def numbers(*last: int) -> dict[str, NDArray[np.int64]]:
    ids = np.array([[101, 2054, 2106, 2016, 102, 2016, *last, 102]], np.int64)
    segments = np.zeros_like(ids)
    segments[:, 5:] = 1
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "segments": segments}


@pytest.fixture(params=MODELS, ids=lambda path: path.parent.name)
def model(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def wanted(model: Path) -> list[str]:
    return WANTED[model.parent.name]


def same(left: list[Any], right: list[Any]) -> bool:
    return [one.tobytes() for one in left] == [one.tobytes() for one in right]


def test_two_sessions_of_a_network_give_the_same_to_the_last_bit(model: Path) -> None:
    first, second = networks._open(model), networks._open(model)
    assert same(first.run(wanted(model), numbers(2741)), second.run(wanted(model), numbers(2741)))
    assert same(first.run(wanted(model), numbers(2741)), second.run(wanted(model), numbers(2741)))


def test_an_input_is_run_once_by_all_workers_and_each_gets_what_the_network_gives(
    model: Path, tmp_path: Path
) -> None:
    first, second = Counted(model), Counted(model)
    workers = [networks.Remembered(one, str(model), tmp_path) for one in (first, second)]
    given = [worker.run(wanted(model), numbers(2741)) for worker in (*workers, *workers)]
    assert (first.runs, second.runs) == (1, 0)
    plain = first.session.run(wanted(model), numbers(2741))
    assert all(same(one, plain) for one in given)
    assert [one.dtype for one in given[1]] == [one.dtype for one in plain]
    assert [one.shape for one in given[1]] == [one.shape for one in plain]


def test_another_input_another_answer_and_another_network_are_run(tmp_path: Path) -> None:
    session = Counted(MODELS[0])
    kept = networks.Remembered(session, "one", tmp_path)
    whole = kept.run(["sentence"], numbers(2741))
    assert not same(whole, kept.run(["sentence"], numbers(2742)))
    assert len(kept.run(["sentence", "token_vectors"], numbers(2741))) == 2
    assert not same(whole, kept.run(["sentence"], {**numbers(2741), "segments": np.zeros((1, 8), np.int64)}))
    networks.Remembered(session, "other", tmp_path).run(["sentence"], numbers(2741))
    assert session.runs == 5


def test_who_changes_what_was_given_changes_nothing_that_is_kept(tmp_path: Path) -> None:
    kept = networks.Remembered(Counted(MODELS[0]), "one", tmp_path)
    first = kept.run(["sentence"], numbers(2741))
    was = first[0].copy()
    first[0][:] = 0
    again = kept.run(["sentence"], numbers(2741))
    assert same(again, [was])
    again[0][:] = 0
    assert same(kept.run(["sentence"], numbers(2741)), [was])


def test_a_test_about_the_networks_opens_and_runs_them(tmp_path: Path, networks_run: None) -> None:
    session = Counted(MODELS[0])
    kept = networks.Remembered(session, "one", tmp_path)
    kept.run(["sentence"], numbers(2741))
    kept.run(["sentence"], numbers(2741))
    assert session.runs == 2 and not any(tmp_path.iterdir())
    assert embedder._open(MODELS[0])._session is not embedder._open(MODELS[0])._session


def test_all_other_tests_use_what_is_kept() -> None:
    opened = open_embedder("conversation-1")
    opened.embed(["a violin under the stairs"])
    assert isinstance(opened._loaded._session, networks.Remembered)  # type: ignore[attr-defined]
    assert embedder._open(MODELS[0])._session is embedder._open(MODELS[0])._session
