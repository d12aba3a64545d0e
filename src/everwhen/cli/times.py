"""Times on the command line: ISO 8601, or an expression such as "last Friday"."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from everwhen.errors import UsageError
from everwhen.when import Interval


def interval(text: str, zone: str) -> Interval:
    """What a text names: a day is the whole day, "last week" the whole week; an instant has no length."""
    try:
        parsed = datetime.fromisoformat(text.strip())
    except ValueError:
        return _expression(text, zone)
    if len(text.strip()) <= 10:  # a date: the day, as the zone counts days
        return _expression(text, zone)
    instant = parsed if parsed.tzinfo else parsed.replace(tzinfo=ZoneInfo(zone))
    return Interval(instant, instant, "second")


def instant(text: str | None, zone: str) -> datetime | None:
    """The beginning of what a text names."""
    return interval(text, zone).start if text is not None else None


def last_instant(text: str | None, zone: str) -> datetime | None:
    """The last instant of what a text names: "as of today" includes today."""
    if text is None:
        return None
    named = interval(text, zone)
    if named.end is None or named.end == named.start:
        return named.start
    return named.end - timedelta(microseconds=1)


def window(between: tuple[str, str] | None, zone: str) -> Interval | None:
    """From the beginning of the first text's interval to the end of the second's."""
    if between is None:
        return None
    first, last = interval(between[0], zone), interval(between[1], zone)
    if first.start is not None and last.end is not None and last.end < first.start:
        raise UsageError(f"--between: '{between[1]}' lies before '{between[0]}'; give the earlier one first")
    return Interval(first.start, last.end, "second")


def _expression(text: str, zone: str) -> Interval:
    from everwhen.when import resolve

    for found in resolve(text, datetime.now(UTC), zone):
        if found.interval is not None:
            return found.interval
    raise UsageError(f"'{text}' is no time that everwhen knows; write it as 2025-03-14 or 'last Friday'")
