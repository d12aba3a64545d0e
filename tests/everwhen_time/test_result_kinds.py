"""What is no plain interval: durations, recurrences, ages; and what every result carries."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen_time import TimeRef, resolve

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


def one(text: str) -> TimeRef:
    (found,) = resolve(text, NOW)
    return found


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("I stayed for six months.", "P6M"),
        ("It was a three-hour talk.", "PT3H"),
        ("We waited two and a half hours.", "PT2H30M"),
        ("It took a year and three months.", "P1Y3M"),
        ("A fortnight is enough.", "P2W"),
        ("It lasted about 90 minutes.", "PT90M"),
    ],
)
def test_a_duration_has_a_length_and_no_interval(text: str, iso: str) -> None:
    found = one(text)
    assert (found.kind, found.interval, str(found.duration)) == ("duration", None, iso)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("I swim every Monday.", "FREQ=WEEKLY;BYDAY=MO"),
        ("We meet every second Friday.", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("I water it twice a week.", "FREQ=WEEKLY;X-TIMES=2"),
        ("On weekends we hike.", "FREQ=WEEKLY;BYDAY=SA,SU"),
        ("Rent is due on the 1st of every month.", "FREQ=MONTHLY;BYMONTHDAY=1"),
        ("Every six weeks I get a haircut.", "FREQ=WEEKLY;INTERVAL=6"),
        ("Drinks are on the last Friday of every month.", "FREQ=MONTHLY;BYDAY=-1FR"),
        ("She runs every morning.", "FREQ=DAILY;X-PART=morning"),
        ("Taxes are paid quarterly.", "FREQ=MONTHLY;INTERVAL=3"),
        ("Every Christmas we fight.", "FREQ=YEARLY;X-ON=christmas day"),
        ("I work on weekdays.", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("We go every summer.", "FREQ=YEARLY;X-ON=summer"),
        ("It is backed up every 3 hours.", "FREQ=HOURLY;INTERVAL=3"),
    ],
)
def test_a_recurrence_has_a_rule_and_no_interval(text: str, rule: str) -> None:
    found = one(text)
    assert found.recurrence is not None
    assert (found.kind, found.interval, str(found.recurrence)) == ("recurrence", None, rule)


def test_an_age_is_an_anchor_that_only_the_memory_can_date() -> None:
    found = one("When I was ten we got a dog.")
    assert (found.interval, found.anchor) == (None, "When I was ten")


def test_the_span_is_the_words_without_the_preposition() -> None:
    text = "We met in May 2021, I think."
    found = one(text)
    assert text[slice(*found.span)] == found.text == "May 2021"


def test_the_trace_names_the_rules_from_the_inside_out() -> None:
    found = one("the Sunday before 25 May 2023")
    assert found.rule[-1] == "cycle before"
    assert "day then month" in found.rule


def test_explicit_dates_are_surer_than_bare_months_and_vague_words() -> None:
    explicit, bare, vague = one("on 3 July 2022"), one("July"), one("recently")
    assert 1 >= explicit.confidence > bare.confidence > vague.confidence > 0


def test_grain_and_kind_tell_what_was_said() -> None:
    assert (one("in May 2021").grain, one("in May 2021").kind) == ("month", "point")
    assert (one("last night").grain, one("last night").kind) == ("hour", "point")
    assert (one("since 2016").grain, one("since 2016").kind) == ("year", "range")
    assert one("the 1990s").grain == "decade"
    assert one("last week").grain == "week"
    assert one("at 14:05 today").grain == "minute"


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Diwali 2023", "2023-11-12"),
        ("Eid al-Fitr 2023", "2023-04-22"),
        ("Hanukkah 2023", "2023-12-08"),
        ("Passover 2023", "2023-04-06"),
        ("Chinese New Year 2023", "2023-01-22"),
        ("Orthodox Easter 2023", "2023-04-16"),
        ("Holi 2023", "2023-03-08"),
        ("Mother's Day 2023", "2023-05-14"),
        ("St. Patrick's Day 2023", "2023-03-17"),
        ("Black Friday 2023", "2023-11-24"),
    ],
)
def test_holidays_fall_on_their_day(name: str, day: str) -> None:
    found = one(f"The feast of {name} was loud.")
    assert found.interval is not None and found.interval.start is not None
    assert found.interval.start.date().isoformat() == day


def test_every_holiday_has_words_and_a_date() -> None:
    from everwhen_time.holidays import holiday_date
    from everwhen_time.language import language

    words = language("en").holidays
    assert words and all(holiday_date(name, 2023, "US") for name in words)
