"""What two dates next to each other say about one another: "it was the Friday, so 7 March", "in March, May and July of
2021", "I land on 9 July and stay till the 30th"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from everwhen_time.calendar import Unit, shift
from everwhen_time.interval import Interval
from everwhen_time.meaning import Context
from everwhen_time.reference import TimeRef
from everwhen_time.tokenizer import Token, word_set

_REACH = 12
"""Tokens between the two names of a day at the most."""
_SENTENCE_REACH = 120
"""Characters between a month and a day of the next sentences at the most."""
_NAMES = 3
"""Other times that may stand between them."""
_EXPLAINS = word_set("so ( i.e ie namely meaning =")
"""What stands before a date that says which day was meant."""
_WEEKDAY = re.compile(r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.I)
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.I)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_LISTS = frozenset({",", "and", "or", "&", "in", "on", "the"})
_RELATIVE = re.compile(r"\b(?:last|next|this|past|coming|ago|after|before)\b", re.I)


def dated_beside(found: Sequence[TimeRef], tokens: Sequence[Token], ctx: Context) -> list[TimeRef]:
    """The same references, where a weekday that a date explains is the day of that date.

    It has to be that weekday: then the two say one thing, and the date says it exactly.
    """
    kept = list(found)
    starts = [token.start for token in tokens] if len(kept) > 1 else []
    for place, ref in enumerate(kept[:-1]):
        if not _WEEKDAY.search(ref.text) or _RELATIVE.search(ref.text) or any(map(str.isdigit, ref.text)):
            continue
        first = bisect_left(starts, ref.span[1])
        for date in kept[place + 1 : place + 1 + _NAMES]:
            last = bisect_left(starts, date.span[0], first)
            moved = _moved(ref, date, tokens[last - 1].lower, ctx) if 0 < last - first <= _REACH else None
            if moved is not None:
                kept[place] = moved
                break
    return kept


def with_shared_year(found: Sequence[TimeRef], tokens: Sequence[Token], ctx: Context) -> list[TimeRef]:
    """The same references, where the last of a list lends its year: "in March, May and July of 2021"."""
    kept = list(found)
    for place in range(len(kept) - 2, -1, -1):
        ref, following = kept[place], kept[place + 1]
        if not _without_a_year(ref) or not _YEAR.search(following.text) or ref.grain != following.grain:
            continue
        between = [one.lower for one in tokens if ref.span[1] <= one.start and one.end <= following.span[0]]
        if not between or not _LISTS.issuperset(between):
            continue
        day, last = _begins(ref, ctx), _begins(following, ctx)
        if day is None or last is None:
            continue
        unit: Unit = "month" if ref.grain == "month" else "day"
        try:
            start = day.replace(tzinfo=None, year=last.year)
        except ValueError:  # 29 February
            continue
        text = f"{ref.text} {last.year}"  # so that it lends the year on
        first, end = (side.replace(tzinfo=ctx.zone) for side in (start, shift(start, unit, 1)))
        kept[place] = replace(ref, interval=Interval(first, end, ref.grain), text=text, confidence=0.9)
    return [
        replace(one, text=before.text) if one.text != before.text else one
        for one, before in zip(kept, found, strict=True)
    ]


def in_the_month_named(
    found: Sequence[TimeRef], ctx: Context, earlier: Sequence[TimeRef] = ()
) -> list[TimeRef]:
    """The same references, where a day without a month follows a month or a date of the same text, both before or both
    after now: "I land on 9 July and stay till the 30th", "my exams are in June. The first is on the 9th"; "we land on
    28 July and stay till the 9th" is the month after. `earlier` are the references of the sentences before it."""
    kept = list(found)
    first = kept[0].span[0] if kept else 0
    named = next((ref for ref in reversed(earlier) if _MONTH.search(ref.text)), None)
    date = named if named and first - named.span[1] <= _SENTENCE_REACH and _is_date(named) else None
    for place, ref in enumerate(kept):
        if _MONTH.search(ref.text):
            date = ref if _is_date(ref) else None
        elif date is not None and _DAY_ALONE in ref.rule and not _WEEKDAY.search(ref.text):
            kept[place] = _in_month(ref, date, ctx) or ref
    return kept


_DAY_ALONE = "day of the month"
_ORDINAL = re.compile(r"\d+")


def _is_date(ref: TimeRef) -> bool:
    return (
        ref.grain in ("day", "month")
        and ref.kind == "point"
        and not _YEAR.search(ref.text)
        and not _RELATIVE.search(ref.text)
    )


def _in_month(ref: TimeRef, date: TimeRef, ctx: Context) -> TimeRef | None:
    named = _begins(date, ctx)
    days = [int(number) for number in _ORDINAL.findall(ref.text)]
    if named is None or not days or ref.interval is None:
        return None
    try:
        start, end = (
            None if one is None else _in_the_month_of(one, day, named, ctx)
            for one, day in ((ref.interval.start, days[0]), (ref.interval.end, days[-1]))
        )
        if start is not None and end is not None and end <= start:  # "in December, from the 20th to the 3rd"
            end = shift(end.astimezone(ctx.zone).replace(tzinfo=None), "month", 1).replace(tzinfo=ctx.zone)
    except (ValueError, OverflowError):  # there is no 31st in it, or no year after 9999
        return None
    now = ctx.now.replace(tzinfo=ctx.zone)
    said, moved = ref.interval.start or ref.interval.end, start or end
    if said is None or moved is None or (moved > now) != (named > now):
        return None
    if (said > now) != (named > now) and not (ref.kind == "range" and ref.interval.contains(now)):
        return None
    return replace(ref, interval=Interval(start, end, ref.interval.grain), confidence=0.7)


def _in_the_month_of(side: datetime, day: int, named: datetime, ctx: Context) -> datetime:
    """One side of a day's interval, in the month of a date, or in the next where it would lie before that."""
    wall = side.astimezone(ctx.zone).replace(tzinfo=None)
    rest = (
        timedelta(0) if wall.day == day else timedelta(days=1)
    )  # the end of the day, which is the next one's start
    moved = (wall - rest).replace(year=named.year, month=named.month, day=day)
    if day < named.day:
        moved = shift(moved, "month", 1)
    return (moved + rest).replace(tzinfo=ctx.zone).astimezone(UTC)


def _without_a_year(ref: TimeRef) -> bool:
    """Whether it is a month or a day of a month that floats."""
    return (
        ref.grain in ("month", "day")
        and ref.interval is not None
        and not _YEAR.search(ref.text)
        and _MONTH.search(ref.text) is not None
        and not _RELATIVE.search(ref.text)
    )


def _moved(ref: TimeRef, date: TimeRef, before: str, ctx: Context) -> TimeRef | None:
    explains = before in _EXPLAINS and date.grain == "day" and not _WEEKDAY.search(date.text)
    start, day = _begins(ref, ctx), _begins(date, ctx)
    if not explains or start is None or day is None or not any(map(str.isdigit, date.text)):
        return None
    days = day.date() - start.date()
    if days.days % 7 or ref.interval is None or ref.interval.end is None:
        return None
    last = ref.interval.end.astimezone(ctx.zone)
    return replace(ref, interval=Interval(start + days, last + days, ref.interval.grain))


def _begins(ref: TimeRef, ctx: Context) -> datetime | None:
    """Where it begins, in the zone of the speaker."""
    start = ref.interval.start if ref.interval else None
    return None if start is None else start.astimezone(ctx.zone)
