"""Adds what units are searched by, and removes units with all that refers to them; indexes elsewhere hear of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.store.sql.session import Sql

Vectors: TypeAlias = NDArray[np.float32]

_AT_ONCE = 1024
KEPT = 10_000
"""Removals that the bank remembers. An index that has not followed for longer reads everything again, which takes about
as long as to follow so many."""


def index_units(sql: Sql, vectors: Mapping[int, Vectors], terms: Mapping[int, bytes]) -> None:
    """Give units, by their numbers, the vectors of their pieces and their search terms."""
    pieces = [
        (unit, place, sql.vector(one)) for unit, rows in vectors.items() for place, one in enumerate(rows)
    ]
    sql.run_batch("insert_vector", pieces)
    sql.post_terms(terms)


def texts_of_units(sql: Sql) -> Iterator[list[tuple[int, str, str, str, bytes | None]]]:
    """Page by page, each unit with its speaker, its text, its context and the terms that are stored of it."""
    after = 0
    while page := sql.run("unit_terms", {"after": after, "page": _AT_ONCE}).fetchall():
        yield page
        after = page[-1][0]


def remove_units(sql: Sql, units: Iterable[int]) -> None:
    """Delete units, their words, vectors and provenance; what refers to them goes by its foreign keys."""
    listed = list(units)
    if listed:
        with sql.pipeline():
            sql.unpost(listed)
            sql.run("drop_all_links", {"units": listed})
            sql.run("delete_vectors", (listed,))
            sql.run("delete_unit_turns", (listed,))
            gone = sql.run("delete_units", (listed,))
        tell_changed(sql, [row[0] for row in gone])


def tell_changed(sql: Sql, units: Sequence[int]) -> None:
    """Let every index drop what it has of units, and read those again that are still there."""
    if units:
        with sql.pipeline():
            sql.run_batch("insert_removal", [(unit,) for unit in units])
            sql.run("drop_old_removals", (KEPT,))


def restart_turns(sql: Sql, turns: Sequence[int]) -> None:
    """Remove what was derived from turns (by seq), facts aside, and put them on the to-do list, with all that an event
    which goes rests on."""
    turns = [row[0] for row in sql.run("told_with", (list(turns),))]
    raw = [row[0] for row in sql.run("raw_units", (turns,))]
    remove_units(sql, [row[0] for row in sql.run("derived_from", (turns,))])
    with sql.pipeline():
        for name in ("drop_mentions", "drop_past_mentions", "drop_moments"):
            sql.run(name, (raw,))
        sql.run("drop_all_links", {"units": raw})
        for name in ("drop_extraction", "drop_failures", "drop_claims"):
            sql.run(name, (turns,))
