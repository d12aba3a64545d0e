"""Times as callers give them: whose day "today" is, and which end of a day or an expression each argument takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dateutil import tz as dateutil_tz
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everwhen import Interval, Memory, UsageError
from everwhen.types.times import TimeReader, known_zone
from everwhen_time import resolve
from everwhen_time.zones import zone_name, zone_of

pytz = pytest.importorskip("pytz")

ANGELES = ZoneInfo("America/Los_Angeles")
LATE = datetime(2025, 1, 5, 23, 30, tzinfo=ANGELES)
"""The 6th already, by UTC."""
EIGHT_BACK = timezone(timedelta(hours=-8))
KOLKATA = timezone(timedelta(hours=5, minutes=30))
WEDNESDAY = datetime(2025, 1, 8, 12, 0, tzinfo=UTC)


_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A bank whose own zone is in the far east, so that it is not mistaken for UTC."""
    with Memory.open(
        tmp_path_factory.mktemp("home"), embedder="fake", extract="none", zone="Asia/Tokyo", cache_entries=0
    ) as memory:
        yield memory


def zone_of_turn(memory: Memory, message: Any, **options: Any) -> str:
    return memory.turn(memory.add(message, **options).turns[0]).zone


# Whose zone counts


def test_an_event_of_today_is_on_the_speakers_day(home: Path) -> None:
    with Memory.open(home, embedder="fake", reader="none") as memory:
        memory.add("I quit today", at=LATE, session="named")
        memory.add("I quit today", at=LATE.astimezone(EIGHT_BACK), session="offset")
        memory.add({"content": "I quit today", "timestamp": "2025-01-05T23:30:00-08:00"}, session="text")
        memory.add("I quit today", at="2025-01-06T13:00:00+05:30", session="half an hour")
        days = {event.turns: event.occurred for event in memory.events(verb="quit")}
        assert len(days) == 4
        for turn in memory.turns():
            local = turn.said_at.astimezone(zone_of(turn.zone))
            assert local.day == (6 if turn.session == "half an hour" else 5)
            start = local.replace(hour=0, minute=0)
            assert days[(turn.id,)] == Interval(start, start + timedelta(days=1), "day"), turn.session
        assert memory.doctor() == []


@pytest.mark.parametrize(
    ("at", "zone"),
    [
        (LATE, "America/Los_Angeles"),
        (pytz.timezone("America/Los_Angeles").localize(LATE.replace(tzinfo=None)), "America/Los_Angeles"),
        (LATE.replace(tzinfo=dateutil_tz.gettz("America/Los_Angeles")), "America/Los_Angeles"),
        (LATE.astimezone(EIGHT_BACK), "Etc/GMT+8"),
        (LATE.astimezone(KOLKATA), "+05:30"),
        (LATE.astimezone(dateutil_tz.tzoffset(None, -12600)), "-03:30"),
        (LATE.astimezone(UTC), None),
        (LATE.astimezone(ZoneInfo("Etc/UTC")), None),
        (LATE.astimezone(pytz.utc), None),
        (LATE.astimezone(dateutil_tz.UTC), None),
        ("2025-01-05T23:30:00-08:00", "Etc/GMT+8"),
        ("2025-01-06T13:00:00+05:30", "+05:30"),
        ("2025-01-06T07:30:00Z", None),
        ("2025-01-06T16:30:00", None),
        ("2025-01-06", None),
        ("last Friday", None),
        (None, None),
    ],
)
def test_a_turn_has_the_zone_of_its_time_else_the_banks(shared: Memory, at: Any, zone: str | None) -> None:
    assert zone_of_turn(shared, "hello", at=at) == (zone or "Asia/Tokyo")
    if at not in ("2025-01-06T16:30:00", "2025-01-06", "last Friday"):  # a timestamp is an instant
        assert zone_of_turn(shared, {"content": "hello", "timestamp": at}) == (zone or "Asia/Tokyo")


