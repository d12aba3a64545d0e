"""Derived units made for tests, and the shortest way to write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from everwhen.store.rows import EventPart, Mention, NewUnit
from everwhen.store.sql.store import Store
from everwhen_time import Interval
from tests.conformance.turns import START, direction


def event(
    id: str,
    *turns: str,
    subject: str = "Ana",
    verb: str = "move",
    object_: str = "Porto",
    occurred: Interval | None = None,
    status: str = "happened",
    text: str = "",
    context: str = "",
    vectors: Any = None,
    **part: Any,
) -> NewUnit:
    given = {"polarity": 1, "quantity": "", "expression": "", "inferred": False, "aliases": (), **part}
    return NewUnit(
        id=id,
        kind="event",
        network="world",
        text=text or f"{subject} {verb} {object_}",
        context=context,
        occurred=occurred,
        turns=turns,
        vectors=np.stack([direction(0.0, 1.0)] if vectors is None else vectors),
        tokens=4,
        confidence=0.75,
        at=START,
        event=EventPart(subject=subject, verb=verb, object=object_, status=status, **given),
    )


def narrative(id: str, *turns: str, text: str = "what was told") -> NewUnit:
    return NewUnit(
        id=id,
        kind="narrative",
        network="world",
        text=text,
        context="",
        occurred=None,
        turns=turns,
        vectors=np.stack([direction(0.0, 0.0, 1.0)]),
        tokens=4,
        confidence=0.5,
        at=START,
    )


def write(store: Store, *units: NewUnit) -> dict[str, int]:
    """Write units as an extractor does, and take their turns off the to-do list; the seq of each id."""
    with store.graph.writing(store.info.model) as writer:
        seqs = writer.add_units(units, "rules", "1")
        writer.mark_done([turn for unit in units for turn in unit.turns], "rules", "1")
    return seqs


def raw(store: Store, *turns: str) -> list[int]:
    """The seqs of turns' own units."""
    with store.graph.writing(store.info.model) as writer:
        found = writer.unit_of_turns(turns)
    return [found[turn] for turn in turns]


def mention(store: Store, said: dict[str, list[str]], type_: str = "PERSON") -> dict[str, int]:
    """Have turns mention names, each of which is an entity of its own; the seq of each name."""
    known: dict[str, int] = {}
    with store.graph.writing(store.info.model) as writer:
        units = writer.unit_of_turns(list(said))
        for turn, names in said.items():
            for name in names:
                if name not in known:
                    known[name] = writer.add_entity(name, type_)
                writer.mention([Mention(units[turn], known[name], name, type_)])
    return known


def entity(store: Store, name: str) -> str:
    """The id of the entity with a name."""
    (found,) = [one.id for one in store.graph.entities() if one.name == name]
    return found
