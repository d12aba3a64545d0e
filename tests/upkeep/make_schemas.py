"""Makes the fixture bank of a schema version: `python -m tests.upkeep.make_schemas` writes those that are missing.

A fixture is a bank as that version's everwhen left it: its tables alone, filled from a small bank of today as far as
that version knew of it. Once written it is never made again: it stands for the files that people have.
"""

from __future__ import annotations

import lzma
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from everwhen import Memory
from everwhen.store.sqlite.connection import SqliteConnection, migrate
from everwhen.store.sqlite.statements import migrations

FOLDER = Path(__file__).parent / "schemas"
START = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
SAID = (
    "I moved to Porto in May.",
    "How is the flat?",
    "My brother Tom works at Acme.",
    "I bought a bicycle yesterday.",
)


def path_of(version: int) -> Path:
    return FOLDER / f"{version:04}.db.xz"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        full = _full(Path(folder))
        for version, _, _ in migrations():
            if not path_of(version).exists():
                old = Path(folder) / f"{version}.db"
                _as_of(full, old, version)
                path_of(version).write_bytes(lzma.compress(old.read_bytes(), preset=9))


def _full(home: Path) -> Path:
    with Memory.open(home, "full", embedder="fake", reader="none", cache_entries=0) as memory:
        for number, text in enumerate(SAID):
            said = {"name": ("Ana", "Ben")[number % 2], "content": text, "id": f"t{number}"}
            memory.add({**said, "timestamp": (START + timedelta(hours=number)).isoformat()}, session="s")
        memory.facts.assert_("Ana", "likes", "tea", at=START, valid_from=START, source="t0")
        memory.recall("Porto")
        memory.consolidate(now="end")
    return home / "banks" / "full.db"


def _as_of(full: Path, old: Path, version: int) -> None:
    """A bank with the tables of a version, and of the full one's rows those that they can hold."""
    connection = SqliteConnection(old, busy_seconds=5)
    migrate(connection, to=version)
    connection.close()
    sql = sqlite3.connect(old, isolation_level=None)
    sql.execute("ATTACH ? AS today", (str(full),))
    names = [
        row[0]
        for row in sql.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")
        if not row[0].startswith(("unit_fts", "sqlite_")) and row[0] != "migrations"
    ]
    kinds = ["turn", *(["fact"] if version >= 2 else []), *(["event", "narrative"] if version >= 3 else [])]
    kinds += ["node"] if version >= 6 else []
    mine = f"(SELECT seq FROM today.units WHERE kind IN {(*kinds, '')})"
    for name in names:
        columns = ", ".join(row[1] for row in sql.execute(f"PRAGMA main.table_info({name})"))
        place = "seq" if name == "units" else "unit" if "unit" in columns.split(", ") else None
        where = f"WHERE {place} IN {mine}" if place else ""
        sql.execute(
            f"INSERT OR REPLACE INTO main.{name} ({columns}) SELECT {columns} FROM today.{name} {where}"
        )
    if version < 6:
        sql.execute("DELETE FROM bank WHERE key LIKE 'tree%'")
    sql.execute("DETACH today")
    if version < 12:
        sql.execute("INSERT INTO unit_fts (unit_fts) VALUES ('rebuild')")
    sql.execute("VACUUM")
    sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sql.close()


if __name__ == "__main__":
    main()
