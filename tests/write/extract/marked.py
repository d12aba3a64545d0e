"""The hand-marked conversations, and how what was extracted is held against them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from everwhen.types import Turn
from everwhen.write.extract.base import Batch, ExtractedEvent
from everwhen_time import Interval

SUB_DAY = ("second", "minute", "hour")


@dataclass(frozen=True)
class Row:
    turn: str
    subject: str
    verb: str
    object: str
    days: str
    status: str
    optional: bool = False

    def fits(self, event: ExtractedEvent) -> bool:
        return (
            self.turn in event.turns
            and event.subject.lower() in self.subject.lower().split("|")
            and event.verb.lower() in self.verb.lower().split("|")
            and self._object_fits(event.object.lower())
            and days(event.occurred) in self.days.split("|")
        )

    def _object_fits(self, found: str) -> bool:
        words = self.object.lower().split("|")
        return "" in words or any(word in found for word in words)


@dataclass(frozen=True)
class Marked:
    name: str
    batch: Batch
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Score:
    right: int
    false: list[ExtractedEvent]
    missed: list[Row]
    wrong_status: list[tuple[Row, ExtractedEvent]]

    @property
    def precision(self) -> float:
        return self.right / (self.right + len(self.false))

    @property
    def recall(self) -> float:
        return self.right / (self.right + len(self.missed))


def conversations() -> list[Marked]:
    loaded = json.loads(Path(__file__).with_name("fixture.json").read_text(encoding="utf-8"))
    found = []
    for one in loaded["conversations"]:
        start = datetime.fromisoformat(one["at"])
        turns = tuple(
            Turn(
                id=id_, session=one["name"], seq=number, role=role, speaker=speaker, text=text,
                said_at=start + timedelta(minutes=number), zone="UTC", recorded_at=start,
            )
            for number, (id_, speaker, role, text) in enumerate(one["turns"])
        )  # fmt: skip
        rows = tuple(Row(*row[:6], optional=len(row) > 6) for row in one["events"])
        found.append(Marked(one["name"], Batch(one["name"], turns), rows))
    return found


def days(interval: Interval | None) -> str:
    """An interval in days, as the fixture writes it; a time of day is its day."""
    if interval is None:
        return ""
    first = _day(interval.start)
    if (
        interval.start
        and interval.end
        and (interval.grain in SUB_DAY or interval.end - interval.start < timedelta(days=1))
    ):
        return f"{first}..{first + timedelta(days=1)}" if first else ""
    last = _day(interval.end)
    return f"{first or ''}..{last or ''}"


def _day(side: datetime | None) -> date | None:
    return side.astimezone(ZoneInfo("UTC")).date() if side else None


def score(marked: list[Marked], found: dict[str, tuple[ExtractedEvent, ...]]) -> Score:
    """Each row is found once at the most; an optional one counts for nothing either way."""
    right, false, missed, wrong = 0, [], [], []
    for one in marked:
        left = list(one.rows)
        for event in found[one.name]:
            row = next((row for row in sorted(left, key=lambda r: r.optional) if row.fits(event)), None)
            if row is None:
                false.append(event)
                continue
            left.remove(row)
            right += not row.optional
            if event.status not in row.status.split("|"):
                wrong.append((row, event))
        missed += [row for row in left if not row.optional]
    return Score(right, false, missed, wrong)


__all__ = ["UTC", "Marked", "Row", "Score", "conversations", "days", "score"]
