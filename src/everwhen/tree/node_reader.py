"""Reads the tree: nodes, the profile, and what is known at an instant. Exchanges are made from their turns.

Each node of the top level holds the statements of its own window. The profile merges those nodes in order of time: a
repeated statement gains support and a later date, a new one is added, and one that the fact store knows to have ended
gets its end date. So a late turn changes one window only, and the result does not depend on the order of arrival.

What is known at an instant, whatever is asked, is the stable part of a prompt. It is read from the bank alone, as it
stood then: facts in the version that was believed, and the statements of the profile from what had been said. So it is
the same in every process and after every restart, and nothing has to be kept for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from everwhen.facts.shown_facts import to_fact
from everwhen.models.embedder import count_tokens
from everwhen.store.rows import NOW, AsOf, FactRow, NodeRow
from everwhen.store.sql.store import Store
from everwhen.tree.base import Child, child_of_turns, children_of_session, cut_into_exchanges, in_order
from everwhen.tree.extractive import PASSING, dated_support, day, weighed
from everwhen.tree.levels import EXCHANGE, Levels
from everwhen.types import Fact, HalfLives, Node, Statement, Turn
from everwhen.types.facts import confidence_at, in_words
from everwhen.types.turns import inside, line
from everwhen_time import Interval
from everwhen_time.zones import zone_of

T = TypeVar("T")


def nodes(
    store: Store, levels: Levels, level: int | None, between: Interval | None, moment: AsOf = NOW
) -> list[Node]:
    """Nodes in the order of level and time; with `between` those whose interval shares an instant with it.

    Those of `moment`: exchanges are cut from the turns that had been said and recorded, the others stood as they are
    given (see `TreeStore.nodes_then`).
    """
    found: list[Node] = []
    if level in (None, EXCHANGE):
        found += _exchanges(store, levels, between, moment)
    if level != EXCHANGE:
        rows = _stored(store, level, between, moment)
        found += [_node(row, levels) for row in rows if row.place.level > EXCHANGE]
    return found


def evenly(store: Store, levels: Levels, level: int, most: int) -> tuple[list[Node], list[int]]:
    """At most so many nodes of a level, evenly chosen in the order of time, and their units (0 for an exchange).

    Only what is chosen is put into words: a long bank has thousands of exchanges.
    """
    if level != EXCHANGE:
        rows = _chosen(store.tree.nodes(level), most)
        return [_node(row, levels) for row in rows], [row.unit for row in rows]
    cut = [
        some
        for turns in _sessions(store, None, NOW)
        for some in cut_into_exchanges(turns, levels.exchanges_per_piece)
    ]
    cut = _chosen(sorted(cut, key=lambda some: (some[0].said_at, some[0].id)), most)
    written = {row.place.id: row for row in _stored(store, EXCHANGE, None, NOW)}
    return [_exchange(child_of_turns(some, levels), written, levels) for some in cut], [0] * len(cut)


def _chosen(several: Sequence[T], most: int) -> list[T]:
    """At most so many, evenly spread, with the first and the last."""
    if len(several) <= most:
        return list(several)
    return [several[number * (len(several) - 1) // max(1, most - 1)] for number in range(max(1, most))]


def profile(store: Store, levels: Levels, moment: AsOf = NOW) -> list[Statement]:
    """The statements of the profile over all windows, by the nodes and facts of `moment`."""
    tops = _tops(store, levels.top, moment)
    ids = sorted({one.fact for row in tops for one in row.statements if one.fact is not None})
    believed = {fact.id: fact for fact in store.facts.believed_then(ids, moment)} if ids else {}
    return merged_profile(tops, believed, levels.zone)


def _stored(store: Store, level: int | None, between: Interval | None, moment: AsOf) -> list[NodeRow]:
    if moment.is_now:
        return store.tree.nodes(level, between)
    rows = store.tree.nodes_then(level, moment)
    return [row for row in rows if between is None or row.interval.overlaps(between)]


def _tops(store: Store, level: int, moment: AsOf) -> list[NodeRow]:
    """The nodes of the top level; of a window that went on after `as_of`, the statements that had been made by then."""
    rows = _stored(store, level, None, moment)
    if moment.as_of is None:
        return rows
    whole = {row.place.id for row in rows}
    every = _stored(store, level, None, replace(moment, as_of=None))
    later = [one for one in every if one.place.id not in whole]
    turns = sorted({turn for row in later for one in row.statements for turn in one.turns})
    said = {turn.id: turn.said_at for turn in store.turns(ids=turns) if moment.sees(turn)}
    for row in later:
        made = [cut for one in row.statements if (cut := _cut(one, said)) is not None]
        rows.append(replace(row, statements=tuple(made)))
    return sorted(rows, key=lambda row: (row.place.start, row.place.id))


def _cut(one: Statement, said: Mapping[str, datetime]) -> Statement | None:
    """A statement as far as some turns bear it out. A quotation is of its last turn; a fact has no words of its own."""
    turns = tuple(turn for turn in one.turns if turn in said)
    if len(turns) == len(one.turns):
        return one
    if not turns or one.fact is None:
        return None
    last = max(said[turn] for turn in turns)
    return replace(one, turns=turns, support=len(turns), last=last)


def _exchanges(store: Store, levels: Levels, between: Interval | None, moment: AsOf) -> list[Node]:
    """Level 1: in a model's words where it has written it, else as it was said."""
    written = {row.place.id: row for row in _stored(store, EXCHANGE, None, moment)}
    children = (
        one for turns in _sessions(store, between, moment) for one in children_of_session(turns, levels)
    )
    found = [
        _exchange(child, written, levels)
        for child in children
        if between is None or child.interval.overlaps(between)
    ]
    return sorted(found, key=lambda node: (node.interval.start, node.id))


