"""Which of two times is meant where no year and no sure verb tells: the one before or the one to come."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen_time import constraint, resolve
from everwhen_time.interval import Interval
from everwhen_time.tense import VerbDirection, chance_ahead, direction_features

WEDNESDAY = datetime(2025, 3, 12, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Dentist Thursday, then the bank.", "2025-03-13"),
        ("Piano recital 6 April, please all come.", "2025-04-06"),
        ("New job from May, can you believe it?", "2025-05-01"),
        ("The landlord moved the viewing to Saturday.", "2025-03-15"),
        ("Deadline for the tax thing: 31 May", "2025-05-31"),
        ("Half marathon in September, training starts now", "2025-09-01"),
        ("Flight Friday 7am, back Sunday", "2025-03-14"),
        ("my cousin's wedding in April, need a suit", "2025-04-01"),
        ("Interview at ten on Tuesday!!", "2025-03-18"),
        ("I've got a week off in May", "2025-05-01"),
        ("I've a concert on Friday", "2025-03-14"),
        ("We've two weddings in June", "2025-06-01"),
        ("I applied for the September intake", "2025-09-01"),
        ("See you Sunday", "2025-03-16"),
        ("I have an exam in December.", "2025-12-01"),
        ("between the 5th and the 12th of August we have guests", "2025-08-05"),
    ],
)
def test_a_plan_lies_ahead_with_a_verb_or_without_one(text: str, day: str) -> None:
    assert _first(text) == day


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("He passed away in November.", "2024-11-01"),
        ("I broke my wrist on Sunday.", "2025-03-09"),
        ("We met on 3 May at a wedding.", "2024-05-03"),
        ("The heating failed on Friday night and nobody came.", "2025-03-07"),
        ("I quit smoking in June and never looked back.", "2024-06-01"),
        ("Got the results on the 5th, all clear.", "2025-03-05"),
        ("He sold the boat in July.", "2024-07-01"),
        ("Book club on Tuesday was a disaster", "2025-03-11"),
        ("My wedding in May was tiny.", "2024-05-01"),
        ("Last seen in October", "2024-10-01"),
        ("Sunday was lovely, we sat outside", "2025-03-09"),
        ("I stayed in Rome till March.", "2025-03-01"),
        ("I did an internship from September to December.", "2024-09-01"),
        ("She gave me a scarf for Christmas.", "2024-12-25"),
    ],
)
def test_what_has_happened_lies_before_however_near_the_next_one_is(text: str, day: str) -> None:
    assert _first(text) == day


def test_alone_and_in_a_question_it_looks_back() -> None:
    assert _first("on Friday") == "2025-03-07"
    asked = constraint("the party in June", WEDNESDAY, "UTC")
    assert asked is not None and asked.interval is not None and asked.interval.start is not None
    assert asked.interval.start.year == 2024
    assert _first("the party in June") == "2025-06-01"


def test_the_callers_tense_overrules_all_else() -> None:
    assert _first("Dentist Thursday, then the bank.", tense="past") == "2025-03-06"


def test_an_interval_that_could_be_either_is_less_certain() -> None:
    either, surely = (
        next(iter(resolve(text, WEDNESDAY, "UTC"))).confidence
        for text in ("dentist on Friday", "I will see the dentist on Friday")
    )
    assert either < surely


def test_the_nearer_one_is_likelier() -> None:
    def chance(days: int) -> float:
        now = datetime(2025, 1, 1, tzinfo=UTC)
        before, ahead = (
            Interval(datetime(year, 1, days, tzinfo=UTC), datetime(year, 1, days + 1, tzinfo=UTC), "day")
            for year in (2024, 2025)
        )
        return chance_ahead(direction_features(VerbDirection(None), (before, ahead), now, {}))

    assert chance(3) > chance(20) > 0.5


def test_a_day_lies_in_the_month_that_was_named_before_it() -> None:
    stay = resolve("I land on 9 July, I'll stay till the 30th.", WEDNESDAY, "UTC")
    assert [_day(one.interval) for one in stay] == ["2025-07-09", "2025-07-30"]
    over = resolve("We land on 28 July and fly back on the 9th.", WEDNESDAY, "UTC")
    assert [_day(one.interval) for one in over] == ["2025-07-28", "2025-08-09"]
    past = resolve("We came on 9 January and left on the 21st.", WEDNESDAY, "UTC")
    assert [_day(one.interval) for one in past] == ["2025-01-09", "2025-01-21"]
    due = resolve("I land on 9 July and need the visa by the 31st.", WEDNESDAY, "UTC")
    assert due[1].interval is not None and due[1].interval.end == datetime(2025, 8, 1, tzinfo=UTC)
    apart = resolve("I was there in January. The exam is on the 21st.", WEDNESDAY, "UTC")
    assert [_day(one.interval) for one in apart] == ["2025-01-01", "2025-03-21"]


@pytest.mark.parametrize(
    "text",
    [
        "My daughter was born on 3 March and her party is on the 17th.",
        "We have lived here since 4 October and the landlord wants us out by the 31st.",
        "The rent was raised on 2 January and is due on the 1st.",
        "We sold it on 9 March 2019, and the papers came on the 1st.",
    ],
)
def test_a_day_that_lies_on_the_other_side_of_now_is_of_no_other_month(text: str) -> None:
    found = resolve(text, WEDNESDAY, "UTC")[-1].interval
    assert found is not None and found.end is not None
    assert abs((found.end - WEDNESDAY).days) <= 31


@pytest.mark.parametrize("at", [datetime(1, 1, 1), datetime(9999, 12, 31, 23)])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
def test_the_first_and_the_last_day_there_is_are_no_error(at: datetime, zone: str) -> None:
    for text in ("dentist on Friday", "back on 28 December, then on the 9th", "moved to the 31st of May"):
        assert isinstance(resolve(text, at, zone), list)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("italian deck oven, three decks, 2013. bottom deck cold", "2013"),
        ("A present from her sister, 1994. Used twice.", "1994"),
        ("I said 1997, but it was 1996, in Dubai.", "1996"),
        ("We have had that room since 1983, I met my husband in it.", "since 1983"),
    ],
)
def test_a_year_between_signs_is_a_year(text: str, found: str) -> None:
    assert found in [one.text for one in resolve(text, WEDNESDAY, "UTC")]


@pytest.mark.parametrize(
    "text",
    [
        "the rent, 2000, is due",
        "room 1983, please",
        "They scored 1994, 1995 and 2011 points",
        "PIN: 1987.",
        "My pin is easy, 1987.",
        "How many steps? 1950!",
    ],
)
def test_a_number_that_is_a_price_a_label_or_a_count_is_no_year(text: str) -> None:
    assert not resolve(text, WEDNESDAY, "UTC")


def _first(text: str, **given: str) -> str | None:
    found = resolve(text, WEDNESDAY, "UTC", **given)  # type: ignore[arg-type]
    return next((_day(one.interval) for one in found if one.interval is not None), None)


def _day(interval: Interval | None) -> str | None:
    side = interval and (interval.start or interval.end)
    return side.date().isoformat() if side else None
