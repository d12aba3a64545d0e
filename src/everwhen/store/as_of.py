"""The two times that a bank is read from: what had been said by then, and what the memory held by then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from everwhen.types import Turn
from everwhen.types.instants import to_text
from everwhen_time import Interval

FOREVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AsOf:
    """What a reader may see: what had been said by `as_of` and was recorded by `known_at`, both included.

    None leaves a side open. With both open it is the present.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def is_now(self) -> bool:
        return self.as_of is None and self.known_at is None

    @property
    def said(self) -> Interval | None:
        """When what may be seen was said."""
        return (
            None if self.as_of is None else Interval(None, self.as_of + timedelta(microseconds=1), "second")
        )

    @property
    def texts(self) -> dict[str, str]:
        """Both times as a database compares them; an open side lies after everything."""
        return {"as_of": to_text(self.as_of or FOREVER), "known_at": to_text(self.known_at or FOREVER)}

    def sees(self, turn: Turn) -> bool:
        """Whether a turn had been said and recorded."""
        return (self.as_of is None or turn.said_at <= self.as_of) and (
            self.known_at is None or turn.recorded_at <= self.known_at
        )


NOW = AsOf()
