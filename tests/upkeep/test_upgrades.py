"""A new bank is made at once; a bank of a newer schema is refused."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from everwhen import EverwhenError, Memory, Refused
from everwhen.store.sqlite import connection
from everwhen.store.sqlite.connection import SCHEMA, migrations


def test_a_new_bank_is_made_at_once_or_not_at_all(home: Path) -> None:
    path = home / "banks" / "new.db"
    steps = [(number, name, [*script, "CREATE TABLE nothing"]) for number, name, script in migrations()]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(EverwhenError, match="the database says"):
        patch.setattr(connection, "migrations", lambda: steps)
        Memory.open(home, "new", embedder="fake", reader="none", cache_entries=0)
    assert not path.exists()
    with Memory.open(home, "new", embedder="fake", reader="none", cache_entries=0) as memory:
        assert memory.stats().schema == SCHEMA and memory.doctor() == []
    with closing(sqlite3.connect(path)) as sql:
        assert [row[0] for row in sql.execute("SELECT version FROM migrations")] == [
            number for number, _, _ in migrations()
        ]


def test_a_bank_of_a_newer_everwhen_is_refused_with_a_sentence_and_left_as_it_is(home: Path) -> None:
    path = home / "banks" / "newer.db"
    with Memory.open(home, "newer", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add("one cat")
    with closing(sqlite3.connect(path)) as sql, sql:
        sql.execute("INSERT INTO migrations VALUES (?, 'later', '')", (SCHEMA + 1,))
    before = path.read_bytes()
    with pytest.raises(
        Refused, match=r"newer everwhen \(schema \d+, this one knows \d+\).*pip install --upgrade"
    ):
        Memory.open(home, "newer")
    assert path.read_bytes() == before
