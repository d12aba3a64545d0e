"""Which clause a time expression belongs to, and what a clause without one inherits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from everwhen.types import Turn
from everwhen.write.extract.base import Status
from everwhen.write.extract.grammar.parsing import Parse, Word
from everwhen.write.extract.rules.clauses import Clause
from everwhen_time import Interval, TimeRef, resolve
from everwhen_time.calendar import floor, shift
from everwhen_time.zones import zone_of

FIXED = 0.75
"""Confidence below which `when` calls an expression floating: no tense told it which Friday."""

_PUT_ON = re.compile(r"\b(?:to|for|from)\s+(?:the\s+)?$", re.IGNORECASE)

SINCE = "so long since"
"""The rule of `when` that reads how long something is past."""

Side = Literal["past", "future", "nearest"]


@dataclass(frozen=True, slots=True)
class DatedExpression:
    """A time expression: what it means, its words, the text that they stand in and the turn that says it."""

    ref: TimeRef
    words: tuple[Word, ...]
    text: str
    turn: Turn

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

    def placed(self, side: Side) -> DatedExpression:
        """The same in the past, in the future, or where it is nearest. One that says its year stays, and one that
        something was put on: "the launch slipped to 12 May" has slipped, and lies ahead."""
        interval, said_at = self.interval, self.turn.said_at
        if interval is None:
            return self
        ahead = interval.start is not None and interval.start > said_at
        behind = interval.end is not None and interval.end <= said_at
        if not (ahead and side != "future") and not (behind and side != "past"):
            return self
        if side == "nearest" and self.ref.confidence >= FIXED:
            return self  # "this weekend" says which one
        again = resolve(self.text, said_at, self.turn.zone, tense="past" if ahead else "future")
        ref = next((one for one in again if one.span == self.ref.span), None)
        if ref is None or ref.interval is None or (ahead and _PUT_ON.search(self.text[: ref.span[0]])):
            return self
        other = replace(self, ref=ref)
        return min((self, other), key=DatedExpression.distance) if side == "nearest" else other

    def distance(self) -> timedelta:
        """How far it is from when it was said."""
        middle = self.interval.middle if self.interval is not None else None
        return abs(middle - self.turn.said_at) if middle is not None else timedelta.max


def day_of(turn: Turn) -> Interval:
    """The speaker's day."""
    start = floor(turn.said_at.astimezone(zone_of(turn.zone)).replace(tzinfo=None, fold=0), "day")
    first, last = (at.replace(tzinfo=zone_of(turn.zone)) for at in (start, start + timedelta(days=1)))
    return Interval(first.astimezone(turn.said_at.tzinfo), last.astimezone(turn.said_at.tzinfo), "day")


def expressions(parse: Parse, turn: Turn) -> list[DatedExpression]:
    found = []
    for ref in resolve(parse.text, turn.said_at, turn.zone):
        start, end = ref.span
        if ref.kind == "duration" and parse.text[end : end + 1] == "-":
            continue  # "a second-hand car"
        words = tuple(word for word in parse.words if word.start < end and word.end > start)
        if words:
            found.append(DatedExpression(ref, words, parse.text, turn))
    return found


def timed(parse: Parse, turn: Turn) -> frozenset[int]:
    """The places of the words that say a time."""
    return frozenset(word.i for dated in expressions(parse, turn) for word in dated.words)


def attach(
    clauses: Sequence[Clause], found: Sequence[DatedExpression]
) -> tuple[dict[int, list[DatedExpression]], list[DatedExpression]]:
    """The expressions of each clause by its place in the list, and those that belong to none."""
    owners = {link.i: place for place, clause in enumerate(clauses) for link in clause.chain}
    by_clause: dict[int, list[DatedExpression]] = {}
    loose = []
    for dated in found:
        # "three years since grandpa died" dates what stands behind "since"
        since, last = SINCE in dated.ref.rule, dated.words[-1]
        head = last if since else dated.head
        place = next((owners[word.i] for word in (head, *head.ancestors()) if word.i in owners), None)
        verb = clauses[place].verb if place is not None else None
        if place is None or verb is None or verb in dated.words or (since and verb.i < last.i):
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


def chosen(found: Sequence[DatedExpression], side: Side) -> DatedExpression | None:
    """The one interval of a clause: of several the finest that lies inside the others, else the first.

    A time that floats ("on Friday") is put on the side that the clause asks for.
    """
    placed = [dated.placed(side) for dated in found if dated.interval is not None]
    best = placed[0] if placed else None
    for dated in placed[1:]:
        if best and best.interval and dated.interval and best.interval.covers(dated.interval):
            best = dated
    return best


def lasting(found: Sequence[DatedExpression]) -> DatedExpression | None:
    """ "I've had this bike for two years": with an interval that began then and goes on."""
    for dated in found:
        length, area = dated.ref.duration, zone_of(dated.turn.zone)
        if dated.ref.kind != "duration" or length is None:
            continue
        counts: dict[Literal["year", "month", "day"], float] = {
            "year": length.years, "month": length.months, "day": 7 * length.weeks + length.days,
        }  # fmt: skip
        local, said = dated.turn.said_at.astimezone(area).replace(tzinfo=None), dated.turn.said_at
        for grain, count in counts.items():
            if count >= 1:
                begun = shift(floor(local, grain), grain, -int(count)).replace(tzinfo=area)
                since = Interval(begun.astimezone(said.tzinfo), None, grain)
                return replace(dated, ref=replace(dated.ref, interval=since))
    return None