def test_a_zone_that_is_said_wins_over_the_zone_of_a_time(shared: Memory) -> None:
    stamped = {"content": "hello", "timestamp": LATE}
    assert zone_of_turn(shared, "hello", at=LATE, zone="Europe/Lisbon") == "Europe/Lisbon"
    assert zone_of_turn(shared, stamped, zone="Europe/Lisbon") == "Europe/Lisbon"
    assert zone_of_turn(shared, {**stamped, "zone": "Europe/Rome"}, zone="Europe/Lisbon") == "Europe/Rome"
    # Its own time has nothing to say of a place, and another message's time has not either.
    assert zone_of_turn(shared, {"content": "hello", "timestamp": WEDNESDAY}, at=LATE) == "Asia/Tokyo"


def test_an_offset_that_the_banks_zone_has_then_is_said_in_the_banks_zone(home: Path) -> None:
    with Memory.open(home, embedder="fake", reader="none", zone="Europe/Berlin") as memory:
        winter = datetime(2025, 3, 6, 12, 0, tzinfo=timezone(timedelta(hours=1)))
        memory.add("The release is on 16 May.", at=winter)
        memory.add({"content": "The audit is on 20 May.", "timestamp": "2025-03-06T12:00:00+01:00"})
        assert {turn.zone for turn in memory.turns()} == {"Europe/Berlin"}
        midnight = timezone(timedelta(hours=2))
        assert {event.occurred.start for event in memory.events() if event.occurred} == {
            datetime(2025, 5, 16, tzinfo=midnight),
            datetime(2025, 5, 20, tzinfo=midnight),
        }
        # In July it is another place's: the clocks of Berlin are two hours ahead then.
        assert zone_of_turn(memory, "hello", at="2025-07-06T12:00:00+01:00") == "Etc/GMT-1"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-08:00", "Etc/GMT+8"),
        ("+05:30", "+05:30"),
        ("+0530", "+05:30"),
        ("+00:00", "UTC"),
        ("+23:00", "+23:00"),
    ],
)
def test_an_offset_is_a_zone_too(shared: Memory, given: str, kept: str) -> None:
    turn = shared.turn(shared.add("hello", at="2025-01-05T23:30", zone=given).turns[0])
    assert turn.zone == kept == known_zone(given)
    assert turn.said_at.astimezone(zone_of(kept)).isoformat()[:16] == "2025-01-05T23:30"


@pytest.mark.parametrize("name", ["+24:00", "+05:60", "5:30", "Mars/Base", "../../etc/passwd", "", "+05:30x"])
def test_what_is_no_zone_is_told(shared: Memory, name: str) -> None:
    with pytest.raises(UsageError, match=r"unknown zone.*Europe/Lisbon.*\+05:30"):
        shared.add("hello", zone=name)


names = st.sampled_from(
    sorted(["America/Los_Angeles", "Asia/Kathmandu", "Pacific/Apia", "Europe/Lisbon", "Asia/Tokyo"])
)
offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).filter(bool).map(lambda m: timezone(timedelta(minutes=m)))


@given(
    wall=st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)),
    place=names.map(ZoneInfo) | offsets,
    written=st.booleans(),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_today_is_the_local_day_of_the_time_that_was_given(
    shared: Memory, wall: datetime, place: tzinfo, written: bool
) -> None:
    at = wall.replace(tzinfo=place).astimezone(UTC).astimezone(place)  # a time that the clocks there do show
    # Text has an offset alone, which is that of the day.
    # The same words at the same instant are one turn, in whatever zone: each example says it in words of its own.
    added = shared.add("I quit today" + "!" * next(_NUMBERS), at=at.isoformat() if written else at)
    turn = shared.turn(added.turns[0])
    assert turn.said_at == at and added.session == at.date().isoformat()
    (found,) = resolve(turn.text, turn.said_at, turn.zone)
    assert found.interval is not None and found.interval.start is not None and found.interval.end is not None
    here = zone_of(turn.zone)
    assert found.interval.start.astimezone(here).date() == at.date()
    assert (found.interval.end - timedelta(microseconds=1)).astimezone(here).date() == at.date()
    assert found.interval.contains(at)


