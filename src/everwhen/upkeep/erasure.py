"""Erasing turns and what was derived from them: the rows, inside the transaction of a `forget`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from everwhen.facts.changes import close_chains
from everwhen.facts.statements import folded
from everwhen.store.base import Store
from everwhen.store.maintenance import Eraser, ReembeddedTurn, RemovedUnits
from everwhen.tree.levels import Levels
from everwhen.types import Turn

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Removed:
    gone: RemovedUnits
    facts: tuple[str, ...]
    again: tuple[str, ...]
    texts: tuple[str, ...]
    nodes: tuple[str, ...] = ()
    until: datetime | None = None
    """The end of the last window that a node was taken from."""


def remove(
    eraser: Eraser,
    store: Store,
    turns: Sequence[Turn],
    near: Sequence[str],
    retold: Sequence[ReembeddedTurn],
    names: Sequence[str],
    facts: Sequence[str],
    levels: Levels,
    at: datetime,
) -> Removed:
    """The rows, inside the transaction."""
    ids = [turn.id for turn in turns]
    eraser.remember(ids, at)
    uprooted = eraser.uproot(ids, [levels.session(*one) for one in store.tree.told(ids)])
    lost = list(
        dict.fromkeys([*facts, *(eraser.facts_about([folded(name) for name in names]) if names else ())])
    )
    again = [*near, *(turn for sources in store.facts.sources(facts).values() for turn in sources)]
    for fact, left in eraser.uncite(ids).items():
        if fact in lost:
            continue
        if not left:
            lost.append(fact)
        elif eraser.is_only_learned(fact):
            lost.append(fact)  # what the other turns say of it is learned from them again
            again += [source for source in left if source not in again]
    again += eraser.told_with([*ids, *again])  # a plan's next version rests on the plan's turn as well
    lost += leaked_facts(eraser, store, turns, [one for one in again if one not in ids], lost)
    close_chains(eraser.facts, lost, at)
    texts = eraser.erase_facts(lost)
    staying = [one for one in dict.fromkeys(again) if one not in set(ids)]
    gone = eraser.remove(ids, staying, retold, reports=names)
    if uprooted.ids:
        eraser.mark([levels.session(*one) for one in store.tree.told(staying)])
    echo = _silence(eraser, store, turns, levels, at)
    return Removed(
        gone,
        (*lost, *echo.facts),
        tuple(dict.fromkeys((*staying, *echo.again))),
        (*texts, *gone.texts, *uprooted.texts, *echo.texts),
        (*uprooted.ids, *echo.nodes),
        max(filter(None, (uprooted.until, echo.until)), default=None),
    )


class _Echo(NamedTuple):
    facts: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    until: datetime | None = None


def _silence(eraser: Eraser, store: Store, turns: Sequence[Turn], levels: Levels, at: datetime) -> _Echo:
    """What is left and has a word in it that only the forgotten turns said, wherever it got it from: a model that was
    shown a summary of them, a name that was resolved. It goes too, and is made again from its own turns."""
    found = eraser.echoes(sorted(words(f"{turn.speaker} {turn.text}" for turn in turns)))
    if not found:
        return _Echo()
    # A fact is worded by us ("lives in"): only what its subject or object takes from nowhere else is an echo.
    named = [id_ for id_, kind, _ in found if kind == "fact"]
    facts = _borrowed(eraser, store, turns, store.facts.sources(named)) if named else []
    again = eraser.told_with(
        [turn for id_, kind, rest in found if kind != "fact" or id_ in facts for turn in rest]
    )
    under = [turn for _, kind, rest in found if kind == "node" for turn in rest]
    close_chains(eraser.facts, facts, at)
    texts = eraser.erase_facts(facts)
    uprooted = eraser.uproot(under, [levels.session(*one) for one in store.tree.told(under)])
    eraser.mark([levels.session(*one) for one in store.tree.told(again)])
    gone = eraser.remove((), list(dict.fromkeys(again)), ())
    return _Echo(
        tuple(facts), tuple(again), uprooted.ids, (*texts, *gone.texts, *uprooted.texts), uprooted.until
    )


def leaked_facts(
    eraser: Eraser, store: Store, turns: Sequence[Turn], again: Sequence[str], but: Sequence[str]
) -> list[str]:
    """Facts from turns that stay, but whose words come only from forgotten turns: "she" was resolved to a forgotten
    person. These turns are extracted again, and then say only what they say by themselves."""
    sources = store.facts.sources(store.facts.from_sources(again))
    return _borrowed(eraser, store, turns, {fact: said for fact, said in sources.items() if fact not in but})


def _borrowed(
    eraser: Eraser, store: Store, turns: Sequence[Turn], facts: Mapping[str, Sequence[str]]
) -> list[str]:
    """Those of some learned facts (with their sources) that have words of the forgotten turns which theirs lack."""
    gone = {turn.id for turn in turns}
    said = words(f"{turn.speaker} {turn.text}" for turn in turns)
    rest = [source for several in facts.values() for source in several if source not in gone]
    own = {turn.id: words([f"{turn.speaker} {turn.text}"]) for turn in store.turns(ids=rest)}
    found = []
    for fact, sources in facts.items():
        theirs = frozenset(word for source in sources for word in own.get(source, ()))
        if eraser.is_only_learned(fact) and (words([eraser.fact_words(fact)]) & said) - theirs:
            found.append(fact)
    return found


def words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))
