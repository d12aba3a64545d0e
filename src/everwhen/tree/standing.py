"""What is known at an instant, whatever is asked: the stable part of a prompt.

It is read from the bank alone, as it stood at that instant: facts in the version that was believed then, and the
statements of the profile from what had been said. So it is the same in every process and after every restart, and
nothing has to be kept for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from everwhen.facts.shown_facts import to_fact
from everwhen.models.tokens import count_tokens
from everwhen.store.rows import AsOf
from everwhen.store.sql.store import Store
from everwhen.tree.levels import Levels
from everwhen.tree.node_reader import profile
from everwhen.tree.profile import PASSING
from everwhen.types import Fact, HalfLives
from everwhen.types.decay import confidence_at
from everwhen.types.recall import inside, line
from everwhen_time.zones import zone_of

MOMENTARY = frozenset({*PASSING, "wants", "deadline", "status", "number", "costs", "owes", "located"})
"""Predicates of what changes from day to day: found when it is asked for, and not part of every prompt."""
ITEM = "- "
NO_LONGER = "- no longer: "
SURE = 0.6
"""The confidence below which a fact is not put before every question."""


def standing(
    store: Store,
    levels: Levels,
    at: datetime,
    half_lives: HalfLives,
    max_tokens: int,
    known_at: datetime | None = None,
) -> str:
    """What is known at an instant, one thing a line, inside a budget; those first of whom most is known.

    The order is that in which things were learned: what is new comes at the end, and what stands before it stays.
    """
    facts = _sure(store, at, half_lives, known_at)
    lines = list(
        _within(max_tokens, ((fact.recorded_at, _told(fact, levels.zone)) for fact in _first(facts)))
    )
    left = max_tokens - sum(tokens for *_, tokens in lines)
    told = (one for one in profile(store, levels, AsOf(at, known_at)) if one.fact is None)
    lines += _within(left, ((one.first, line(one.speaker, one.text)) for one in told))
    return "".join(words for _, words, _ in sorted(lines))


def changed(
    store: Store,
    levels: Levels,
    at: datetime,
    half_lives: HalfLives,
    before: str,
    now: str,
    known_at: datetime | None = None,
) -> str:
    """What differs between two of `standing`, the second of an instant: what is new, and what holds no longer.

    A line that only had no room any more is still true, and is not told of.
    """
    holds = {_told(fact, levels.zone) for fact in _sure(store, at, half_lives, known_at)}
    earlier, later = (text.splitlines(keepends=True) for text in (before, now))
    ended = [one.replace(ITEM, NO_LONGER, 1) for one in earlier if one.startswith(ITEM) and one not in holds]
    return "".join([*ended, *(one for one in later if one not in earlier)])


def lasts(fact: Fact, confidence: float) -> bool:
    """Whether a fact is worth telling without being asked: it does not change from day to day, and is sure enough."""
    return fact.predicate.replace("_", " ") not in MOMENTARY and confidence >= SURE


def _sure(store: Store, at: datetime, half_lives: HalfLives, known_at: datetime | None) -> list[Fact]:
    """The facts that hold at an instant, as the memory held them, and are worth telling to everybody."""
    rows = store.facts.valid_at(at, None, None, at)
    if known_at is not None:
        held = store.facts.believed_then([row.id for row in rows], AsOf(at, known_at))
        rows = [row for row in held if row.covers(at)]
    known = map(to_fact, rows)
    return [fact for fact in known if lasts(fact, confidence_at(fact, at, half_lives))]


def _first(facts: Sequence[Fact]) -> list[Fact]:
    """Facts by how much is known of their subject, then by how often each was said and how sure it is."""
    known: Counter[str] = Counter()
    for fact in facts:
        known[fact.subject] += fact.support

    def order(one: Fact) -> tuple[Any, ...]:
        return -known[one.subject], one.subject, -one.support, -one.confidence, one.recorded_at, one.id

    return sorted(facts, key=order)


def _told(fact: Fact, zone: str) -> str:
    since = fact.valid_from.astimezone(zone_of(fact.zone or zone)).date().isoformat()
    grain = {"year": since[:4], "month": since[:7]}.get(fact.valid.grain, since)
    return f"{ITEM}{inside(fact.text)} (since {grain})\n"


def _within(tokens: int, lines: Iterable[tuple[datetime, str]]) -> Iterator[tuple[datetime, str, int]]:
    """Lines as long as there is room for them, each with its tokens."""
    for learned, words in lines:
        cost = count_tokens(words)
        if cost > tokens:
            return
        tokens -= cost
        yield learned, words, cost
