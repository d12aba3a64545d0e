"""Nothing of a deleted row is left in a file, wherever SQLite had moved it before; and nothing else is touched."""

from __future__ import annotations

import random
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from everwhen.store.files.sqlite_wipe import can_be_wiped, open_files, wipe_slack
from everwhen.store.sqlite import SqliteStore
from everwhen.store.sqlite.connection import SqliteConnection
from tests.conformance.turns import DIMENSION, turn

TABLES = {
    "rows by number": "CREATE TABLE t (seq INTEGER PRIMARY KEY, body TEXT)",
    "rows in an index": "CREATE TABLE t (seq INTEGER PRIMARY KEY, body TEXT); CREATE INDEX i ON t (body)",
    "rows without a number": "CREATE TABLE t (body TEXT, seq INTEGER, PRIMARY KEY (body, seq)) WITHOUT ROWID",
}
MARK = re.compile(rb"<\d{6}\.[0-9a-f]{8}>")


def body(number: int, chance: random.Random) -> str:
    """Marks that occur nowhere else; long ones need pages of their own."""
    count = chance.choice((1, 2, 4, 8, 20, 60, 300 if chance.random() < 0.2 else 10))
    return "".join(f"<{number:06}.{chance.getrandbits(32):08x}>" for _ in range(count))


def marks(raw: bytes) -> set[bytes]:
    return set(MARK.findall(raw))


@pytest.mark.parametrize(
    ("table", "page_size"), [*((table, 4096) for table in TABLES), ("rows in an index", 65536)]
)
def test_no_mark_of_a_deleted_or_changed_row_is_left_in_any_page(
    tmp_path: Path, table: str, page_size: int
) -> None:
    chance = random.Random(f"{table}{page_size}")
    path = tmp_path / "t.db"
    sql = sqlite3.connect(path, isolation_level=None)
    for pragma in (
        f"page_size = {page_size}",
        "journal_mode = WAL",
        "synchronous = OFF",
        "secure_delete = ON",
    ):
        sql.execute(f"PRAGMA {pragma}")
    sql.executescript(TABLES[table])
    living: dict[int, str] = {}
    sql.execute("BEGIN")
    for number in range(4000):
        act, seqs = chance.random(), list(living)
        if number < 1200 or act < 0.4 or not seqs:
            living[number] = body(number, chance)
            sql.execute("INSERT INTO t (seq, body) VALUES (?, ?)", (number, living[number]))
        elif act < 0.8:
            seq = chance.choice(seqs)
            sql.execute("DELETE FROM t WHERE seq = ?", (seq,))
            del living[seq]
        else:
            seq = chance.choice(seqs)
            living[seq] = body(number, chance)
            sql.execute("UPDATE t SET body = ? WHERE seq = ?", (living[seq], seq))
    sql.execute("COMMIT")
    sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sql.close()
    alive = marks("".join(living.values()).encode())
    if not marks(path.read_bytes()) - alive:
        pytest.skip(f"SQLite {sqlite3.sqlite_version} leaves nothing here")

    with path.open("rb+", buffering=0) as file:
        assert can_be_wiped(file)
        wipe_slack(file)

    assert marks(path.read_bytes()) <= alive
    sql = sqlite3.connect(path)
    assert sql.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert dict(sql.execute("SELECT seq, body FROM t")) == living
    sql.close()


