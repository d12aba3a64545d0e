"""What recall gives back is counted, by any number of processes, and no read ever waits or fails for it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from everwhen import Memory, UsageError
from everwhen.recall.pipeline import BATCH
from everwhen.store.base import remove_units

READER = """
import sys
from everwhen import Memory
home, times = sys.argv[1], int(sys.argv[2])
with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0) as memory:
    for _ in range(times):
        assert len(memory.recall("violin")) == 1
"""


def in_the_file(home: Path) -> tuple[int, dict[str, int]]:
    sql = sqlite3.connect(home / "banks" / "quick.db")
    try:
        recalls = sql.execute("SELECT value FROM bank WHERE key = 'recalls'").fetchone()
        rows = sql.execute("SELECT u.id, a.count FROM accesses a JOIN units u ON u.seq = a.unit").fetchall()
        return int(recalls[0]) if recalls else 0, dict(rows)
    finally:
        sql.close()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_is_recalled_most_comes_first(quick: Memory) -> None:
    quick.add([{"content": "violin", "id": "v"}, {"content": "bread", "id": "b"}], session="s")
    before = datetime.now(UTC)
    for query in ("violin", "bread", "violin"):
        assert len(quick.recall(query, max_tokens=14)) == 1
    found = quick.accessed()
    assert [(one.id, one.count) for one in found] == [("v", 2), ("b", 1)]
    assert found[0].text == "violin" and before <= found[0].last_at <= datetime.now(UTC)
    assert [one.id for one in quick.accessed(limit=1)] == ["v"]
    assert quick.stats().recalls == 3


def test_reading_writes_nothing_until_a_batch_is_full(quick: Memory, home: Path) -> None:
    quick.add({"content": "violin", "id": "v"})
    for _ in range(BATCH - 1):
        quick.recall("violin")
    assert in_the_file(home) == (0, {})
    assert quick.stats().recalls == BATCH - 1  # those that are pending count
    quick.recall("violin")
    until(lambda: in_the_file(home) == (BATCH, {"v": BATCH}))


@pytest.mark.parametrize("written_by", ["flush", "close", "accessed"])
def test_pending_counts_are_written(home: Path, written_by: str) -> None:
    memory = Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0)
    memory.add({"content": "violin", "id": "v"})
    memory.recall("violin")
    getattr(memory, written_by)()
    assert in_the_file(home) == (1, {"v": 1})
    memory.close()
    assert in_the_file(home) == (1, {"v": 1})  # not once more


def test_counts_of_several_processes_add_up(quick: Memory, home: Path) -> None:
    quick.add({"content": "violin", "id": "v"})
    quick.flush()
    readers = [
        subprocess.Popen([sys.executable, "-c", READER, str(home), str(times)]) for times in (BATCH + 7, 5)
    ]
    for _ in range(3):
        quick.recall("violin")
    assert [reader.wait(timeout=120) for reader in readers] == [0, 0]
    assert quick.stats().recalls == quick.accessed()[0].count == BATCH + 15


def test_a_locked_bank_is_read_at_once_and_counted_later(quick: Memory, home: Path) -> None:
    quick.add({"content": "violin", "id": "v"})
    quick.flush()
    other = sqlite3.connect(home / "banks" / "quick.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    for _ in range(BATCH + 1):
        assert len(quick.recall("violin")) == 1
    quick.flush()
    assert time.monotonic() - started < 20  # busy_seconds is 30
    assert quick.accessed() == [] and quick.stats().recalls == BATCH + 1
    other.execute("ROLLBACK")
    other.close()
    quick.recall("violin")
    assert quick.accessed()[0].count == BATCH + 2
    quick.add("and writing waits for others as before")


def test_a_bank_that_cannot_be_written_is_read_without_counting(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add({"content": "violin", "id": "v"})
        memory.flush()
    monkeypatch.setattr(
        "everwhen.store.sqlite.store.is_writable", lambda path: False
    )  # root may write anywhere
    with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0) as memory:
        for _ in range(BATCH):
            assert len(memory.recall("violin")) == 1
        memory.flush()
        assert memory.accessed() == []
    assert in_the_file(home) == (0, {})


def test_counting_can_be_switched_off(home: Path) -> None:
    with Memory.open(home, "quick", embedder="fake", reader="none", count_access=False) as memory:
        memory.add("violin")
        memory.recall("violin")
        assert memory.accessed() == [] and memory.stats().recalls == 0


def test_what_is_forgotten_is_no_longer_counted(quick: Memory, home: Path) -> None:
    quick.add({"content": "violin", "id": "v"})
    quick.recall("violin")
    quick.flush()
    with quick._bank.store._file.transaction() as sql:  # type: ignore[attr-defined]
        remove_units(sql, [row[0] for row in sql.raw.execute("SELECT seq FROM units").fetchall()])
        assert sql.raw.execute("SELECT count(*) FROM accesses").fetchone() == (0,)
    quick._bank.accesses.count([])
    assert quick.accessed() == []


def test_a_memory_that_is_gone_before_it_is_written_is_passed_over(quick: Memory) -> None:
    quick.add({"content": "violin", "id": "v"})
    quick.recall("violin")
    with quick._bank.store._file.transaction() as sql:  # type: ignore[attr-defined]
        remove_units(sql, [row[0] for row in sql.raw.execute("SELECT seq FROM units").fetchall()])
    assert quick.accessed() == [] and quick.stats().recalls == 1


def test_the_last_access_is_the_newest_whoever_writes_last(quick: Memory) -> None:
    from everwhen.store.rows import Access

    quick.add({"content": "violin", "id": "v"})
    now = datetime(2025, 3, 3, tzinfo=UTC)
    quick._bank.store.count_accesses(1, {"v": Access(1, now)})
    quick._bank.store.count_accesses(1, {"v": Access(4, now - timedelta(days=1))})
    (one,) = quick.accessed()
    assert (one.count, one.last_at) == (5, now)


def test_a_negative_limit_is_refused(quick: Memory) -> None:
    with pytest.raises(UsageError, match="limit must be at least 1"):
        quick.accessed(limit=-1)
