"""A recall as a notebook shows it: a picture of when, the memories under their dates, reasons on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from everwhen.types.recall import day_of, header, spoken_order
from everwhen.when import describe
from everwhen.when.zones import zone_of

if TYPE_CHECKING:
    from everwhen.types.recall import Recall
    from everwhen.types.turns import Recalled

WIDE, HIGH, MARGIN = 640, 58, 42
AXIS = 30
"""Pixels from the top to the line of time."""


def page(found: Recall) -> str:
    """HTML without scripts and without addresses; every word of a memory is escaped."""
    many = f"{len(found)} {'memory' if len(found) == 1 else 'memories'}, {found.tokens} tokens"
    body = "".join(_day(heading, some) for heading, some in _by_day(found.memories))
    return (
        f'<div class="everwhen-recall" style="max-width:{WIDE + 80}px">'
        f'<p><b>{escape(found.query)}</b> <span style="opacity:.7">{many}</span></p>'
        f"{timeline(found.memories)}{body or '<p>nothing in this memory answers that</p>'}</div>"
    )


def timeline(memories: Sequence[Recalled]) -> str:
    """An SVG picture: a dot where each memory was said, a bar over the time that it speaks of."""
    if not memories:
        return ""
    said = [one.said_at for one in memories]
    about = [sides for one in memories if (sides := _about(one))]
    known = [*said, *(side for sides in about for side in sides)]
    first, last = min(known), max(known)
    whole = (last - first).total_seconds() or 1.0

    def across(instant: datetime) -> float:
        return round(MARGIN + (instant - first).total_seconds() / whole * (WIDE - 2 * MARGIN), 1)

    best = max(one.score for one in memories) or 1.0
    drawn = [_bar(across(start), across(end)) for start, end in about]
    for one in memories:
        strength = 0.25 + 0.75 * max(0.0, one.score / best)
        label = f"{day_of(one)} {one.speaker}: {one.text[:100]}"
        drawn.append(
            f'<circle cx="{across(one.said_at)}" cy="{AXIS}" r="5" fill="#2a7de1" fill-opacity="{strength:.2f}">'
            f"<title>{escape(label)}</title></circle>"
        )
    ends = [(MARGIN, first, "start"), (WIDE - MARGIN, last, "end")][: 1 if first == last else 2]
    zone = zone_of(memories[0].zone)
    dates = "".join(
        f'<text x="{place}" y="{HIGH - 8}" font-size="11" fill="currentColor" text-anchor="{anchor}">'
        f"{instant.astimezone(zone):%Y-%m-%d}</text>"
        for place, instant, anchor in ends
    )
    key = "dot: when it was said, bar: the time that it speaks of" if about else "dot: when it was said"
    dates += (
        f'<text x="{WIDE // 2}" y="{HIGH - 8}" font-size="11" fill="currentColor" fill-opacity=".7" '
        f'text-anchor="middle">{key}</text>'
    )
    return (
        f'<svg role="img" aria-label="When these memories were said" viewBox="0 0 {WIDE} {HIGH}" width="100%">'
        f'<line x1="{MARGIN}" y1="{AXIS}" x2="{WIDE - MARGIN}" y2="{AXIS}" stroke="currentColor" '
        f'stroke-opacity=".4"/>{"".join(drawn)}{dates}</svg>'
    )


def _bar(start: float, end: float) -> str:
    wide = max(2.0, round(end - start, 1))
    return f'<rect x="{start}" y="8" width="{wide}" height="8" rx="2" fill="#e08a2a" fill-opacity=".6"/>'


def _about(one: Recalled) -> tuple[datetime, datetime] | None:
    """Start and end of the time that a memory speaks of, where both are known."""
    about = one.occurred
    return (about.start, about.end) if about and about.start and about.end else None


def _by_day(memories: Iterable[Recalled]) -> list[tuple[str, list[Recalled]]]:
    days: dict[str, list[Recalled]] = {}
    for one in sorted(memories, key=spoken_order):
        days.setdefault(header(day_of(one)).strip(), []).append(one)
    return list(days.items())


def _day(heading: str, memories: Iterable[Recalled]) -> str:
    listed = "".join(_memory(one) for one in memories)
    return f'<h4 style="margin:.6em 0 .2em">{escape(heading)}</h4>{listed}'


def _memory(one: Recalled) -> str:
    reasons = {
        "score": f"{one.score:.2f}",
        "found by": str(one.why),
        "about": describe(one.occurred, one.zone) if one.occurred else "",
        "from": ", ".join(one.turns),
        "session": one.session,
    }
    rows = "".join(f"<div>{name}: {escape(value)}</div>" for name, value in reasons.items() if value)
    return (
        f'<div style="margin:.2em 0 .2em 1em"><b>{escape(one.speaker)}</b>: '
        f'<span style="white-space:pre-wrap">{escape(one.shown or one.text)}</span>'
        f'<details style="opacity:.75;font-size:90%"><summary>why</summary>{rows}</details></div>'
    )
