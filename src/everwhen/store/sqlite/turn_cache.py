"""A cache of turns that were read recently, in the form that recall shows: a conversation often needs the same ones.

The row of a turn never changes, so an entry is valid until the turn is removed. Before each use this is checked:
SQLite says whether the file was written, and the bank's list of removals says what was removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.store.sql.rows import unit_of
from everwhen.store.sqlite.connection import SqliteSql
from everwhen.store.sqlite.index_loading import read_removals
from everwhen.types import UnitRow

MOST = 20_000
"""Rows kept, about 1 kB each; when there are more, all go, and those that are wanted come back."""


class TurnCache:
    """The cache of one connection, which only one caller uses at a time."""

    def __init__(self) -> None:
        self._rows: dict[int, UnitRow] = {}
        self._version = -1
        self._removed = 0
        self._epoch = ""

    def read(self, sql: SqliteSql, seqs: Sequence[int]) -> dict[int, UnitRow]:
        """The units with these numbers, in their order."""
        self._catch_up(sql)
        missing = [seq for seq in seqs if seq not in self._rows]
        found = {seq: self._rows[seq] for seq in seqs if seq in self._rows}
        if missing:
            rows = map(unit_of, sql.run("units", (missing,)))
            new = {row.seq: row for row in rows}
            found |= new
            if len(self._rows) + len(new) > MOST:
                self._rows = {}
            # What was derived may be given another source: only a turn is what it is.
            self._rows.update((seq, row) for seq, row in new.items() if row.kind == "turn")
        return {seq: found[seq] for seq in sorted(found)}

    def _catch_up(self, sql: SqliteSql) -> None:
        version = sql.raw.execute("PRAGMA data_version").fetchone()[0]
        if version == self._version:
            return
        gone, removed = read_removals(sql, self._removed, holding=bool(self._rows))
        epoch = str(sql.raw.execute("SELECT value FROM bank WHERE key = 'epoch'").fetchone())
        if gone is None or len(gone) or epoch != self._epoch:
            self._rows = {}
        self._version, self._removed, self._epoch = version, removed, epoch
