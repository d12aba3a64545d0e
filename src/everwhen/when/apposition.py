"""One day, named twice: "it was the Friday, so 7 March" is no Friday of this week."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from everwhen.when.interval import Interval
from everwhen.when.meaning import Context
from everwhen.when.reference import TimeRef
from everwhen.when.tokens import Token, word_set

_REACH = 12
"""Tokens between the two names of a day at the most."""
_NAMES = 3
"""Other times that may stand between them."""
_EXPLAINS = word_set("so ( i.e ie namely meaning =")
"""What stands before a date that says which day was meant."""
_WEEKDAY = re.compile(r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.I)
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


def _moved(ref: TimeRef, date: TimeRef, before: str, ctx: Context) -> TimeRef | None:
    if before not in _EXPLAINS or date.grain != "day" or _WEEKDAY.search(date.text):
        return None
    if (
        ref.interval is None
        or ref.interval.start is None
        or ref.interval.end is None
        or date.interval is None
    ):
        return None
    start, day = _local(ref.interval.start, ctx), _local(date.interval.start, ctx)
    if start is None or day is None or not any(map(str.isdigit, date.text)):
        return None
    days = (day.date() - start.date()).days
    if days % 7:
        return None
    moved = [_utc(side, ctx, days) for side in (ref.interval.start, ref.interval.end)]
    return replace(ref, interval=Interval(moved[0], moved[1], ref.interval.grain))


def _local(instant: datetime | None, ctx: Context) -> datetime | None:
    return instant.astimezone(ctx.zone) if instant is not None else None


def _utc(instant: datetime, ctx: Context, days: int) -> datetime:
    wall = instant.astimezone(ctx.zone).replace(tzinfo=None) + timedelta(days=days)
    return wall.replace(tzinfo=ctx.zone).astimezone(UTC)
