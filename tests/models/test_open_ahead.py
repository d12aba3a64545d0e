"""Networks that are opened ahead are the ones that are used, once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from everwhen.cli.app import run
from everwhen.errors import ModelError
from everwhen.models import embedder
from everwhen.models.comparison import READER_FOLDER


def test_what_is_opened_ahead_is_handed_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(embedder, "_ahead", {})  # an earlier test may have left some
    monkeypatch.setattr(embedder, "_open", lambda path: opened.append(path) or f"session {len(opened)}")  # type: ignore[func-returns-value]
    first, second = (path for path in embedder.PACKAGED if path.suffix == ".onnx")
    embedder.open_ahead(first)
    assert [embedder.open_packaged(first), embedder.open_packaged(second), embedder.open_packaged(first)] == [
        "session 1",
        "session 2",
        "session 3",
    ]
    assert opened == [first, second, first]


def test_what_goes_wrong_ahead_is_said_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    path = embedder.PACKAGED[0].with_name("missing.onnx")
    embedder.open_ahead(path)
    with pytest.raises(ModelError, match="reinstall everwhen"):
        embedder.open_packaged(path)


def test_the_networks_opened_ahead_are_those_of_the_package() -> None:
    assert set(embedder.PACKAGED) == {
        folder / name
        for folder in (embedder.CONVERSATION_FOLDER, READER_FOLDER)
        for name in ("model.onnx", "tokenizer.json")
    }


def test_a_question_on_the_command_line_opens_them_ahead_unless_others_are_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ahead: list[object] = []
    monkeypatch.setattr(embedder, "open_ahead", lambda *paths: ahead.extend(paths))
    assert run(["recall", "x", "--bank", "nobody"]) == 3 and ahead == list(embedder.PACKAGED)
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    ahead.clear()
    assert run(["recall", "x", "--bank", "nobody"]) == 3 and ahead == []


def test_numpy_is_there_before_other_threads_ask_for_it() -> None:
    """Imported by two threads at once it fails in one of them, now and then: `everwhen recall` then crashed."""
    asked = """
import sys
from everwhen.models import embedder
embedder._open = lambda path: "numpy" in sys.modules
embedder.open_ahead(*embedder.PACKAGED)
assert all(embedder.open_packaged(path) for path in embedder.PACKAGED)
"""
    subprocess.run([sys.executable, "-c", asked], check=True)