@given(minutes=st.integers(-23 * 60 - 59, 23 * 60 + 59))
def test_every_offset_has_a_name_that_leads_back_to_it(minutes: int) -> None:
    at = WEDNESDAY.astimezone(timezone(timedelta(minutes=minutes)))
    name = zone_name(at)
    assert (name is None) == (minutes == 0)
    assert at.astimezone(zone_of(name or "UTC")).utcoffset() == at.utcoffset()


# Which end of it


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


CLOCK = TimeReader("UTC", WEDNESDAY)
ALMOST = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2025-01-03", utc(2025, 1, 3), utc(2025, 1, 4) - ALMOST),
        ("last Friday", utc(2025, 1, 3), utc(2025, 1, 4) - ALMOST),
        ("on last Friday", utc(2025, 1, 3), utc(2025, 1, 4) - ALMOST),
        ("in May 2024", utc(2024, 5, 1), utc(2024, 6, 1) - ALMOST),
        ("2025-01-03T09:30:00Z", utc(2025, 1, 3, 9, 30), utc(2025, 1, 3, 9, 30)),
        ("2025-01-03t09:30:00z", utc(2025, 1, 3, 9, 30), utc(2025, 1, 3, 9, 30)),
        ("2025-01-03 09:30", utc(2025, 1, 3, 9, 30), utc(2025, 1, 3, 9, 30)),
        (
            "2025-01-03T09:30:00.123456789Z",
            utc(2025, 1, 3, 9, 30, 0, 123456),
            utc(2025, 1, 3, 9, 30, 0, 123456),
        ),
        ("20250103T093000+0100", utc(2025, 1, 3, 8, 30), utc(2025, 1, 3, 8, 30)),
        ("now", WEDNESDAY, WEDNESDAY),
    ],
)
def test_a_time_has_a_beginning_and_a_last_instant(text: str, first: datetime, last: datetime) -> None:
    assert (CLOCK.first(text, "before"), CLOCK.last(text, "as_of")) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "", "gibberish", "2025-02-30", "2025-02-31T00:00:00Z", "2025-01-03T09:30:00 01:00", "2025-01-03+01:00",
        "2025-01-03T23:59:60Z", "last Friday or next Monday", "2025-01-03 (perhaps)", "every Friday", "for three weeks",
        "x" * 500,
    ],
)  # fmt: skip
def test_what_is_no_time_is_told_with_the_argument_and_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"^before: ") as told:
        CLOCK.first(text, "before")
    assert "last Friday" in str(told.value) or "at most 200" in str(told.value)


def test_a_time_that_is_open_on_the_side_asked_for_is_told() -> None:
    with pytest.raises(UsageError, match="at: 'until Friday' has no beginning"):
        TimeReader("UTC", "until Friday").now  # noqa: B018
    with pytest.raises(UsageError, match="as_of: 'since last Friday' has no end"):
        CLOCK.last("since last Friday", "as_of")
    assert CLOCK.window("since last Friday") == Interval(utc(2025, 1, 3), None, "second")


@pytest.mark.parametrize(
    ("between", "start", "end"),
    [
        ("last week", utc(2024, 12, 30), utc(2025, 1, 6)),
        (["last week"], utc(2024, 12, 30), utc(2025, 1, 6)),
        (("2025-01-01", "2025-01-03"), utc(2025, 1, 1), utc(2025, 1, 4)),
        (("last Friday", None), utc(2025, 1, 3), None),
        ((None, "2025-01-03"), None, utc(2025, 1, 4)),
        ((utc(2025, 1, 1), utc(2025, 1, 3)), utc(2025, 1, 1), utc(2025, 1, 3)),
        ((utc(2025, 1, 1), "2025-01-03T00:00Z"), utc(2025, 1, 1), utc(2025, 1, 3)),
        (Interval(utc(2025, 1, 1), utc(2025, 1, 3)), utc(2025, 1, 1), utc(2025, 1, 3)),
    ],
)
def test_between_includes_both_ends(between: Any, start: datetime | None, end: datetime | None) -> None:
    assert CLOCK.window(between) == Interval(start, end, "second")


def test_before_excludes_what_it_names_and_after_includes_it() -> None:
    assert CLOCK.window(None, before="last Friday") == Interval(None, utc(2025, 1, 3), "second")
    assert CLOCK.window(None, after="last Friday") == Interval(utc(2025, 1, 3), None, "second")


