"""Progress: a bar on a terminal, lines without one, nothing where nobody wants it."""

from __future__ import annotations

import sys
import time

import pytest

from everwhen.cli import printing
from everwhen.cli.app import GlobalOptions
from everwhen.cli.printing import counting, progress_of, working


def test_without_a_terminal_a_line_now_and_then_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(printing.time, "monotonic", lambda: now[0])
    with counting(GlobalOptions(), "importing", 3000) as tick:
        for done in range(0, 3000, 1000):
            tick(done)
            now[0] += printing.EVERY / 2
    with progress_of(GlobalOptions()) as report:
        now[0] += printing.EVERY
        report("ana", 5, 9)
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err == "importing: 2,000 of 3,000\nana: 5 of 9\n"


@pytest.mark.parametrize("here", [GlobalOptions(quiet=True), GlobalOptions(json=True)])
def test_quiet_and_json_have_no_progress(
    here: GlobalOptions, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "EVERY", 0.0)
    with counting(here, "importing", 3) as tick:
        tick(1)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with counting(GlobalOptions(), "importing", 3) as tick:
        tick(1)
    assert "importing" in capsys.readouterr().err


def test_work_that_cannot_say_how_far_it_is_says_how_long_it_takes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "EVERY", 0.01)
    with working(GlobalOptions(), "embedding 30,000 characters"):
        time.sleep(0.1)
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("embedding 30,000 characters: 0 s\n")
    with working(GlobalOptions(quiet=True), "embedding"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_spinner(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with working(GlobalOptions(), "embedding"):
        pass
    assert "embedding" in capsys.readouterr().err
