"""The speaker's zone: yesterday is theirs, and clocks that change keep their days."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen_time import Interval, resolve


def one(text: str, at: datetime, zone: str | None = None, **options: object) -> Interval:
    (found,) = resolve(text, at, zone, **options)  # type: ignore[arg-type]
    assert found.interval is not None
    return found.interval


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


def test_yesterday_just_after_midnight_is_the_speakers_yesterday() -> None:
    at = utc(2023, 5, 9, 22, 30)  # 00:30 on the 10th in Rome
    assert one("yesterday", at, "Europe/Rome") == Interval(utc(2023, 5, 8, 22), utc(2023, 5, 9, 22))
    assert one("yesterday", at) == Interval(utc(2023, 5, 8), utc(2023, 5, 9))


def test_a_zone_behind_utc_is_still_on_the_day_before() -> None:
    at = utc(2023, 5, 10, 3)  # the evening of the 9th in Los Angeles
    assert one("today", at, "America/Los_Angeles") == Interval(utc(2023, 5, 9, 7), utc(2023, 5, 10, 7))


def test_a_day_on_which_clocks_change_has_23_or_25_hours() -> None:
    spring = one("on 26 March 2023", utc(2023, 5, 1), "Europe/Rome")
    autumn = one("on 29 October 2023", utc(2023, 11, 1), "Europe/Rome")
    assert spring.length is not None and spring.length.total_seconds() == 23 * 3600
    assert autumn.length is not None and autumn.length.total_seconds() == 25 * 3600


def test_hours_are_counted_in_real_time_across_a_change_of_clocks() -> None:
    at = utc(2023, 3, 26, 4)  # 06:00 in Rome; at 02:00 the clocks went to 03:00
    found = one("8 hours ago", at, "Europe/Rome")
    assert found.middle == utc(2023, 3, 25, 20)


def test_days_are_counted_on_the_wall_clock_across_a_change_of_clocks() -> None:
    found = one("two days ago", utc(2023, 3, 27, 10), "Europe/Rome")
    assert found == Interval(utc(2023, 3, 24, 23), utc(2023, 3, 25, 23))


def test_a_time_of_day_is_read_in_the_speakers_zone_or_in_the_one_written() -> None:
    at = utc(2023, 5, 10, 12)
    assert one("tomorrow at 5pm", at, "Asia/Tokyo").start == utc(2023, 5, 11, 8)
    assert one("tomorrow at 5pm UTC", at, "Asia/Tokyo").start == utc(2023, 5, 11, 17)
    assert one("tomorrow at 5pm EST", at, "Europe/Rome").start == utc(2023, 5, 11, 22)


def test_a_naive_moment_is_local_time_when_a_zone_is_given() -> None:
    assert one("today", datetime(2023, 5, 10, 0, 30), "Europe/Rome").start == utc(2023, 5, 9, 22)


def test_a_naive_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone="):
        resolve("today", datetime(2023, 5, 10))


def test_an_unknown_zone_is_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match="Europe/Rome"):
        resolve("today", utc(2023, 5, 10), "Mars/Olympus")


def test_conventions_can_be_set() -> None:
    at = utc(2023, 5, 10, 12)
    assert one("on 3/4/2023", at).start == utc(2023, 3, 4)
    assert one("on 3/4/2023", at, day_first=True).start == utc(2023, 4, 3)
    assert one("on 22/4/2023", at).start == utc(2023, 4, 22)
    assert one("last week", at, week_start=6).start == utc(2023, 4, 30)
    assert one("last summer", at, hemisphere="south").start == utc(2022, 12, 1)
    assert one("last Thanksgiving", at, country="CA").start == utc(2022, 10, 10)


def test_the_tense_can_be_given() -> None:
    at = utc(2023, 5, 10, 12)
    assert one("on Friday", at, tense="past").start == utc(2023, 5, 5)
    assert one("on Friday", at, tense="future").start == utc(2023, 5, 12)
    assert one("in March", at, tense="future").start == utc(2024, 3, 1)
