"""`when`, `compare` and `timeline` from the shell."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from everwhen.cli.app import run
from tests.cli.test_commands import Shell


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Shell:
    """A small story, with the real model: a date is found by meaning too."""
    at, later = "2025-06-04T18:00:00Z", "2025-06-20T18:00:00Z"
    first = ["I moved to Porto last week! The flat is tiny.", "My sister Rita got married on Saturday."]
    assert run(["add", *first, "--name", "Ana", "--at", at]) == 0
    second = "I start at the aquarium on 7 July. I didn't go to the gym yesterday."
    assert run(["add", second, "--name", "Ana", "--at", later]) == 0
    capsys.readouterr()
    return Shell(capsys)


def test_when_tells_the_interval_and_the_words_that_say_so(told: Shell) -> None:
    code, out, _ = told("when", "when did Ana move to Porto?")
    assert code == 0
    assert "the week of 26 May 2025" in out and "Ana: I moved to Porto last week!" in out
    found = told.json("when", "when did Ana move to Porto?")
    assert found["interval"] == {
        "start": "2025-05-26T00:00:00Z",
        "end": "2025-06-02T00:00:00Z",
        "grain": "week",
    }
    assert found["evidence"][0]["expression"] == "last week"
    assert 0 < found["confidence"] <= 1


def test_when_exits_with_3_where_the_memory_does_not_say(told: Shell) -> None:
    code, out, _ = told("when", "when did Ana fly to Mars?")
    assert (code, out) == (3, "this memory does not say when\n")
    code, out, _ = told("when", "when did Ana fly to Mars?", "--json")
    assert (code, json.loads(out)) == (3, None)


def test_compare_tells_which_came_first_and_how_far_apart(told: Shell) -> None:
    code, out, _ = told("time", "compare", "starting at the aquarium", "Ana's move to Porto")
    assert code == 0
    assert (
        "Ana's move to Porto came before starting at the aquarium: between 5 and 6 weeks (36 to 42 days)"
        in out
    )
    assert "█" in out
    found = told.json("time", "compare", "Ana's move to Porto", "starting at the aquarium")
    assert (found["order"], found["gap"]["least"], found["gap"]["most"]) == ("before", 36, 42)
    assert found["first"]["query"] == "Ana's move to Porto"


def test_compare_does_not_guess(told: Shell) -> None:
    code, out, _ = told("time", "compare", "Ana's move to Porto", "Rita's wedding")
    assert code == 0 and "cannot tell which came first: between 0 and 5 days" in out
    code, out, _ = told("time", "compare", "Ana's move to Porto", "the flight to Mars")
    assert code == 3 and "does not say when it was: the flight to Mars" in out


def test_timeline_is_drawn_under_headings(told: Shell) -> None:
    code, out, _ = told("timeline", "--grain", "month")
    assert code == 0
    lines = [line.strip() for line in out.splitlines()]
    assert [line for line in lines if line in ("May 2025", "June 2025", "July 2025")] == [
        "May 2025",
        "June 2025",
        "July 2025",
    ]
    assert lines[lines.index("May 2025") + 1].endswith("Ana moved to Porto")
    assert "○" in out and "gym" not in out
    assert "gym" in told("timeline", "--negated")[1]
    kinds = {entry["kind"] for entry in told.json("timeline", "--between", "2025-05-26", "2025-05-31")}
    assert kinds == {"event", "fact began"}


def test_an_empty_timeline_exits_with_3(told: Shell) -> None:
    code, out, _ = told("timeline", "--between", "2031-01-01", "2032-01-01")
    assert (code, out) == (3, "nothing is known of that time\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("when", " "), "query is empty"),
        (("timeline", "--grain", "hour"), "unknown grain 'hour'"),
        (("timeline", "--between", "2030-01-01", "2020-01-01"), "give the earlier one first"),
    ],
)
def test_wrong_usage_is_one_line_with_the_fix(told: Shell, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = told(*arguments)
    assert code == 2 and message in err and err.count("\n") == 1


def test_stored_text_cannot_command_the_terminal(told: Shell) -> None:
    told(
        "add",
        "I adopted a parrot \x1b[31mcalled Red\x1b[0m yesterday.",
        "--name",
        "Ana",
        "--at",
        "2025-07-01T10:00:00Z",
    )
    for arguments in (("when", "when did Ana adopt a parrot?"), ("timeline", "--about", "parrot")):
        code, out, _ = told(*arguments)
        assert code == 0 and "\x1b" not in out


def test_asking_when_needs_no_spacy(told: Shell) -> None:
    code = (
        "import sys; from everwhen.cli.app import run; run(['when', 'when did Ana move to Porto?']);"
        "run(['timeline']); print([name for name in ('spacy', 'tiktoken', 'dateparser') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_reader_takes_both_times(told: Shell) -> None:
    assert told("bank", "consolidate", "--now", "end")[0] == 0
    move, job = "Ana's move to Porto", "starting at the aquarium"
    for command in ("show events", "show entities", "timeline", "show tree", "show profile"):
        words = command.split()
        now = told.json(*words)
        assert 0 < len(told.json(*words, "--as-of", "2025-06-10")) <= len(now), command
        assert told.json(*words, "--known-at", "today") == now, command
        # It was said by then, and nobody had told the memory.
        assert json.loads(told(*words, "--known-at", "2025-06-30", "--json")[1]) == [], command
    assert len(told.json("show", "events", "--as-of", "2025-06-10")) < len(told.json("show", "events"))
    assert told("when", "when does Ana start at the aquarium?", "--as-of", "2025-06-10")[0] == 3
    assert told("when", move, "--as-of", "2025-06-10")[0] == 0
    assert told("time", "compare", move, job, "--as-of", "2025-06-10")[0] == 3
    assert told("time", "compare", move, job, "--known-at", "2025-06-30")[0] == 3


def test_a_bank_counts_days_in_the_zone_that_it_is_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["add", "I slept badly last night."]) == 0
    capsys.readouterr()
    assert run(["bank", "zone"]) == 0 and "in UTC" in capsys.readouterr().out
    assert run(["bank", "zone", "Asia/Tokyo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"bank": "default", "zone": "Asia/Tokyo"}
    assert run(["bank", "zone"]) == 0 and "Asia/Tokyo" in capsys.readouterr().out
    assert run(["bank", "zone", "Nowhere/Land"]) == 2 and "unknown zone" in capsys.readouterr().err
