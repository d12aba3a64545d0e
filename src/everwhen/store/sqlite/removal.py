"""Taking units out of a bank, with all that hangs on them; other processes' indexes hear of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from everwhen.store.sqlite.statements import statements


def remove_units(sql: sqlite3.Connection, units: Iterable[int]) -> None:
    """Delete units, their words, vectors and provenance; what refers to them goes by its foreign keys."""
    ask = statements()
    for unit in units:
        words = sql.execute(ask["unit_text"], (unit,)).fetchone()
        if words is None:
            continue
        sql.execute(ask["delete_fts"], (unit, *words))
        sql.execute(ask["delete_vectors"], (unit,))
        sql.execute(ask["delete_unit_turns"], (unit,))
        sql.execute(ask["delete_unit"], (unit,))
        sql.execute(ask["insert_removal"], (unit,))
