"""Instants as text of one fixed width, so that order by text is order by time; and as microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_text(instant: datetime) -> str:
    """`2023-05-08T13:56:00.000000Z`."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def from_text(text: str) -> datetime:
    return datetime.fromisoformat(text)


def to_micros(instant: datetime) -> int:
    return (instant - EPOCH) // _MICROSECOND
