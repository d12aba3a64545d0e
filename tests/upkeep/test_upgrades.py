"""Banks of every schema that there was migrate to the newest; a bank of a newer one is refused."""

from __future__ import annotations

import lzma
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from everwhen import EverwhenError, Memory, Refused
from everwhen.store.sqlite import connection
from everwhen.store.sqlite.connection import SCHEMA
from everwhen.store.sqlite.statements import migrations
from tests.upkeep.make_schemas import SAID, START, path_of

VERSIONS = [number for number, _, _ in migrations()]


def placed(home: Path, version: int) -> Path:
    path = home / "banks" / "old.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(lzma.decompress(path_of(version).read_bytes()))
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_a_bank_of_every_schema_is_brought_to_the_newest(home: Path, version: int) -> None:
    assert path_of(version).exists(), "python -m tests.upkeep.make_schemas writes the fixture of a new schema"
    path = placed(home, version)
    with Memory.open(home, "old", cache_entries=0) as memory:
        assert memory.stats().schema == SCHEMA
        assert [turn.text for turn in memory.turns()] == list(SAID)
        assert memory.turns()[0].said_at == START
        memory.process()  # what that version did not know of is made now
        assert memory.events() and memory.entities()
        if version >= 2:
            (fact,) = memory.facts.as_of(START + timedelta(days=1), "Ana", "likes")
            assert fact.object == "tea" and fact.sources == ("t0",)
        memory.consolidate(now="end")
        assert memory.tree(level=3)
        assert memory.recall("bicycle").memories
        assert memory.doctor() == []
        memory.add("and life goes on")
        assert memory.forget(turns="t0").erased
        assert memory.doctor() == []
    versions = {row[0] for row in sqlite3.connect(path).execute("SELECT version FROM migrations")}
    assert versions == set(VERSIONS)


@pytest.mark.parametrize(("version", "left"), [(0, set()), (3, {1, 2, 3, 4})], ids=["new", "old"])
def test_a_new_bank_is_made_at_once_and_an_old_one_keeps_the_steps_that_it_took(
    home: Path, version: int, left: set[int]
) -> None:
    path = placed(home, version) if version else home / "banks" / "old.db"
    steps = [
        (number, name, script if number < 5 else ["CREATE TABLE nothing", *script])
        for number, name, script in migrations()
    ]
    with pytest.MonkeyPatch.context() as patch, pytest.raises(EverwhenError, match="the database says"):
        patch.setattr(connection, "migrations", lambda: steps)
        Memory.open(home, "old", embedder="fake", reader="none", cache_entries=0)
    with closing(sqlite3.connect(path)) as sql:
        tables = {name for (name,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        taken = {row[0] for row in sql.execute("SELECT version FROM migrations")} if tables else set()
    assert taken == left and ("turns" in tables) == bool(left)
    with Memory.open(home, "old", embedder="fake", reader="none", cache_entries=0) as memory:
        assert memory.stats().schema == SCHEMA and memory.doctor() == []


def test_a_bank_of_a_newer_everwhen_is_refused_with_a_sentence_and_left_as_it_is(home: Path) -> None:
    path = placed(home, VERSIONS[0])
    with sqlite3.connect(path) as sql:
        sql.execute("INSERT INTO migrations VALUES (?, 'later', '')", (SCHEMA + 1,))
    sql.close()
    before = path.read_bytes()
    with pytest.raises(
        Refused, match=r"newer everwhen \(schema \d+, this one knows \d+\).*pip install --upgrade"
    ):
        Memory.open(home, "old")
    assert path.read_bytes() == before
