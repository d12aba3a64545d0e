"""Instants as text of fixed width, so that text order is time order; and as microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from everwhen.errors import Damaged, UsageError

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
