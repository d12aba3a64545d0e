"""Half-open intervals of time with a grain: the one shape in which everwhen speaks of when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Grain = Literal[
    "second", "minute", "hour", "day", "week", "month", "quarter", "season", "year", "decade", "century"
]


@dataclass(frozen=True, slots=True)
class Interval:
    """`[start, end)` in UTC; a side that is None is open (since, until)."""

    start: datetime | None
    end: datetime | None
    grain: Grain = "day"

    def __post_init__(self) -> None:
        for side in (self.start, self.end):
            if side is not None and side.tzinfo is None:
                raise ValueError(f"an interval needs aware datetimes, got the naive {side.isoformat()}")
        if self.start is not None:
            object.__setattr__(self, "start", self.start.astimezone(UTC))
        if self.end is not None:
            object.__setattr__(self, "end", self.end.astimezone(UTC))
        if self.start is not None and self.end is not None and self.end < self.start:
            raise ValueError(f"an interval cannot end ({self.end}) before it starts ({self.start})")

    def contains(self, instant: datetime) -> bool:
        """Whether the instant lies in `[start, end)`."""
        return (self.start is None or self.start <= instant) and (self.end is None or instant < self.end)

    def overlaps(self, other: Interval) -> bool:
        """Whether the two share at least one instant."""
        left = self.start is None or other.end is None or self.start < other.end
        right = other.start is None or self.end is None or other.start < self.end
        return left and right
