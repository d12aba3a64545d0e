"""When a plan is now: the time that a sentence gives it, read beside the time that it had."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from everwhen.types import Turn
from everwhen.when import Interval, TimeRef, resolve
from everwhen.when.calendar import floor, shift
from everwhen.when.zones import zone_of

_REJECTS = frozenset({"not", "than", "instead"})
_SOONER = frozenset({"forward", "earlier", "sooner", "up", "ahead", "early"})
_CLOCKS = ("hour", "minute")
_DAY_ALONE = re.compile(r"(?:the\s+)?\d{1,2}(?:st|nd|rd|th)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Changed:
    """When a plan is now, and the words for it; or that it is off."""

    when: Interval
    expression: str
    off: bool = False


def new_time(text: str, times: Sequence[TimeRef], turn: Turn, old: Interval) -> Changed | None:
    """The first time in a sentence that is not the plan's and lies ahead; none where it says the plan's again."""
    found: list[Changed] = []
    for ref in times:
        when = _beside(ref, turn, old)
        denied = not _REJECTS.isdisjoint(text[: ref.span[0]].lower().split()[-2:])
        if when is None or when.start is None or denied:
            continue
        if when.overlaps(old) and when.grain not in _CLOCKS:
            return None
        if when != old and (when.end is None or when.end > turn.said_at):
            found.append(Changed(when, ref.text))
    return found[0] if found else None


def shifted(text: str, times: Sequence[TimeRef], turn: Turn, old: Interval) -> Changed | None:
    """The plan's time so much later, or earlier, as a sentence says."""
    ref = next((ref for ref in times if ref.duration is not None), None)
    if ref is None or ref.duration is None or old.start is None:
        return None
    sign = -1 if not _SOONER.isdisjoint(re.findall(r"\w+", text.lower())) else 1
    area = zone_of(turn.zone)
    local = old.start.astimezone(area).replace(tzinfo=None)
    start = ref.duration.after(local, sign).replace(tzinfo=area)
    end = None if old.end is None else start + (old.end - old.start)
    return Changed(Interval(start, end, old.grain), ref.text)


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
