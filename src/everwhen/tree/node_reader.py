"""Reads the tree: stored nodes, and exchanges, which are made from their turns when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from everwhen.store.rows import NOW, AsOf, NodeRow
from everwhen.store.sql.store import Store
from everwhen.tree.base import Child
from everwhen.tree.exchanges import child_of_turns, children_of_session, exchanges, in_order
from everwhen.tree.levels import EXCHANGE, Levels
from everwhen.tree.profile import merged_profile
from everwhen.types import Node, Statement, Turn
from everwhen_time import Interval

T = TypeVar("T")


def nodes(
    store: Store, levels: Levels, level: int | None, between: Interval | None, then: AsOf = NOW
) -> list[Node]:
    """Nodes in the order of level and time; with `between` those whose interval shares an instant with it.

    Those of `then`: exchanges are cut from the turns that had been said and recorded, the others stood as they are
    given (see `TreeStore.nodes_then`).
    """
    found: list[Node] = []
    if level in (None, EXCHANGE):
        found += _exchanges(store, levels, between, then)
    if level != EXCHANGE:
        rows = _stored(store, level, between, then)
        found += [_node(row, levels) for row in rows if row.place.level > EXCHANGE]
    return found


def evenly(store: Store, levels: Levels, level: int, most: int) -> tuple[list[Node], list[int]]:
    """At most so many nodes of a level, evenly chosen in the order of time, and their units (0 for an exchange).

    Only what is chosen is put into words: a long bank has thousands of exchanges.
    """
    if level != EXCHANGE:
        rows = _chosen(store.tree.nodes(level), most)
        return [_node(row, levels) for row in rows], [row.unit for row in rows]
    cut = [some for turns in _sessions(store, None, NOW) for some in exchanges(turns, levels.exchanges)]
    cut = _chosen(sorted(cut, key=lambda some: (some[0].said_at, some[0].id)), most)
    told = {row.place.id: row for row in _stored(store, EXCHANGE, None, NOW)}
    return [_exchange(child_of_turns(some, levels), told, levels) for some in cut], [0] * len(cut)


def _chosen(several: Sequence[T], most: int) -> list[T]:
    """At most so many, evenly spread, with the first and the last."""
    if len(several) <= most:
        return list(several)
    return [several[number * (len(several) - 1) // max(1, most - 1)] for number in range(max(1, most))]


def profile(store: Store, levels: Levels, then: AsOf = NOW) -> list[Statement]:
    """The statements of the profile over all windows, by the nodes and facts of `then`."""
    tops = _tops(store, levels.top, then)
    ids = sorted({one.fact for row in tops for one in row.statements if one.fact is not None})
    believed = {fact.id: fact for fact in store.facts.believed_then(ids, then)} if ids else {}
    return merged_profile(tops, believed, levels.zone)


def _stored(store: Store, level: int | None, between: Interval | None, then: AsOf) -> list[NodeRow]:
    if then.is_now:
        return store.tree.nodes(level, between)
    rows = store.tree.nodes_then(level, then)
    return [row for row in rows if between is None or row.interval.overlaps(between)]


def _tops(store: Store, level: int, then: AsOf) -> list[NodeRow]:
    """The nodes of the top level; of a window that went on after `as_of`, the statements that had been made by then."""
    rows = _stored(store, level, None, then)
    if then.as_of is None:
        return rows
    whole = {row.place.id for row in rows}
    every = _stored(store, level, None, replace(then, as_of=None))
    later = [one for one in every if one.place.id not in whole]
    turns = sorted({turn for row in later for one in row.statements for turn in one.turns})
    said = {turn.id: turn.said_at for turn in store.turns(ids=turns) if then.sees(turn)}
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


def _exchanges(store: Store, levels: Levels, between: Interval | None, then: AsOf) -> list[Node]:
    """Level 1: in a model's words where it has told it, else as it was said."""
    told = {row.place.id: row for row in _stored(store, EXCHANGE, None, then)}
    children = (
        one for turns in _sessions(store, between, then) for one in children_of_session(turns, levels)
    )
    found = [
        _exchange(child, told, levels)
        for child in children
        if between is None or child.interval.overlaps(between)
    ]
    return sorted(found, key=lambda node: (node.interval.start, node.id))


def _exchange(child: Child, told: Mapping[str, NodeRow], levels: Levels) -> Node:
    own, place = tuple(turn for one in child.statements for turn in one.turns), child.place
    row = told.get(place.id)
    text = row.text if row is not None and row.children == own else child.text
    return Node(place.id, EXCHANGE, child.interval, text, own, levels.name(EXCHANGE), place.parent, own)


def _sessions(store: Store, between: Interval | None, then: AsOf) -> Iterable[list[Turn]]:
    if between is None:
        by_session: dict[str, list[Turn]] = {}
        for turn in filter(then.sees, store.turns(between=then.said)):
            by_session.setdefault(turn.session, []).append(turn)
        return [in_order(turns) for turns in by_session.values()]
    # The exchanges of a session are cut from all of its turns, whatever is asked for.
    near = [
        one.id
        for one in store.sessions(then)
        if Interval(one.first, one.last).overlaps(between) or between.contains(one.first)
    ]
    return [in_order(filter(then.sees, store.turns(session=session))) for session in near]


def _node(row: NodeRow, levels: Levels) -> Node:
    at, name = row.place, levels.name(row.place.level)
    return Node(at.id, at.level, row.interval, row.text, row.children, name, at.parent, row.turns)
