"""Removes units with everything that refers to them, and notifies the search indexes of other processes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from everwhen.store.sqlite.statements import statements

KEPT = 10_000
"""Removals that the bank remembers. An index that has not followed for longer reads everything again, which takes about
as long as to follow so many."""


def remove_units(sql: sqlite3.Connection, units: Iterable[int]) -> None:
    """Delete units, their words, vectors and provenance; what refers to them goes by its foreign keys."""
    ask = statements()
    gone = []
    for unit in units:
        sql.execute(ask["delete_vectors"], (unit,))
        sql.execute(ask["delete_unit_turns"], (unit,))
        if sql.execute(ask["delete_unit"], (unit,)).rowcount:
            gone.append(unit)
    tell_changed(sql, gone)


def tell_changed(sql: sqlite3.Connection, units: Sequence[int]) -> None:
    """Let every index drop what it has of units, and read those again that are still there."""
    if units:
        sql.executemany(statements()["insert_removal"], [(unit,) for unit in units])
        sql.execute(statements()["drop_old_removals"], (KEPT,))


def restart_turns(sql: sqlite3.Connection, turns: Sequence[int]) -> None:
    """Remove what was derived from turns (by seq), facts aside, and put them on the to-do list, with all that an event
    which goes rests on."""
    ask = statements()
    turns = [row[0] for row in sql.execute(ask["told_with"], (json.dumps(list(turns)),))]
    found = sql.execute(ask["derived_from"], (json.dumps(list(turns)),)).fetchall()
    remove_units(sql, [row[0] for row in found])
    for name in (
        "drop_turn_mentions",
        "drop_past_mentions",
        "drop_turn_moment",
        "drop_extraction",
        "drop_failures",
        "drop_claim",
    ):
        sql.executemany(ask[name], [(turn,) for turn in turns])
    sql.executemany(ask["drop_turn_links"], [{"turn": turn} for turn in turns])
