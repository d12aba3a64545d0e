"""Instants as they are stored, and times as callers give them, read in one way everywhere: Python, HTTP, MCP, commands.

A time is an aware datetime, ISO 8601 text ("2025-03-14", "2025-03-14T09:26:00Z") or an expression ("last Friday").
Text without an offset is local time of the call's zone, else of the bank's. A day, or "last week", is a whole
interval: `TimeReader.first` takes its beginning and `TimeReader.last` its last instant. docs/time.md has the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TypeAlias, overload

from everwhen.errors import Damaged, UsageError
from everwhen_time import Interval
from everwhen_time.zones import stored_name, zone_of

Time: TypeAlias = datetime | str
"""A time as callers give it: an aware datetime, ISO 8601 text or an expression such as "last Friday"."""

Between: TypeAlias = Interval | str | Sequence[Time | None]
"""A stretch of time as callers give it: an interval, an expression ("last week"), or its two sides."""

FIRST_YEAR, LAST_YEAR = 2, 9998
"""A year of room on both sides, so that every instant has a date in every zone."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def aware(instant: datetime | None, name: str) -> datetime | None:
    """An instant in UTC. A naive one is refused: nobody can say when it was."""
    if instant is None:
        return None
    if not isinstance(instant, datetime):
        raise UsageError(f"{name} must be a datetime, not {type(instant).__name__}")
    if instant.tzinfo is None:
        raise UsageError(
            f"{name}={instant.isoformat()} has no time zone; write "
            f"datetime(…, tzinfo=ZoneInfo('Europe/Lisbon')) or tzinfo=UTC"
        )
    if not FIRST_YEAR <= instant.year <= LAST_YEAR:
        raise UsageError(f"{name}={instant.isoformat()} lies outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return instant.astimezone(UTC)


def to_text(instant: datetime) -> str:
    """`2023-05-08T13:56:00.000000Z`."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def from_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except (ValueError, TypeError):
        raise Damaged(
            f"a stored time cannot be read ({text!r:.40}); `everwhen bank doctor` says where"
        ) from None


def to_micros(instant: datetime) -> int:
    return (instant - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return EPOCH + micros * _MICROSECOND


LONGEST_TIME = 200
"""Characters of a time that is written as text."""
_HOW = "write 2025-03-14, 2025-03-14T09:26:00Z or an expression such as 'last Friday'"
_ISO = re.compile(r"\d{4}(-?)\d\d\1\d\d(?P<clock>[Tt ]\d.*)?", re.ASCII)
_LEAD = 2
"""Words that may stand before an expression: "in", "on the". Behind it nothing may stand."""


class TimeReader:
    """Reads the times of one call. Expressions count from `at`, or from now in a call without one.

    `zone` is that of times without one; as a function it is asked only when a time needs it.
    """

    def __init__(self, zone: str | Callable[[], str], at: Time | None = None) -> None:
        self._given_zone = zone
        self._given_at = at

    @cached_property
    def zone(self) -> str:
        return known_zone(self._given_zone if isinstance(self._given_zone, str) else self._given_zone())

    @cached_property
    def said_at(self) -> datetime | None:
        """`at` in the zone that it was given in: that of whoever speaks."""
        given = self._given_at
        if given is None:
            return None
        found = self._read(given, "at", datetime.now(UTC))
        return found if isinstance(found, datetime) else _beginning(found, given, "at")

    @cached_property
    def at(self) -> datetime | None:
        """`at` as an instant in UTC."""
        return None if self.said_at is None else self.said_at.astimezone(UTC)

    @cached_property
    def now(self) -> datetime:
        """What expressions count from."""
        return self.at or datetime.now(UTC)

    @overload
    def first(self, given: Time, name: str) -> datetime: ...
    @overload
    def first(self, given: Time | None, name: str) -> datetime | None: ...
    def first(self, given: Time | None, name: str) -> datetime | None:
        """The beginning of what a time names."""
        return None if given is None else _beginning(self.interval(given, name), given, name)

    @overload
    def last(self, given: Time, name: str) -> datetime: ...
    @overload
    def last(self, given: Time | None, name: str) -> datetime | None: ...
    def last(self, given: Time | None, name: str) -> datetime | None:
        """The last instant of what a time names: "as of today" includes today."""
        if given is None:
            return None
        found = self.interval(given, name)
        if found.end is None:
            raise UsageError(f"{name}: '{given}' has no end; name a day, a week, a month or a year")
        return found.end if found.end == found.start else found.end - timedelta(microseconds=1)

    def window(
        self, between: Between | None, before: Time | None = None, after: Time | None = None
    ) -> Interval | None:
        """One interval of `between` (both ends included), `after` (included) and `before` (excluded)."""
        start, end = self._sides(between)
        start = max(filter(None, (start, self.first(after, "after"))), default=None)
        end = min(filter(None, (end, self.first(before, "before"))), default=None)
        if start is None and end is None:
            return None
        if start is not None and end is not None and end < start:
            raise UsageError(
                f"the window is empty: it would start at {start.isoformat()} and end before, at {end.isoformat()}"
            )
        return Interval(start, end, "second")

    def interval(self, given: Time, name: str) -> Interval:
        """What a time names: a day is the whole day, "last March" the month; an instant has no length."""
        found = self._read(given, name, self.now)
        return found if isinstance(found, Interval) else Interval(found, found, "second")

    def _sides(self, between: Between | None) -> tuple[datetime | None, datetime | None]:
        if between is None:
            return None, None
        if isinstance(between, Interval):
            return between.start, between.end
        listed: Sequence[Time | None] = (
            [side.strip() or None for side in between.split("..", 1)] if isinstance(between, str) else between
        )
        if not isinstance(listed, list | tuple) or len(listed) not in (1, 2):
            raise UsageError(
                "between takes one stretch of time ('last week', '2025-03-01..2025-03-31'), two times "
                "('2025-03-01', '2025-03-31') or an Interval"
            )
        first, last = (
            None if one is None else self.interval(one, "between") for one in (listed[0], listed[-1])
        )
        start, end = first.start if first else None, last.end if last else None
        if len(listed) == 1 and start is not None and start == end:
            raise UsageError(f"between: '{listed[0]}' is one instant; name a day, or give two times")
        if start is not None and end is not None and end < start:
            raise UsageError(
                f"between ends before it starts: '{listed[-1]}' lies before '{listed[0]}'; give the earlier one first"
            )
        return start, end

    def _read(self, given: Time, name: str, now: datetime) -> datetime | Interval:
        """A datetime in its own zone, or an interval."""
        if isinstance(given, datetime):
            aware(given, name)
            return given
        if not isinstance(given, str):
            raise UsageError(f"{name} must be a datetime or text, not {type(given).__name__}; {_HOW}")
        try:
            found = read(given, now, lambda: self.zone)
        except ValueError as error:
            raise UsageError(f"{name}: {error}") from None
        sides = (found,) if isinstance(found, datetime) else (found.start, found.end)
        for side in sides:
            aware(side, name)
        return found


def read(text: str, now: datetime, zone: Callable[[], str] = lambda: "UTC") -> datetime | Interval:
    """What a text says: an instant in the zone it is written in, or an interval. UsageError where it is no time."""
    words = text.strip()
    shown = f"'{words[:100]}{'…' if len(words) > 100 else ''}'"
    if len(words) > LONGEST_TIME:
        raise UsageError(f"{shown} has {len(words):,} characters; a time has at most {LONGEST_TIME}")
    if words.lower() == "now":
        return now
    if (written := _ISO.fullmatch(words)) and written["clock"]:
        try:
            instant = iso_instant(words)
        except ValueError:
            raise UsageError(f"there is no such time: {shown}; {_HOW}") from None
        return instant if instant.tzinfo else instant.replace(tzinfo=zone_of(zone()))
    from everwhen_time import resolve

    for found in resolve(words, now, zone()):
        before, after = words[: found.span[0]], words[found.span[1] :]
        lead = before.split()
        alone = len(lead) <= _LEAD and all(word.isalpha() for word in lead) and not _says(after)
        if found.interval is not None and alone:
            return found.interval
    raise UsageError(f"{shown} is no time that everwhen knows; {_HOW}")


def is_time(text: str) -> bool:
    """Whether a text says a time, and nothing else."""
    try:
        read(text, datetime.now(UTC))
    except ValueError:
        return False
    return True


def iso_instant(text: str) -> datetime:
    """A time in ISO 8601, naive where it has no offset; a day is its midnight. ValueError where it is none."""
    if not _ISO.fullmatch(text):
        raise ValueError(f"'{text:.100}' is not ISO 8601")
    return datetime.fromisoformat(text.upper())


def known_zone(name: str) -> str:
    """A zone that exists, under the name that is kept: an IANA name, or an offset such as '+05:30'."""
    try:
        return stored_name(name)
    except (ValueError, TypeError):
        raise UsageError(
            f"unknown zone {name!r:.60}; use an IANA name such as 'Europe/Lisbon' or 'UTC', or an offset ('+05:30')"
        ) from None


def local(given: Time | None, zone: str | None) -> Time | None:
    """A naive datetime is local time of the zone that is given beside it."""
    if isinstance(given, datetime) and given.tzinfo is None and zone is not None:
        return given.replace(tzinfo=zone_of(known_zone(zone)))
    return given


def _beginning(found: Interval, given: Time, name: str) -> datetime:
    if found.start is None:
        raise UsageError(f"{name}: '{given}' has no beginning; name a day, a week, a month or a year")
    return found.start


def _says(text: str) -> bool:
    return any(letter.isalnum() for letter in text)
