"""Taking units out of a bank, with all that hangs on them; other processes' indexes hear of it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

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


def restart_turns(sql: sqlite3.Connection, turns: Sequence[int]) -> None:
    """Remove what was derived from turns (by seq), facts aside, and put them on the to-do list."""
    ask = statements()
    found = sql.execute(ask["derived_from"], (json.dumps(list(turns)),)).fetchall()
    remove_units(sql, [row[0] for row in found])
    for name in ("drop_turn_mentions", "drop_turn_moment", "drop_extraction", "drop_failures", "drop_claim"):
        sql.executemany(ask[name], [(turn,) for turn in turns])
    sql.executemany(ask["drop_turn_links"], [{"turn": turn} for turn in turns])
