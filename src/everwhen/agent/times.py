"""Dates in the arguments of tools: ISO 8601, or an expression as people say it."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from everwhen.errors import UsageError
from everwhen.store.instants import aware
from everwhen.when import Interval


def spoken(text: str, at: datetime, zone: str) -> Interval:
    """What a text names, seen from `at`: a day is the whole day, "last March" the month; an instant has no length."""
    words = text.strip()
    try:
        parsed = datetime.fromisoformat(words)
    except ValueError:
        parsed = None
    if parsed is not None and len(words) > 10:
        instant = parsed if parsed.tzinfo else parsed.replace(tzinfo=ZoneInfo(zone))
        instant = aware(instant, "date") or instant
        return Interval(instant, instant, "second")
    from everwhen.when import resolve

    for found in resolve(words, at, zone):
        if found.interval is not None:
            return found.interval
    raise UsageError(f"'{words[:100]}' is no date; write it as 2025-03-14, 2025-03 or 'last Friday'")


def spoken_window(since: str, until: str, at: datetime, zone: str) -> Interval | None:
    """From the beginning of what `since` names to the end of what `until` names; None without both."""
    first = spoken(since, at, zone) if since.strip() else None
    last = spoken(until, at, zone) if until.strip() else None
    start = first.start if first else None
    end = last.end if last else None
    if start is None and end is None:
        return None
    if start is not None and end is not None and end < start:
        raise UsageError(f"until '{until}' lies before since '{since}'; give the earlier one as since")
    return Interval(start, end, "second")
