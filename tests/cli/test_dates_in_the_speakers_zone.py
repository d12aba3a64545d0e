"""What was said in another zone than the bank's is shown with the days of whoever said it, and never as ISO 8601."""

from __future__ import annotations

import re

import pytest

from everwhen import Memory
from everwhen.cli.app import run
from everwhen.serve.mcp.results import show_entry


@pytest.fixture(autouse=True)
def _told() -> None:
    """Half past midnight of the 10th in Berlin; by UTC, which is the bank's zone, it is the 9th."""
    said = ["I have worked at Siemens since 5 June 2025.", "I moved to Kiel on 3 June 2025."]
    given = ["--name", "Max", "--at", "2025-06-10T00:30", "--zone", "Europe/Berlin"]
    assert run(["add", *said, *given]) == 0


@pytest.mark.parametrize(
    ("command", "days"),
    [
        (["ask", "When did I move to Kiel?"], {"3 June 2025", "10 June 2025", "2025-06-10"}),
        (["when", "When did I move to Kiel?"], {"3 June 2025", "Tue 10 Jun 2025"}),
        (["timeline"], {"3 June 2025", "5 June 2025", "2025-06-10"}),
        (["facts", "current"], {"2025-06-03", "2025-06-05"}),
        (["facts", "timeline", "Max"], {"2025-06-03", "2025-06-05"}),
        (["show", "sessions"], {"2025-06-10"}),
        (["recall", "Siemens"], {"Tue 10 Jun 2025"}),
        (["show", "context", "Where does Max work?"], {"2025-06-05"}),
    ],
)
def test_days_are_those_of_the_speaker(
    command: list[str], days: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    run(command)
    out = capsys.readouterr().out
    assert all(day in out for day in days), out
    assert not re.search(r"\b[249] June?\b|2025-06-0[249]|T\d\d:\d\d", out), out


def test_a_model_is_shown_the_days_of_the_speaker() -> None:
    with Memory.open() as memory:
        shown = {entry["text"]: entry["when"] for entry in map(show_entry, memory.timeline())}
        assert "3 June 2025" in shown.values()
        assert [when for when in shown.values() if "T" in when] == []
        assert shown["Max talked (2 turns)"] == "10 June 2025 at 00:30"
        assert memory.compare("the move to Kiel", "the job at Siemens").gap is not None


def test_a_stretch_without_an_exact_name_is_told_by_its_days(capsys: pytest.CaptureFixture[str]) -> None:
    said = "I have lived in Bonn from 1 May 2025 until now."
    assert run(["add", said, "--name", "Eva", "--at", "2025-06-10T14:31", "--zone", "Europe/Berlin"]) == 0
    capsys.readouterr()
    assert run(["show", "events"]) == 0
    assert "2025-" not in capsys.readouterr().out