def _exchange(child: Child, written: Mapping[str, NodeRow], levels: Levels) -> Node:
    own, place = tuple(turn for one in child.statements for turn in one.turns), child.place
    row = written.get(place.id)
    text = row.text if row is not None and row.children == own else child.text
    return Node(place.id, EXCHANGE, child.interval, text, own, levels.name(EXCHANGE), place.parent, own)


def _sessions(store: Store, between: Interval | None, moment: AsOf) -> Iterable[list[Turn]]:
    if between is None:
        by_session: dict[str, list[Turn]] = {}
        for turn in filter(moment.sees, store.turns(between=moment.said)):
            by_session.setdefault(turn.session, []).append(turn)
        return [in_order(turns) for turns in by_session.values()]
    # The exchanges of a session are cut from all of its turns, whatever is asked for.
    near = [
        one.id
        for one in store.sessions(moment)
        if Interval(one.first, one.last).overlaps(between) or between.contains(one.first)
    ]
    return [in_order(filter(moment.sees, store.turns(session=session))) for session in near]


def _node(row: NodeRow, levels: Levels) -> Node:
    at, name = row.place, levels.name(row.place.level)
    return Node(at.id, at.level, row.interval, row.text, row.children, name, at.parent, row.turns)


# The profile

SAME_STATEMENT = 0.75
"""The share of common words (of all words of both) from which a statement says what an earlier one said."""


def merged_profile(nodes: Iterable[NodeRow], facts: Mapping[str, FactRow], zone: str) -> list[Statement]:
    """The profile by the nodes of the top level in the order of time, those with most support first.

    `facts` are those that the nodes name and that are still believed; what was retracted or corrected since is left
    out. A sentence that was quoted is part of the profile when it speaks of something lasting, or was said again; where
    there is nothing of that kind, all that the nodes say is.
    """
    known: dict[str, Statement] = {}
    said: list[Statement] = []
    written: set[str] = set()
    for node in nodes:
        for one in node.statements:
            if one.fact is None:
                _refine(said, one)
                if node.consolidator != "extractive":
                    written.add(one.text)
            elif one.fact in facts:
                before = known.get(one.fact)
                known[one.fact] = one if before is None else _together(before, one)
    stated = [_as_believed(one, facts[id_], zone) for id_, one in known.items()]
    kept = [one for one in said if one.support > 1 or one.text in written or weighed(one.text).lasting]
    return [*_ordered(stated), *_ordered(kept if kept or stated else said)]


def _as_believed(one: Statement, fact: FactRow, zone: str) -> Statement:
    """A fact's statement over all windows, with the end that it has come to."""
    until = f"; until {day(fact.valid_to, zone_of(fact.zone or zone))}" if fact.valid_to else ""
    words = in_words(fact.subject, fact.predicate, fact.object, ended=fact.valid_to is not None)
    return replace(one, text=f"{words} ({dated_support(one, zone)}{until})", ended=fact.valid_to)


def _refine(said: list[Statement], one: Statement) -> None:
    """Let a statement stand for an earlier one that says the same, or add it."""
    terms = weighed(one.text).terms
    for place, before in enumerate(said):
        others = weighed(before.text).terms
        if any(term[0].isdigit() for term in terms ^ others):
            continue  # another date or amount is another thing
        if before.speaker == one.speaker and len(terms & others) >= SAME_STATEMENT * max(
            1, len(terms | others)
        ):
            said[place] = replace(_together(before, one), text=one.text)
            return
    said.append(one)


def _together(before: Statement, now: Statement) -> Statement:
    return replace(
        before,
        first=min(before.first, now.first),
        last=max(before.last, now.last),
        support=before.support + now.support,
        turns=tuple(dict.fromkeys((*before.turns, *now.turns))),
    )


def _ordered(statements: Sequence[Statement]) -> list[Statement]:
    return sorted(
        statements, key=lambda one: (one.ended is not None, -one.support, -one.last.timestamp(), one.text)
    )


# What is known at an instant

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
        _within(max_tokens, ((fact.recorded_at, _fact_line(fact, levels.zone)) for fact in _first(facts)))
    )
    left = max_tokens - sum(tokens for *_, tokens in lines)
    statements = (one for one in profile(store, levels, AsOf(at, known_at)) if one.fact is None)
    lines += _within(left, ((one.first, line(one.speaker, one.text)) for one in statements))
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

    A line that only had no room any more is still true, and is not listed.
    """
    holds = {_fact_line(fact, levels.zone) for fact in _sure(store, at, half_lives, known_at)}
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


def _fact_line(fact: Fact, zone: str) -> str:
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
