"""Networks that are opened ahead are the ones that are used, once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from everwhen.cli.app import run
from everwhen.errors import ModelError
from everwhen.models import onnx
from everwhen.models.embed import conversation
from everwhen.models.reader import packaged


def test_what_is_opened_ahead_is_handed_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(onnx, "_ahead", {})  # an earlier test may have left some
    monkeypatch.setattr(onnx, "_open", lambda path: opened.append(path) or f"session {len(opened)}")  # type: ignore[func-returns-value]
    first, second = (path for path in onnx.PACKAGED if path.suffix == ".onnx")
    onnx.open_ahead(first)
    assert [onnx.open_session(first), onnx.open_session(second), onnx.open_session(first)] == [
        "session 1",
        "session 2",
        "session 3",
    ]
    assert opened == [first, second, first]


def test_what_goes_wrong_ahead_is_said_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    path = onnx.PACKAGED[0].with_name("missing.onnx")
    onnx.open_ahead(path)
    with pytest.raises(ModelError, match="reinstall everwhen"):
        onnx.open_session(path)


def test_the_networks_opened_ahead_are_those_of_the_package() -> None:
    assert set(onnx.PACKAGED) == {
        folder / name
        for folder in (conversation.FOLDER, packaged.FOLDER)
        for name in ("model.onnx", "tokenizer.json")
    }


def test_a_question_on_the_command_line_opens_them_ahead_unless_others_are_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ahead: list[object] = []
    monkeypatch.setattr(onnx, "open_ahead", lambda *paths: ahead.extend(paths))
    assert run(["recall", "x", "--bank", "nobody"]) == 3 and ahead == list(onnx.PACKAGED)
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    ahead.clear()
    assert run(["recall", "x", "--bank", "nobody"]) == 3 and ahead == []


def test_numpy_is_there_before_other_threads_ask_for_it() -> None:
    """Imported by two threads at once it fails in one of them, now and then: `everwhen recall` then crashed."""
    asked = """
import sys
from everwhen.models import onnx
assert "numpy" not in sys.modules
onnx._open = onnx._open_tokenizer = lambda path: "numpy" in sys.modules
onnx.open_ahead(*onnx.PACKAGED)
assert all(onnx.open_session(path) for path in onnx.PACKAGED)
"""
    subprocess.run([sys.executable, "-c", asked], check=True)
