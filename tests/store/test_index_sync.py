"""An index follows what is removed or changed without reading the rest again, in every process that has one."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from everwhen.errors import Damaged
from everwhen.store import base
from everwhen.store.base import remove_units
from everwhen.store.index import Block, Index, IndexBatch
from everwhen.store.rows import Filter, ReembeddedTurn
from everwhen.store.sqlite import SqliteStore
from everwhen.store.sqlite import store as sqlite_store
from tests.conformance.finding import by_meaning, by_words
from tests.conformance.turns import DIMENSION, MODEL, direction, turn


def opened(path: Path) -> SqliteStore:
    return SqliteStore.open(path, embedder="fake", dimension=DIMENSION, zone="UTC")


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[SqliteStore, SqliteStore]:
    """A bank of 40 turns that two have open, and whose indexes have blocks of 8."""
    monkeypatch.setattr(sqlite_store, "ROWS_AT_ONCE", 8)
    monkeypatch.setattr("everwhen.store.index.MERGE_UP_TO", 8)
    path = tmp_path / "b.db"
    with_ben = [
        turn(f"t{number}", f"word{number} of all", hours=number, speaker="Ben" if number == 9 else "Ana")
        for number in range(40)
    ]
    first = opened(path)
    first.append(with_ben)
    second = opened(path)
    assert len(first.index().blocks) == len(second.index().blocks) == 5
    return first, second


def same(index: Index, other: Index) -> None:
    """The same rows, terms and vectors, in whatever blocks."""

    def told(one: Index) -> dict[int, tuple[object, ...]]:
        return {
            int(unit): (
                int(block.rows.at[row]),
                int(block.rows.speakers[row]),
                block.vectors.at(
                    slice(block.firsts[row], block.firsts[row] + block.rows.pieces[row])
                ).tolist(),
                sorted(
                    (int(block.postings.vocabulary[term]), int(block.postings.halves[place]))
                    for term in range(len(block.postings.vocabulary))
                    for place in range(block.postings.offsets[term], block.postings.offsets[term + 1])
                    if block.postings.rows[place] == row
                ),
                float(block.postings.lengths[row]),
            )
            for block in one.blocks
            for row, unit in enumerate(block.rows.units)
        }

    assert told(index) == told(other)
    assert (index.speakers, index.seen, index.removed) == (other.speakers, other.seen, other.removed)


def test_blocks_built_while_the_next_rows_are_read_are_those_of_one_after_the_other(
    two: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    builders = set()
    build = Block.build

    def noted(batch: IndexBatch) -> Block:
        builders.add(threading.current_thread())
        return build(batch)

    monkeypatch.setattr(Block, "build", noted)
    fresh = opened(two[0].path)
    index = fresh.index()
    assert len(index.blocks) == 5 and threading.current_thread() not in builders
    assert not builders & set(threading.enumerate())  # nothing is left running
    monkeypatch.setattr(sqlite_store, "ROWS_AT_ONCE", 1000)
    whole = opened(two[0].path)
    same(index, whole.index())
    assert threading.current_thread() in builders  # a small bank needs no thread
    for store in (*two, fresh, whole):
        store.close()


def test_damage_behind_the_first_blocks_is_told_and_leaves_no_thread(
    two: tuple[SqliteStore, SqliteStore],
) -> None:
    ours, theirs = two
    with ours._file.transaction() as sql:
        sql.raw.execute("UPDATE vectors SET vector = x'00' WHERE unit = 33")
    running = set(threading.enumerate())
    fresh = opened(ours.path)
    with pytest.raises(Damaged, match="doctor"):
        fresh.index()
    assert set(threading.enumerate()) <= running
    for store in (ours, theirs, fresh):
        store.close()


def test_what_is_forgotten_costs_the_block_that_held_it(two: tuple[SqliteStore, SqliteStore]) -> None:
    ours, _ = two
    before = [store.index().blocks for store in two]
    with ours.keep.forgetting() as eraser:
        eraser.remove(["t9"], (), ())
    assert ours.jobs.scrubbing.run()
    for store, blocks in zip(two, before, strict=True):
        now = store.index()
        assert len(now) == 39 and 10 not in {unit for block in now.blocks for unit in block.rows.units}
        assert [block is old for block, old in zip(now.blocks, blocks, strict=True)].count(False) == 1
        assert now.speakers == {"Ana"}
        assert by_words(store, "word9", 5, Filter()) == []
    fresh = opened(ours.path)
    for store in two:
        same(store.index(), fresh.index())
    for store in (*two, fresh):
        store.close()


def test_a_turn_that_is_told_after_another_one_now_is_read_again(
    two: tuple[SqliteStore, SqliteStore],
) -> None:
    ours, _ = two
    retold = ReembeddedTurn("t10", "t8", "new words before", np.stack([direction(0.0, 1.0)]), MODEL)
    with ours.keep.forgetting() as eraser:
        eraser.remove(["t9"], (), [retold])
    fresh = opened(ours.path)
    for store in two:
        assert [found.unit for found in by_words(store, "before", 5, Filter())] == [11]
        assert by_meaning(store, direction(0.0, 1.0), 1, Filter())[0].unit == 11
        same(store.index(), fresh.index())
    for store in (*two, fresh):
        store.close()


def test_the_list_of_removals_is_bounded_and_who_fell_behind_reads_everything(
    two: tuple[SqliteStore, SqliteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = two
    monkeypatch.setattr(base, "KEPT", 5)
    for unit in range(1, 13):
        with ours._file.transaction() as sql:
            remove_units(sql, [unit])
        if unit == 6:
            assert len(theirs.index()) == 34
            kept = theirs.index().blocks[-1]
    with ours.reader.use() as sql:
        assert [row[0] for row in sql.raw.execute("SELECT unit FROM removals ORDER BY seq")] == [
            8,
            9,
            10,
            11,
            12,
        ]
    assert len(theirs.index()) == 28 and theirs.index().blocks[-1] is not kept  # 7 is on no list any more
    with ours._file.transaction() as sql:
        remove_units(sql, [13])
    kept = theirs.index().blocks[-1]
    assert len(theirs.index()) == 27 and theirs.index().blocks[-1] is kept
    assert [row.id for row in theirs.units([13, 14]).values()] == ["t13"]
    fresh = opened(ours.path)
    for store in two:
        same(store.index(), fresh.index())
    for store in (*two, fresh):
        store.close()


def test_a_bank_that_was_emptied_is_followed_from_there_on(two: tuple[SqliteStore, SqliteStore]) -> None:
    ours, theirs = two
    with ours.keep.forgetting() as eraser:
        eraser.remove_everything()
    ours.append([turn("n1", "anew"), turn("n2", "again", hours=1)])
    assert len(theirs.index()) == 2 and theirs.index().speakers == {"Ana"}
    with ours.keep.forgetting() as eraser:
        eraser.remove(["n1"], (), ())
    for store in two:
        assert len(store.index()) == 1
        store.close()
