"""Which clause a time expression belongs to, and what a clause without one inherits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from everwhen.ingest.extract.base import Status
from everwhen.ingest.extract.grammar.parsing import Parse, Word
from everwhen.ingest.extract.rules.clauses import Clause
from everwhen.when import Interval, TimeRef, resolve
from everwhen.when.calendar import floor, shift
from everwhen.when.zones import zone_of

FIXED = 0.75
"""Confidence below which `when` calls an expression floating: no tense told it which Friday."""

_PUT_ON = re.compile(r"\b(?:to|for)\s+(?:the\s+)?$", re.IGNORECASE)

SINCE = "so long since"
"""The rule of `when` that reads how long something is past."""

Side = Literal["past", "future", "nearest"]


@dataclass(frozen=True, slots=True)
class SpeechTime:
    """When and where something was said."""

    at: datetime
    zone: str

    def day(self) -> Interval:
        """The speaker's day."""
        local = self.at.astimezone(zone_of(self.zone))
        start = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        end = (start + timedelta(days=1)).replace(tzinfo=local.tzinfo)
        return Interval(start.astimezone(self.at.tzinfo), end.astimezone(self.at.tzinfo), "day")


@dataclass(frozen=True, slots=True)
class DatedExpression:
    """A time expression in a text: its words, its interval, and how sure one may be."""

    ref: TimeRef
    words: tuple[Word, ...]

    @property
    def interval(self) -> Interval | None:
        return self.ref.interval

    @property
    def head(self) -> Word:
        """The word by which the expression hangs on the sentence."""
        inside = {word.i for word in self.words}
        return next(
            (word for word in self.words if word.head.i not in inside or word.head is word), self.words[0]
        )


def expressions(parse: Parse, moment: SpeechTime) -> list[DatedExpression]:
    """The time expressions of a text with the words they are made of."""
    found = []
    for ref in resolve(parse.text, moment.at, moment.zone):
        start, end = ref.span
        if ref.kind == "duration" and parse.text[end : end + 1] == "-":
            continue  # "a second-hand car"
        words = tuple(word for word in parse.words if word.start < end and word.end > start)
        if words:
            found.append(DatedExpression(ref, words))
    return found


def timed(parse: Parse, moment: SpeechTime) -> frozenset[int]:
    """The places of the words that say a time."""
    return frozenset(word.i for dated in expressions(parse, moment) for word in dated.words)


def attach(
    clauses: Sequence[Clause], found: Sequence[DatedExpression]
) -> tuple[dict[int, list[DatedExpression]], list[DatedExpression]]:
    """The expressions of each clause by its place in the list, and those that belong to none."""
    owners = {link.i: place for place, clause in enumerate(clauses) for link in clause.chain}
    by_clause: dict[int, list[DatedExpression]] = {}
    loose = []
    for dated in found:
        # "three years since grandpa died" dates what stands behind "since"
        head = dated.words[-1] if SINCE in dated.ref.rule else dated.head
        place = next((owners[word.i] for word in (head, *head.ancestors()) if word.i in owners), None)
        if (
            place is None
            or clauses[place].verb in dated.words
            or (SINCE in dated.ref.rule and clauses[place].verb.i < dated.words[-1].i)
        ):
            loose.append(dated)
        else:
            by_clause.setdefault(place, []).append(dated)
    return by_clause, loose


def side_of(status: Status, present: bool) -> Side:
    """Where the time of a clause is to be looked for."""
    if status == "planned" or (status == "hypothetical" and present):
        return "future"
    if status in ("happened", "negated") and not present:
        return "past"
    return "nearest"


def chosen(
    found: Sequence[DatedExpression], side: Side, text: str, moment: SpeechTime
) -> DatedExpression | None:
    """The one interval of a clause: of several the finest that lies inside the others, else the first.

    A time that floats ("on Friday") is put on the side that the clause asks for.
    """
    placed = [on_the_side(dated, side, text, moment) for dated in found if dated.interval is not None]
    if not placed:
        return None
    best = placed[0]
    for dated in placed[1:]:
        if dated.interval and best.interval and best.interval.covers(dated.interval):
            best = dated
    return best


def lasting(found: Sequence[DatedExpression], moment: SpeechTime) -> Interval | None:
    """ "I've had this bike for two years": an interval that began then and goes on."""
    local = moment.at.astimezone(zone_of(moment.zone)).replace(tzinfo=None)
    for dated in found:
        length = dated.ref.duration
        if dated.ref.kind != "duration" or length is None:
            continue
        counts: dict[Literal["year", "month", "day"], float] = {
            "year": length.years,
            "month": length.months,
            "day": 7 * length.weeks + length.days,
        }
        for grain, count in counts.items():
            if count >= 1:
                begun = shift(floor(local, grain), grain, -int(count)).replace(tzinfo=zone_of(moment.zone))
                return Interval(begun.astimezone(moment.at.tzinfo), None, grain)
    return None


def on_the_side(dated: DatedExpression, side: Side, text: str, moment: SpeechTime) -> DatedExpression:
    """The same expression placed in the past, in the future, or where it is nearest. One that says its year stays, and
    one that something was put on: "the launch slipped to 12 May" has slipped, and lies ahead."""
    interval = dated.interval
    if interval is None:
        return dated
    ahead = interval.start is not None and interval.start > moment.at
    behind = interval.end is not None and interval.end <= moment.at
    if not (ahead and side != "future") and not (behind and side != "past"):
        return dated
    if side == "nearest" and dated.ref.confidence >= FIXED:
        return dated  # "this weekend" says which one
    other = _again(dated, "past" if ahead else "future", text, moment)
    if other is None or other.interval is None:
        return dated
    if ahead and _PUT_ON.search(text[: dated.ref.span[0]]):
        return dated
    if side == "nearest":
        return min((dated, other), key=lambda one: _distance(one.interval, moment.at))
    return other


def _again(
    dated: DatedExpression, tense: Literal["past", "future"], text: str, moment: SpeechTime
) -> DatedExpression | None:
    for ref in resolve(text, moment.at, moment.zone, tense=tense):
        if ref.span == dated.ref.span:
            return replace(dated, ref=ref)
    return None


def _distance(interval: Interval | None, at: datetime) -> timedelta:
    middle = interval.middle if interval is not None else None
    return abs(middle - at) if middle is not None else timedelta.max
