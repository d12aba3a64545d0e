"""Times as a model writes them: ISO 8601, or an expression such as "last Friday"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property

from everwhen.agent.times import spoken
from everwhen.checked import zone as checked_zone
from everwhen.errors import UsageError
from everwhen.serve.mcp.reach import Remembering
from everwhen.when import Interval


class Clock:
    """Reads the times of one call. The bank is asked for its zone only when a time was given."""

    def __init__(self, memory: Remembering, zone: str | None) -> None:
        self._memory = memory
        self._given = zone

    @cached_property
    def _zone(self) -> str:
        return checked_zone(self._given or self._memory.zone)

    def instant(self, text: str | None) -> datetime | None:
        """The beginning of what a text names."""
        return None if text is None else self._named(text).start

    def last_instant(self, text: str | None) -> datetime | None:
        """The last instant of what a text names: "as of today" includes today."""
        if text is None:
            return None
        found = self._named(text)
        if found.end is None or found.end == found.start:
            return found.start
        return found.end - timedelta(microseconds=1)

    def window(self, between: Sequence[str] | None) -> Interval | None:
        """One text's interval, or from the beginning of the first to the end of the second."""
        if not between:
            return None
        if len(between) > 2:
            raise UsageError("between takes one time ('last week') or two (['2025-03-01', '2025-03-31'])")
        first, last = self._named(between[0]), self._named(between[-1])
        if first.start is not None and last.end is not None and last.end < first.start:
            raise UsageError(
                f"between: '{between[1]}' lies before '{between[0]}'; give the earlier one first"
            )
        return Interval(first.start, last.end, "second")

    def _named(self, text: str) -> Interval:
        """What a text names: a day is the whole day, "last week" the whole week; an instant has no length."""
        return spoken(text, datetime.now(UTC), self._zone)
