"""The dated questions about our own talks: each is about a talk that is there, and an interval that is one."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from score_when import figures, turns

HERE = Path(__file__).parents[2] / "training"
ASKED = [json.loads(line) for line in (HERE / "when_talks.jsonl").read_text("utf-8").splitlines()]


def test_every_question_is_about_turns_that_are_there() -> None:
    ids = {name: {one.id for one in turns(name)} for name in {one["talk"] for one in ASKED}}
    for one in ASKED:
        told = {f"{one['talk']}-{number}" for number in one.get("evidence", ())}
        assert told <= ids[one["talk"]], one
        assert bool(told) == ("start" in one) == one.get("answerable", True), one


def test_every_interval_has_a_day_in_it() -> None:
    told = [one for one in ASKED if "start" in one]
    assert len(told) == 354 and len(ASKED) - len(told) == 120
    assert all(date.fromisoformat(one["start"]) < date.fromisoformat(one["end"]) for one in told)


def test_what_is_refused_counts_as_not_right_and_not_as_answered() -> None:
    assert figures([True, False, None, None], [True, False]) == (
        "4 told: 2 answered, 1 rightly: 0.250, 0.500 of those answered; 2 not told: 0.500 refused"
    )