def test_a_file_whose_pages_cannot_be_told_apart_is_not_wiped(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as sql:
        sql.execute("PRAGMA auto_vacuum = FULL")
        sql.execute("CREATE TABLE t (body)")
    sql.close()
    with path.open("rb+", buffering=0) as file:
        assert not can_be_wiped(file)


def test_a_damaged_page_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as sql:
        sql.execute("CREATE TABLE t (body)")
        sql.execute("INSERT INTO t VALUES ('kept')")
    sql.close()
    raw = bytearray(path.read_bytes())
    raw[4096 + 3 : 4096 + 7] = b"\xff\xff\x00\x09"  # more cells than a page has room for
    path.write_bytes(raw)
    with path.open("rb+", buffering=0) as file:
        wipe_slack(file)
    assert path.read_bytes()[4096:] == raw[4096:]


def opened(path: Path) -> SqliteStore:
    return SqliteStore.open(path, embedder="fake", dimension=DIMENSION, zone="UTC")


@pytest.mark.parametrize("seed", range(2))
def test_no_byte_of_a_forgotten_turn_is_left_however_much_was_moved_about_before(
    tmp_path: Path, seed: int
) -> None:
    """SQLite moves rows from page to page as others come and go; each word here is said in one turn alone."""
    chance = random.Random(seed)
    store = opened(tmp_path / "b.db")
    said: dict[str, list[str]] = {}
    for round_ in range(5):
        new = {
            f"t{round_}x{number}": [
                f"w{chance.getrandbits(60):x}q" for _ in range(chance.choice((1, 2, 5, 10, 30, 300)))
            ]
            for number in range(120)
        }
        store.append(
            [turn(id_, " ".join(words), session=words[0], note=words[-1]) for id_, words in new.items()]
        )
        said |= new
        gone = chance.sample(sorted(said), 70)
        with store.keep.forgetting() as eraser:
            eraser.remove(gone, (), ())
        assert store.jobs.scrubbing.run()
        forgotten = {word.encode() for id_ in gone for word in said.pop(id_)}
        left = {
            word for file in tmp_path.iterdir() for word in re.findall(rb"w[0-9a-f]+q", file.read_bytes())
        }
        assert not left & forgotten
    assert {one.id: one.text for one in store.turns()} == {
        id_: " ".join(words) for id_, words in said.items()
    }
    assert store.check() == []
    store.close()


TAKE = """
import sqlite3, sys
sql = sqlite3.connect(sys.argv[1], timeout=0)
try:
    print(sql.execute("PRAGMA journal_mode = DELETE").fetchone()[0])
except sqlite3.OperationalError as error:
    print(error)
"""


def test_scrubbing_does_not_give_up_the_locks_on_the_file(tmp_path: Path) -> None:
    """A process that closes any handle of a file loses all its locks on it: others could then take the log away."""
    store = opened(tmp_path / "b.db")
    store.append([turn("a")])
    assert store.jobs.scrubbing.run() and store.jobs.scrubbing.run()
    command = [sys.executable, "-c", TAKE, str(store.path)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "locked" in told, told
    store.close()
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert told.strip() == "delete"


def test_our_handle_is_closed_with_the_last_connection_and_not_before(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "b.db"), opened(tmp_path / "b.db")
    assert one.jobs.scrubbing.run()
    third = SqliteConnection(tmp_path / "b.db", busy_seconds=1)
    handle = open_files.handle(third.file, third.path)
    one.close()
    one.close()
    other.close()
    assert not handle.closed
    third.close()
    assert handle.closed


@pytest.mark.parametrize("first", ["who scrubbed", "somebody else"])
def test_a_page_in_somebodys_cache_does_not_bring_the_slack_back(tmp_path: Path, first: str) -> None:
    """Pages are written whole: whoever changes a row writes the slack of its own copy of the page too."""
    path = tmp_path / "b.db"
    one, other = opened(path), opened(path)
    one.append([turn("a"), turn("b")])
    assert one.jobs.scrubbing.run() and other.jobs.scrubbing.run()
    raw = bytearray(path.read_bytes())
    with sqlite3.connect(path) as sql:
        page = sql.execute("SELECT rootpage FROM sqlite_master WHERE name = 'turns'").fetchone()[0] - 1
    sql.close()
    cells = int.from_bytes(raw[4096 * page + 3 : 4096 * page + 5], "big")
    place = 4096 * page + 8 + 2 * cells + 40
    handle = open_files.handle(one._file.file, path)
    handle.seek(place)
    handle.write(b"Quuxenburg")  # as a row would leave it that is moved
    for store in (one, other):  # now it is in the caches of all
        with store._file.transaction() as sql:
            sql.raw.execute("PRAGMA shrink_memory")
            assert len(sql.raw.execute("SELECT text, metadata FROM turns").fetchall()) == 2
    assert b"Quuxenburg" in path.read_bytes()
    assert one.jobs.scrubbing.run()
    with (one if first == "who scrubbed" else other).writer.transaction() as sql:
        sql.raw.execute("UPDATE turns SET text = upper(text)")
    assert not any(b"Quuxenburg" in file.read_bytes() for file in tmp_path.iterdir())
    one.close()
    other.close()
