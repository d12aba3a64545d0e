"""When a plan is now: the time that a sentence gives it, read beside the time that it had."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import get_args

from everwhen.types import Turn
from everwhen.write.extract.grammar.parsing import Word
from everwhen_time import Duration, Grain, Interval, TimeRef, resolve
from everwhen_time.calendar import Unit, floor, shift
from everwhen_time.zones import zone_of

_REJECTS = frozenset({"not", "than", "instead"})
_SOONER = frozenset({"forward", "earlier", "sooner", "up", "ahead", "early"})
_LATER = frozenset({"back", "later", "out", "behind"})
_IT = frozenset({"it", "that", "this"})
_UNITS: dict[str, Unit] = {
    "seconds": "second", "minutes": "minute", "hours": "hour", "days": "day", "weeks": "week", "months": "month",
    "years": "year",
}  # fmt: skip
"""From fine to coarse."""
_GRAINS: tuple[Grain, ...] = get_args(Grain)
_CLOCKS = ("hour", "minute")
_DAY_ALONE = re.compile(r"(?:the\s+)?\d{1,2}(?:st|nd|rd|th)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChangedTime:
    """When a plan is now, and the words for it; or that it is off."""

    when: Interval
    expression: str
    off: bool = False


def new_time(text: str, times: Sequence[TimeRef], turn: Turn, old: Interval) -> ChangedTime | None:
    """The first time in a sentence that is not the plan's and lies ahead; none where it says the plan's again."""
    found: list[ChangedTime] = []
    for ref in times:
        when = _beside(ref, turn, old)
        denied = not _REJECTS.isdisjoint(text[: ref.span[0]].lower().split()[-2:])
        if when is None or when.start is None or denied:
            continue
        if when.overlaps(old) and when.grain not in _CLOCKS:
            return None
        if when != old and (when.end is None or when.end > turn.said_at):
            found.append(ChangedTime(when, ref.text))
    return found[0] if found else None


def amount(duration: Sequence[Word], verb: Word) -> int:
    """Whether a verb moves its theme by a duration: 1 later, -1 earlier, 0 where the duration is of something else.

    It measures the verb ("postponed a week"), or what says which way ("a week later", "forward by a month"); of another
    verb only with such words, and where that speaks of the theme ("but it was postponed by a week").
    """
    top = next((word for word in duration if word.head not in duration), None)
    if top is None:
        return 0
    path = [top]
    while path[-1].pos not in ("VERB", "AUX") and path[-1].head is not path[-1]:
        path.append(path[-1].head)
    governs = path[-1]
    ways = {word.lower for word in (*path, *governs.children)}
    subject = governs.child("nsubj", "nsubjpass")
    if governs is not verb and (
        subject is None or subject.lower not in _IT or ways.isdisjoint(_SOONER | _LATER | {"by"})
    ):
        return 0
    return 1 if ways.isdisjoint(_SOONER) else -1


def shifted(said: str, by: Duration, sign: int, turn: Turn, old: Interval) -> ChangedTime | None:
    """The plan's time so much later, or earlier: as whole days or months as it was, and never in the past."""
    finest = next((unit for name, unit in _UNITS.items() if getattr(by, name)), "second")
    if old.start is None or _GRAINS.index(finest) < _GRAINS.index(old.grain):
        return None
    area = zone_of(turn.zone)
    first, last = (
        None if bound is None else bound.astimezone(area).replace(tzinfo=None)
        for bound in (old.start, old.end)
    )
    assert first is not None
    unit: Unit = "quarter" if old.grain == "season" else old.grain
    try:
        start = by.after(first, sign)
        whole = last == shift(first, unit, 1)
        if whole and first == floor(first, unit):
            start = floor(start, unit)
        end = shift(start, unit, 1) if whole else last and by.after(last, sign)
        when = Interval(start.replace(tzinfo=area), end and end.replace(tzinfo=area), old.grain)
    except (OverflowError, ValueError):
        return None
    return ChangedTime(when, said) if when.start and when.start > turn.said_at else None


def _beside(ref: TimeRef, turn: Turn, plan: Interval) -> Interval | None:
    """What an expression means beside the plan: a clock is of its day, a day alone of its month."""
    when, area = ref.interval, zone_of(turn.zone)
    if when is None or plan.start is None or ref.kind not in ("point", "range"):
        return None
    old = plan.start.astimezone(area).replace(tzinfo=None)
    if when.start is None and when.end is not None:  # "until Friday": it is then
        begins = when.end.astimezone(area).replace(tzinfo=None)
        ends = shift(begins, when.grain if when.grain in ("week", "month", "year") else "day", 1)
        return Interval(when.end, ends.replace(tzinfo=area), when.grain)
    if when.start is None or when.end is None:
        return when
    if ref.kind == "range" and when.start == floor(old, "day").replace(tzinfo=area):
        return Interval(when.end - timedelta(days=1), when.end, "day")  # "from the 3rd to the 10th"
    local = when.start.astimezone(area)
    if when.grain in _CLOCKS and local.date() == turn.said_at.astimezone(area).date():
        return when.shift(days=(old.date() - local.date()).days)
    return _nearest(ref.text, turn, plan.start) or when if _DAY_ALONE.match(ref.text) else when


def _nearest(day: str, turn: Turn, start: datetime) -> Interval | None:
    """The day of a month that is nearest to the plan and still ahead."""
    near = (*resolve(day, start, turn.zone, tense="past"), *resolve(day, start, turn.zone, tense="future"))
    ahead = [
        (abs(one.interval.start - start), one.interval)
        for one in near
        if one.interval is not None and one.interval.start is not None and one.interval.start > turn.said_at
    ]
    return min(ahead, key=lambda one: one[0])[1] if ahead else None
