"""Time as a line: where an instant lies on it in per cent, and the ticks of a grain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape

from everwhen_time import Grain
from everwhen_time.zones import zone_of

WINDOWS: dict[str, int] = {"day": 14, "week": 12, "month": 12, "year": 6}
"""Units of each grain that one look shows."""
MOST_TICKS = 16


@dataclass(frozen=True, slots=True)
class Axis:
    """A stretch of time, drawn over the whole width."""

    start: datetime
    end: datetime
    zone: str

    def place(self, instant: datetime) -> float:
        """Per cent from the left, held inside."""
        whole = (self.end - self.start).total_seconds() or 1.0
        return min(max((instant - self.start).total_seconds() / whole * 100.0, 0.0), 100.0)

    def ticks(self, grain: Grain) -> Iterator[tuple[float, str]]:
        """Where units of a grain begin, and what each is called; thinned out where they are too many."""
        found: list[datetime] = []
        at = floor(self.start.astimezone(zone_of(self.zone)), grain)
        while at < self.end and len(found) < 400:
            if at >= self.start:
                found.append(at)
            at = shift(at, grain, 1)
        step = -(-len(found) // MOST_TICKS) or 1
        for instant in found[::step]:
            yield self.place(instant), _called(instant, grain)

    def drawn_ticks(self, grain: Grain, height: int, then: datetime | None) -> str:
        """The ticks as SVG, and a line for the moment that the page looks from."""
        out = [
            f'<line class="tick" x1="{x:.2f}%" x2="{x:.2f}%" y1="18" y2="{height}"/>'
            f'<text class="{"even" if place % 2 else ""}" x="{x:.2f}%" y="12" {_beside(x)}>{escape(name)}</text>'
            for place, (x, name) in enumerate(self.ticks(grain))
        ]
        if then is not None and self.start <= then <= self.end:
            out.append(self.then_line(then, height))
        return "".join(out)

    def then_line(self, then: datetime, height: int, look: str = "") -> str:
        """A line for the moment that the page looks from."""
        x = self.place(then)
        return f'<line class="then-line" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="{height}"{look}/>'


def floor(local: datetime, grain: Grain) -> datetime:
    """The beginning of the unit that an instant lies in."""
    start = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if grain == "week":
        return start - timedelta(days=start.weekday())
    if grain == "month":
        return start.replace(day=1)
    return start.replace(month=1, day=1) if grain == "year" else start


def shift(local: datetime, grain: Grain, units: int) -> datetime:
    """So many units later; local midnights stay midnights."""
    if grain in ("day", "week"):
        return local + timedelta(days=units * (7 if grain == "week" else 1))
    months = local.year * 12 + local.month - 1 + units * (12 if grain == "year" else 1)
    year, month = divmod(months, 12)
    return local.replace(year=min(max(year, 1), 9998), month=month + 1, day=1)


def fitting(start: datetime, end: datetime) -> Grain:
    """The grain whose ticks suit a stretch of time."""
    days = (end - start).days
    return "day" if days <= 16 else "week" if days <= 110 else "month" if days <= 1100 else "year"


def _beside(x: float) -> str:
    """The name stands to the right of its tick, but not out of the picture."""
    return 'dx="-3" text-anchor="end"' if x > 96 else 'dx="3"'


def _called(instant: datetime, grain: Grain) -> str:
    if grain == "year":
        return f"{instant:%Y}"
    if grain == "month":
        return f"{instant:%b %Y}" if instant.month == 1 else f"{instant:%b}"
    return f"{instant.day} {instant:%b}"
