"""A damaged, locked, full, read-only or newer file: one sentence with the fix, and nothing half-written."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from everwhen.errors import Damaged, NotFound, Refused, Unavailable
from everwhen.store.rows import Filter
from everwhen.store.sqlite import SqliteStore
from everwhen.store.sqlite.connection import SCHEMA
from tests.conformance.finding import by_words
from tests.conformance.turns import DIMENSION, turn


def opened(folder: Path, **changes: object) -> SqliteStore:
    arguments: dict[str, object] = {"embedder": "fake", "dimension": DIMENSION, "zone": "UTC", **changes}
    return SqliteStore.open(folder / "alice.db", **arguments)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    store = opened(tmp_path)
    store.append([turn("a", "kept")])
    store.close()
    yield tmp_path


def test_a_locked_bank_says_so_and_keeps_what_it_had(folder: Path) -> None:
    store = opened(folder, busy_seconds=0.1)
    other = sqlite3.connect(folder / "alice.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match=r"'alice' is locked.*committed before is kept"):
        store.append([turn("b")])
    other.execute("ROLLBACK")
    assert store.append([turn("b")]) == [True]
    store.close()


def test_a_full_disk_writes_nothing_of_the_batch(folder: Path) -> None:
    store = opened(folder)
    with store._file.use() as sql:
        pages = sql.raw.execute("PRAGMA page_count").fetchone()[0]
        sql.raw.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(Unavailable, match="disk that holds bank 'alice' is full"):
        store.append([turn(f"big{i}", "x" * 4000) for i in range(20)])
    with store._file.use() as sql:
        sql.raw.execute("PRAGMA max_page_count = 100000")
    assert [found.id for found in store.turns()] == ["a"]
    assert store.append([turn("b")]) == [True]
    assert store.check() == []
    store.close()


def test_a_read_only_bank_is_refused_with_the_file_to_change(folder: Path) -> None:
    store = opened(folder)
    if os.geteuid() == 0:  # root may write everything: let SQLite itself refuse
        with store._file.use() as sql:
            sql.raw.execute("PRAGMA query_only = ON")
    else:
        store.close()
        (folder / "alice.db").chmod(0o400)
        store = opened(folder)
    with pytest.raises(Refused, match=r"cannot be written: make .*alice.db"):
        store.append([turn("b")])
    store.close()


def test_a_file_that_is_no_database_is_named_as_damaged_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "alice.db"
    path.write_bytes(b"this is not a database, it is a letter to my aunt" * 50)
    before = path.read_bytes()
    with pytest.raises(Damaged, match="'alice' is damaged"):
        opened(tmp_path)
    assert path.read_bytes() == before


def test_a_torn_page_is_found_by_the_doctor_or_by_reading(folder: Path) -> None:
    path = folder / "alice.db"
    with sqlite3.connect(path) as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = sql.execute("SELECT rootpage FROM sqlite_master WHERE name = 'turns'").fetchone()[0]
    sql.close()
    content = bytearray(path.read_bytes())
    start = (root - 1) * 4096
    content[start : start + 4096] = os.urandom(4096)
    path.write_bytes(content)
    store = opened(folder)
    try:
        problems = [finding.problem for finding in store.check()]
    except Damaged as error:
        problems = [str(error)]
    assert any("damaged" in problem for problem in problems)
    store.close()


def test_a_newer_schema_is_refused_with_the_way_to_upgrade(folder: Path) -> None:
    with sqlite3.connect(folder / "alice.db") as sql:
        sql.execute("INSERT INTO migrations VALUES (?, 'future', '')", (SCHEMA + 1,))
    sql.close()
    with pytest.raises(Refused, match=r"newer everwhen.*pip install --upgrade everwhen"):
        opened(folder)


def test_another_embedder_is_refused_with_the_command_that_changes_it(folder: Path) -> None:
    with pytest.raises(
        Refused, match=r"embedded with fake .*everwhen bank reembed alice --model conversation-1"
    ):
        opened(folder, embedder="conversation-1", dimension=384)


def test_an_unknown_bank_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there is no bank 'alice'"):
        opened(tmp_path, create=False)
    assert not (tmp_path / "alice.db").exists()


def test_files_belong_to_their_owner_alone(folder: Path) -> None:
    store = opened(folder)
    store.append([turn("b")])
    files = sorted(folder.glob("alice.db*"))
    assert [path.name for path in files] == ["alice.db", "alice.db-shm", "alice.db-wal"]
    for path in files:
        assert path.stat().st_mode & 0o077 == 0, path
    store.close()


def test_the_doctor_mends_what_is_derived(folder: Path) -> None:
    with sqlite3.connect(folder / "alice.db") as sql:
        sql.execute("UPDATE units SET terms = x''")
    sql.close()
    store = opened(folder)
    assert {finding.check for finding in store.check()} == {"terms"}
    assert all(finding.fixed for finding in store.check(fix=True))
    assert store.check() == []
    assert [hit.unit for hit in by_words(store, "kept", 5, Filter())] == [1]
    store.close()


def test_the_doctor_reports_a_missing_vector_and_does_not_invent_one(folder: Path) -> None:
    store = opened(folder)
    store.append([turn("b")])
    with store._file.transaction() as sql:
        sql.raw.execute("UPDATE units SET pieces = 2 WHERE id = 'b'")
    assert "units lack a vector" in " ".join(finding.problem for finding in store.check(fix=True))
    store.close()


def test_an_empty_file_is_no_bank_to_read_and_a_foreign_database_is_left_alone(folder: Path) -> None:
    (folder / "alice.db").write_bytes(b"")
    with pytest.raises(Damaged, match="is empty"):
        opened(folder, create=False)
    with sqlite3.connect(folder / "bob.db") as sql:
        sql.execute("CREATE TABLE contacts (name)")
    sql.close()
    with pytest.raises(Damaged, match="another program's database"):
        SqliteStore.open(folder / "bob.db", embedder="fake", dimension=DIMENSION, zone="UTC")


def test_writing_into_a_removed_bank_is_refused(folder: Path) -> None:
    store = opened(folder)
    for file in folder.glob("alice.db*"):
        file.unlink()
    with pytest.raises(Unavailable, match="was removed"):
        store.append([turn("b")])
    store.close()


def test_a_writer_with_another_model_than_the_banks_is_refused(folder: Path) -> None:
    stale, other = opened(folder), opened(folder)
    other.replace_vectors("conversation-1", 384, {"a": np.ones((1, 384), dtype=np.float32) / 384**0.5})
    with pytest.raises(Refused, match="was given the vectors of conversation-1 meanwhile"):
        stale.append([turn("b")])
    assert other.check() == []
    stale.close()
    other.close()


def test_a_bank_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> int:
        raise Unavailable("no model")

    with pytest.raises(Unavailable):
        opened(tmp_path, dimension=fails)
    assert list(tmp_path.iterdir()) == []


def test_a_bank_can_be_read_without_its_model(folder: Path) -> None:
    def never() -> int:
        raise AssertionError("the model was asked")

    store = opened(folder, dimension=never)
    assert [found.text for found in store.turns()] == ["kept"]
    store.close()


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("UPDATE units SET mentioned_at = '2001-01-01T00:00:00.000000Z'", "rows"),
        ("UPDATE units SET id = 'z'", "rows"),
        ("UPDATE turns SET said_at = 'yesterday'", "rows"),
        ("UPDATE turns SET metadata = '{'", "rows"),
        ("UPDATE turns SET zone = 'Moon/Sea'", "rows"),
        ("UPDATE units SET pieces = 0; DELETE FROM vectors", "vectors"),
        ("UPDATE vectors SET vector = zeroblob(32)", "vectors"),
        ("UPDATE vectors SET vector = x'00'", "vectors"),
        ("UPDATE units SET terms = x'00'", "terms"),
        ("DELETE FROM unit_turns", "provenance"),
        ("DELETE FROM vectors; DELETE FROM unit_turns; DELETE FROM units", "units"),
    ],
)
def test_the_doctor_finds_what_was_broken_by_hand(folder: Path, damage: str, check: str) -> None:
    sql = sqlite3.connect(folder / "alice.db")
    sql.executescript(damage)
    sql.close()
    store = opened(folder)
    assert check in {finding.check for finding in store.check()}
    store.close()


def test_the_doctor_is_calm_while_others_write(folder: Path) -> None:
    store, stop = opened(folder), threading.Event()

    def write() -> None:
        other, number = opened(folder), 0
        while not stop.is_set():
            number += 1
            other.append([turn(f"w{number}")])
        other.close()

    writer = threading.Thread(target=write)
    writer.start()
    findings = [finding for _ in range(20) for finding in store.check()]
    stop.set()
    writer.join()
    assert findings == []
    store.close()


def test_a_bank_on_a_read_only_volume_can_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlite3.connect(folder / "alice.db") as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sql.close()
    monkeypatch.setattr("everwhen.store.sqlite.store.is_writable", lambda path: False)
    store = opened(folder)
    assert [found.text for found in store.turns()] == ["kept"]
    assert len(by_words(store, "kept", 5, Filter())) == 1
    with pytest.raises(Refused, match="cannot be written"):
        store.append([turn("b")])
    store.close()
