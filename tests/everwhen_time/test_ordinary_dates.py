"""Dates that tense, context or quotation marks decide: every class of mistake, and what must stay as it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen_bench.timex import days
from everwhen_time import Interval, resolve
from tests.everwhen_time.ordinary_dates import Case, cases


@pytest.mark.parametrize("case", cases(), ids=[f"{case.kind}: {case.text}" for case in cases()])
def test_a_date_is_what_an_ordinary_person_means(case: Case) -> None:
    found = [ref.interval for ref in resolve(case.text, case.at) if ref.interval]
    forms = [*case.wanted, *[""] * len(found)]
    assert tuple(_written(one, "T" in form) for one, form in zip(found, forms, strict=False)) == case.wanted


def _written(interval: Interval, clock: bool) -> str:
    if clock and interval.start is not None:
        return interval.start.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    return "/".join(side or ".." for side in days(interval))


def test_a_later_time_counts_in_the_speakers_zone() -> None:
    said_at = datetime(2023, 5, 10, 12, tzinfo=UTC)
    text = "The audit was on 3 April. The next day we got the report."
    _, next_day = [ref.interval for ref in resolve(text, said_at, "Asia/Tokyo")]
    assert next_day is not None and next_day.start == datetime(2023, 4, 3, 15, tzinfo=UTC)


def test_a_chain_of_later_times_counts_on() -> None:
    said_at = datetime(2023, 5, 10, 12, tzinfo=UTC)
    text = "On 3 April we met. The next day he called, and two days later we signed."
    assert [days(ref.interval)[0] for ref in resolve(text, said_at) if ref.interval] == [
        "2023-04-03",
        "2023-04-04",
        "2023-04-06",
    ]


def test_a_name_alone_is_read_for_the_date_in_it() -> None:
    (found,) = resolve("report_2023-04-01.csv", datetime(2023, 5, 10, 12, tzinfo=UTC))
    assert found.interval is not None and days(found.interval)[0] == "2023-04-01"


def test_half_of_the_cases_are_mistakes_and_many_are_controls() -> None:
    mistakes = [case for case in cases() if case.mistake]
    assert len(mistakes) >= 60 and len(cases()) - len(mistakes) >= 60
