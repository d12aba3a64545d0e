"""A search's filter as conditions of SQL, made of the fragments in `search.sql`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.store.postgres.statements import statements
from everwhen.store.search import Filter, SaidBy
from everwhen.store.terms import label_key
from everwhen.types.instants import to_text


def fragment(name: str, **parts: object) -> str:
    """A part of a statement, with its own parts filled in."""
    return statements().text(name, tuple((key, str(part)) for key, part in parts.items()))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a row of `units` or `vectors` must meet, and the values that the conditions name."""

    names: tuple[str, ...]
    values: Mapping[str, Any]

    @classmethod
    def of(cls, where: Filter, with_metadata: Callable[[dict[str, Any]], NDArray[np.int64]]) -> Conditions:
        """The conditions of a filter. Which units have the wanted metadata is looked up: only Python can tell."""
        between, nodes = where.between, wants_nodes(where)
        start, end = (between.start, between.end) if between else (None, None)
        values: dict[str, Any] = {
            "start": _text(start),
            "end": _text(end),
            "known_at": _text(where.known_at),
            "kinds": None if where.kinds is None else sorted(where.kinds),
            "networks": None if where.networks is None else sorted(where.networks),
            "allowed": with_metadata(dict(where.metadata)) if where.metadata else None,
        }
        given = {key for key, value in values.items() if value is not None}
        names = {
            "passes_start": "start" in given,
            "passes_end": "end" in given,
            "passes_known": "known_at" in given,
            "passes_kinds": "kinds" in given,
            "passes_networks": "networks" in given,
            "passes_units": "allowed" in given,
            "passes_reach": start is not None and nodes,
            "passes_no_nodes": not nodes,
        }
        return cls(tuple(name for name, wanted in names.items() if wanted), values)

    def text(self, row: str, unit: str, *, kinds: bool = True) -> str:
        """For a table of that alias, whose column says the unit; without `kinds` those of any kind pass."""
        names = [name for name in self.names if kinds or name != "passes_kinds"]
        return " ".join(fragment(name, row=row, unit=unit) for name in ("passes_seen", *names))


def wants_nodes(where: Filter) -> bool:
    """Whether nodes of the tree may be found: most questions are not put to them."""
    return where.kinds is None or "node" in where.kinds


def said_by(who: SaidBy, place: int, speakers: frozenset[str]) -> tuple[str, dict[str, Any]]:
    """The condition that some have said it, with its values. A name is meant in whatever case it was written."""
    if who.role is not None:
        return fragment("said_by_role", row="v", place=place), {f"role{place}": who.role}
    meant = {label_key(name) for name in who.speakers}
    spelled = sorted(name for name in speakers if label_key(name) in meant)
    return fragment("said_by_speakers", row="v", place=place), {f"speakers{place}": spelled}


def _text(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)
