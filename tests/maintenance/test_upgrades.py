"""Banks of every schema that there was migrate to the newest; a bank of a newer one is refused."""

from __future__ import annotations

import lzma
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from everwhen import Memory, Refused
from everwhen.store.sqlite.connection import SCHEMA
from everwhen.store.sqlite.statements import migrations
from tests.maintenance.make_schemas import SAID, START, path_of

VERSIONS = [number for number, _, _ in migrations()]


def placed(home: Path, version: int) -> Path:
    path = home / "banks" / "old.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(lzma.decompress(path_of(version).read_bytes()))
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_a_bank_of_every_schema_is_brought_to_the_newest(home: Path, version: int) -> None:
    assert path_of(version).exists(), (
        "python -m tests.maintenance.make_schemas writes the fixture of a new schema"
    )
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


def test_an_export_of_an_older_schema_is_imported_into_the_newest(home: Path, tmp_path: Path) -> None:
    from everwhen.maintenance.export import _write
    from everwhen.store.sqlite.snapshot import snapshot

    path = placed(home, 3)
    with snapshot(path, 5.0) as old, (tmp_path / "old.jsonl").open("wb") as stream:
        _write(stream, old, True, None)
    with Memory.open(home, "new", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.import_(tmp_path / "old.jsonl")
        assert [turn.text for turn in memory.turns()] == list(SAID) and memory.doctor() == []


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
