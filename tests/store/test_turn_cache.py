"""Rows that are kept after they were read: never one that is gone, whoever removed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from everwhen.store.base import remove_units
from everwhen.store.sqlite import SqliteStore
from everwhen.store.sqlite import store as sqlite_store
from tests.conformance.turns import DIMENSION, turn


def opened(path: Path) -> SqliteStore:
    return SqliteStore.open(path, embedder="fake", dimension=DIMENSION, zone="UTC")


def test_a_turn_that_another_process_removed_is_not_shown_again(tmp_path: Path) -> None:
    ours, theirs = opened(tmp_path / "bank.sqlite"), opened(tmp_path / "bank.sqlite")
    ours.append([turn("a"), turn("b")])
    before = ours.units([1, 2])
    assert [row.id for row in before.values()] == ["a", "b"]
    assert ours.units([1, 2])[1] is before[1]  # kept, not read again
    with theirs._file.transaction() as sql:
        remove_units(sql, [1])
    assert [row.id for row in ours.units([1, 2]).values()] == ["b"]
    ours.close()
    theirs.close()


def test_a_write_by_another_process_that_removes_nothing_leaves_what_is_kept(tmp_path: Path) -> None:
    ours, theirs = opened(tmp_path / "bank.sqlite"), opened(tmp_path / "bank.sqlite")
    ours.append([turn("a")])
    before = ours.units([1])
    theirs.append([turn("b")])
    after = ours.units([2, 1])
    assert list(after) == [1, 2] and after[1] is before[1] and after[2].id == "b"
    ours.close()
    theirs.close()


def test_more_rows_than_are_kept_are_all_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_store, "MOST", 3)
    store = opened(tmp_path / "bank.sqlite")
    store.append([turn(f"t{place}") for place in range(10)])
    for wanted in ([1, 2], [2, 3, 4], list(range(1, 11)), [10, 1], [99]):
        assert list(store.units(wanted)) == sorted(seq for seq in wanted if seq <= 10)
    store.close()


def test_a_bank_that_is_opened_reads_no_removal_from_before_and_follows_those_that_come(
    tmp_path: Path,
) -> None:
    ours = opened(tmp_path / "bank.sqlite")
    ours.append([turn("a"), turn("b"), turn("c")])
    with ours._file.transaction() as sql:
        remove_units(sql, [1])
    asked: list[str] = []
    theirs = opened(tmp_path / "bank.sqlite")
    with theirs.reader.use() as sql:
        sql.raw.set_trace_callback(asked.append)
    assert len(theirs.index()) == 2 and [row.id for row in theirs.units([1, 2, 3]).values()] == ["b", "c"]
    assert not [one for one in asked if one.startswith("SELECT DISTINCT unit FROM removals")]
    with ours._file.transaction() as sql:
        remove_units(sql, [2])
    assert len(theirs.index()) == 1 and [row.id for row in theirs.units([1, 2, 3]).values()] == ["c"]
    ours.close()
    theirs.close()
