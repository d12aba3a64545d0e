"""The event calendar of the story: what a reader knows of its dates, the rules know too."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from everwhen.api.extraction_wait import still_pending
from everwhen.api.memory import Memory
from everwhen.cli.app import GlobalOptions, run
from everwhen.cli.story.story import calendar, story, truth
from everwhen.types import Event
from everwhen_time import Interval


def test_at_least_forty_of_fifty_events_of_the_story_are_dated_as_a_reader_dates_them(quick: Memory) -> None:
    quick.add_many(story())
    events: dict[str, list[Event]] = {}
    for event in quick.events():
        for turn in event.turns if not event.inferred and event.status != "hypothetical" else ():
            events.setdefault(turn, []).append(event)
    known = truth()["events"]
    right = [
        one
        for one in known
        if (one["start"], one["end"])
        in {days(event.occurred, one["zone"]) for event in events.get(one["turn"], [])}
    ]
    assert len(known) == 50
    assert len(right) >= 42


def test_the_calendar_has_what_words_date_and_tell_in_a_whole_sentence(quick: Memory) -> None:
    quick.add_many(
        [
            {"role": "user", "name": "Marta", "content": text, "timestamp": "2025-04-21T10:00:00Z"}
            for text in ("I took the train to Porto yesterday.", "Three viewings, all on Saturday.")
        ]
    )
    assert len([event for event in quick.events() if not event.inferred]) == 2
    assert [event.title for event in calendar(quick)] == ["Marta took the train to Porto"]


def test_what_did_not_happen_is_in_the_calendar_as_such(quick: Memory) -> None:
    quick.add_many([message for message in story() if message.session in ("s02", "s03")])
    never = [event for event in quick.events(status="negated") if event.subject == "Rui"]
    assert [(event.verb, event.turns) for event in never] == [("come", ("s03-01",))]


@pytest.mark.parametrize(
    "part", [slice(110, 140), pytest.param(slice(None), marks=pytest.mark.long)], ids=["a part", "whole"]
)
def test_the_demo_prints_the_calendar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, part: slice
) -> None:
    said = story()[part]
    monkeypatch.setattr("everwhen.cli.story.story.story", lambda: said)
    assert run(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "What happened, and when" in shown and "everwhen demo --ui" in shown
    assert "31 May 2025" in shown.replace("Saturday ", "")


def test_the_demo_opens_the_page_on_the_story_and_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nicegui")
    seen = []

    def page(here: GlobalOptions, port: int, *, browser: bool) -> None:
        assert here.home is not None and still_pending() == 0
        with Memory.open(here.home, here.bank or "") as memory:
            seen.append((here.home, memory.stats().turns, len(memory.tree()) > 0, port, browser))

    said = story()[110:140]
    monkeypatch.setattr("everwhen.cli.story.story.story", lambda: said)
    monkeypatch.setattr("everwhen.cli.demo.show_page", page)
    assert run(["demo", "--ui", "--port", "9876", "--no-browser"]) == 0
    ((home, turns, consolidated, port, browser),) = seen
    assert (turns, consolidated, port, browser) == (30, True, 9876, False) and not home.exists()


def days(interval: Interval | None, zone: str) -> tuple[str | None, str | None]:
    """An interval in days of a zone; a time of day is its day."""
    assert interval is not None
    first, last = (_day(side, zone) for side in (interval.start, interval.end))
    length = interval.length
    if interval.start is not None and length is not None and length < timedelta(hours=23):
        last = str(interval.start.astimezone(ZoneInfo(zone)).date() + timedelta(days=1))
    return first, last


def _day(side: datetime | None, zone: str) -> str | None:
    return str(side.astimezone(ZoneInfo(zone)).date()) if side is not None else None
