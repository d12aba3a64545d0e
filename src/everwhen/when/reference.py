"""The result of `resolve`: one time expression of a text and its meaning."""

from __future__ import annotations

from dataclasses import dataclass

from everwhen.when.interval import Grain, Interval
from everwhen.when.iso import Duration
from everwhen.when.meaning import Kind
from everwhen.when.recurrence import Recurrence


@dataclass(frozen=True, slots=True)
class TimeRef:
    """A time expression found in a text, and what it means."""

    span: tuple[int, int]
    text: str
    interval: Interval | None
    grain: Grain
    kind: Kind
    confidence: float
    rule: tuple[str, ...] = ()  # the rules that built it, innermost first
    recurrence: Recurrence | None = None
    duration: Duration | None = None
    anchor: str | None = None  # an event or age that the time hangs on, where the text gives no date for it