@pytest.mark.parametrize(
    ("between", "sentence"),
    [
        (
            ("2025-01-03", "2025-01-01"),
            "between ends before it starts: '2025-01-01' lies before '2025-01-03'",
        ),
        (("2025", "2026", "2027"), "between takes one stretch of time"),
        (5, "between takes one stretch of time"),
        (WEDNESDAY, "between takes one stretch of time"),
        ("2025-01-03T00:00Z", "is one instant"),
        ((5, 6), "between must be a datetime or text, not int"),
        ((datetime(2025, 1, 1), None), "between=2025-01-01T00:00:00 has no time zone"),
    ],
)
def test_a_stretch_of_time_that_is_none_is_told(shared: Memory, between: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        shared.turns(between=between)


def test_expressions_count_from_at_in_the_banks_zone(shared: Memory) -> None:
    """Friday 3 January in Tokyo, seen from Wednesday."""
    friday = datetime(2025, 1, 3, tzinfo=ZoneInfo("Asia/Tokyo"))
    inside = shared.add("zither", at=friday).turns[0]
    shared.add("zither", at=friday - ALMOST)
    shared.add("zither", at=friday + timedelta(days=1))
    seen = {"at": WEDNESDAY, "kinds": ["turn"]}
    assert [one.id for one in shared.recall("zither", between="last Friday", **seen)] == [inside]
    assert len(shared.recall("zither", before="last Friday", **seen)) == 1
    assert len(shared.recall("zither", after="last Friday", **seen)) == 2
    assert len(shared.recall("zither", as_of="last Friday", **seen)) == 2
    assert [turn.id for turn in shared.turns(between="2025-01-03")] == [inside]
    assert shared.forget(between=("2025-01-03", "2025-01-03"), dry_run=True).turns == (inside,)


def test_facts_take_times_as_people_write_them(shared: Memory) -> None:
    facts, tokyo = shared.facts, ZoneInfo("Asia/Tokyo")
    made = facts.assert_("Ana", "lives in", "Porto", valid_from="last Friday", at="2025-01-08")
    assert made.valid_from == datetime(2025, 1, 3, tzinfo=tokyo)
    assert made.recorded_at == datetime(2025, 1, 8, tzinfo=tokyo)
    (ended,) = facts.end("Ana", "lives in", on="2025-02-01", at="2025-02-02")
    assert ended.valid_to == datetime(2025, 2, 1, tzinfo=tokyo)
    assert facts.current("Ana", now="2025-01-02") == [] and len(facts.current("Ana", now="2025-01-03")) == 1
    assert facts.as_of("January 2025", "Ana") == facts.current("Ana", now="2025-01-31")
    assert facts.as_of("2025-01-31", "Ana", known_at="2025-01-07") == []
    assert len(facts.diff("2025-01-02", "2025-01-04", "Ana").began) == 1
    assert facts.confidence_at(made, "2025-01-08") < 1
    with pytest.raises(UsageError, match=r"valid_from: 'someday' is no time.*last Friday"):
        facts.assert_("Ana", "lives in", "Lisbon", valid_from="someday")


def test_a_naive_datetime_stays_an_error(shared: Memory) -> None:
    for call in (
        lambda at: shared.add("x", at=at),
        lambda at: shared.recall("x", at=at),
        lambda at: shared.facts.current(now=at),
        lambda at: shared.retain(now=at, dry_run=True),
        lambda at: shared.consolidate(now=at),
        lambda at: shared.tree(at=at),
    ):
        with pytest.raises(UsageError, match="has no time zone"):
            call(datetime(2025, 1, 1))


def test_a_client_passes_text_on() -> None:
    from everwhen.api.operations.conversation import Turns
    from everwhen.api.operations.questions import RecallMemories
    from everwhen.api.requests import request

    call = request(RecallMemories("x", at="last Friday", between=("2025-01-01", None), before=WEDNESDAY))
    assert call.body["at"] == "last Friday" and call.body["between"] == ("2025-01-01", None)
    assert call.body["before"] == WEDNESDAY
    assert request(Turns(between="last week")).params["from"] == "last week"
