"""The profile: dated statements with their support, updated window by window.

Each node of the top level holds the statements of its own window. The profile merges those nodes in order of time: a
repeated statement gains support and a later date, a new one is added, and one that the fact store knows to have ended
gets its end date. So a late turn changes one window only, and the result does not depend on the order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from everwhen.store.rows import FactRow, NodeRow
from everwhen.tree.base import Task
from everwhen.tree.node_wording import day
from everwhen.tree.sentence_weights import weighed
from everwhen.types import Statement
from everwhen.types.relations import in_words
from everwhen_time.zones import zone_of

PASSING = ("plans",)
"""Predicates of what is over once it is done: no part of who somebody is."""
SAME = 0.75
"""The share of common words (of all words of both) from which a statement says what an earlier one said."""


def learned(task: Task) -> list[Statement]:
    """The facts supported by a window, as statements: most support first, then the newest."""
    from everwhen.tree.extractive import outdated

    past = {fact.id for fact in outdated(task.facts, task.place.end)}
    found = []
    for fact in task.facts:
        turns = tuple(turn for turn in task.sources.get(fact.id, ()) if turn in task.said)
        if fact.id in past or not turns or fact.predicate in PASSING:
            continue
        turns = tuple(sorted(turns, key=lambda turn: (task.said[turn], len(turn), turn)))
        first, last = task.said[turns[0]], task.said[turns[-1]]
        one = Statement("", fact.subject, first, last, len(turns), turns, fact.id)
        words = in_words(fact.subject, fact.predicate, fact.object)
        found.append(replace(one, text=f"{words} ({_support(one, task.zone)})"))
    return sorted(found, key=lambda one: (-one.support, -one.last.timestamp(), one.text))


def _support(one: Statement, zone: str) -> str:
    area = zone_of(zone)
    first, last = day(one.first, area), day(one.last, area)
    if one.support == 1 or first == last:
        return first if one.support == 1 else f"{first}, said {one.support} times"
    return f"{first} to {last}, said {one.support} times"


def merged_profile(nodes: Iterable[NodeRow], facts: Mapping[str, FactRow], zone: str) -> list[Statement]:
    """The profile by the nodes of the top level in the order of time, those with most support first.

    `facts` are those that the nodes name and that are still believed; what was retracted or corrected since is left
    out. A sentence that was quoted is part of the profile when it tells of something lasting, or was said again; where
    there is nothing of that kind, all that the nodes say is.
    """
    known: dict[str, Statement] = {}
    told: list[Statement] = []
    written: set[str] = set()
    for node in nodes:
        for one in node.statements:
            if one.fact is None:
                _refine(told, one)
                if node.consolidator != "extractive":
                    written.add(one.text)
            elif one.fact in facts:
                before = known.get(one.fact)
                known[one.fact] = one if before is None else _together(before, one)
    stated = [_as_believed(one, facts[id_], zone) for id_, one in known.items()]
    kept = [one for one in told if one.support > 1 or one.text in written or weighed(one.text).lasting]
    return [*_ordered(stated), *_ordered(kept if kept or stated else told)]


def _as_believed(one: Statement, fact: FactRow, zone: str) -> Statement:
    """A fact's statement over all windows, with the end that it has come to."""
    until = f"; until {day(fact.valid_to, zone_of(fact.zone or zone))}" if fact.valid_to else ""
    words = in_words(fact.subject, fact.predicate, fact.object, ended=fact.valid_to is not None)
    return replace(one, text=f"{words} ({_support(one, zone)}{until})", ended=fact.valid_to)


def _refine(told: list[Statement], one: Statement) -> None:
    """Let a statement stand for an earlier one that says the same, or add it."""
    terms = weighed(one.text).terms
    for place, before in enumerate(told):
        others = weighed(before.text).terms
        if any(term[0].isdigit() for term in terms ^ others):
            continue  # another date or amount is another thing
        if before.speaker == one.speaker and len(terms & others) >= SAME * max(1, len(terms | others)):
            told[place] = replace(_together(before, one), text=one.text)
            return
    told.append(one)


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
