"""The banks of a home: made, listed, copied, brought back and deleted by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from everwhen.errors import Damaged, EverwhenError, NotFound, Refused, UsageError
from everwhen.store.banks import Banks
from everwhen.store.sql.store import Store
from tests.conformance.conftest import Open, with_files
from tests.conformance.turns import DIMENSION, START, turn


def said(store: Store) -> list[str]:
    return [one.id for one in store.turns()]


def erase(store: Store, turns: Sequence[str], facts: Sequence[str] = ()) -> None:
    with store.keep.forgetting() as eraser:
        eraser.remember(turns, START)
        eraser.remove(turns, (), ())


def backed_up(banks: Banks, bank: str, folder: Path) -> Path:
    banks.back_up(bank, folder / "copy")
    return folder / "copy"


# Which there are


def test_a_bank_exists_from_its_opening_until_it_is_dropped(banks: Banks, opened: Open) -> None:
    assert banks.names() == [] and not banks.exists("b") and banks.size("b") == 0
    opened("b").append([turn("a")])
    opened("a").close()
    assert banks.names() == ["a", "b"] and banks.exists("a") and banks.exists("b")
    assert banks.size("b") == opened("b").stats().bytes > 0
    opened("a").close()
    banks.drop("a")
    assert banks.names() == ["b"] and not banks.exists("a")
    banks.drop("a")  # there is none: nothing happens
    assert said(opened("a")) == [] and said(opened("b")) == ["a"]


def test_a_bank_that_is_not_there_is_made_only_where_that_is_meant(banks: Banks) -> None:
    with pytest.raises(NotFound, match="there is no bank 'b'"):
        banks.open("b", embedder="fake", dimension=DIMENSION, zone="UTC", create=False)
    assert banks.names() == []
    banks.open("b", embedder="fake", dimension=lambda: DIMENSION, zone="UTC").close()
    banks.open("b", embedder="fake", dimension=lambda: 1 // 0, zone="UTC", create=False).close()


def test_a_bank_says_its_embedder_and_is_opened_with_no_other(banks: Banks, opened: Open) -> None:
    assert banks.embedder_of("b") is None and banks.names() == []
    opened("b")
    assert banks.embedder_of("b") == "fake"
    with pytest.raises(Refused, match="was embedded with fake"):
        banks.open("b", embedder="other", dimension=DIMENSION, zone="UTC")


@pytest.mark.parametrize("name", ["", "../b", "a/b", ".b", "b\0", "x" * 129])
def test_what_is_no_name_is_refused_by_every_call(banks: Banks, tmp_path: Path, name: str) -> None:
    for call in (
        lambda: banks.check_name(name),
        lambda: banks.exists(name),
        lambda: banks.size(name),
        lambda: banks.embedder_of(name),
        lambda: banks.drop(name),
        lambda: banks.back_up(name, tmp_path / "copy"),
        lambda: banks.restore(name, tmp_path / "copy", replace=False, forget=erase),
        lambda: banks.open(name, embedder="fake", dimension=DIMENSION, zone="UTC"),
        lambda: list(banks.salvage(name)),
    ):
        with pytest.raises(UsageError, match="is not a bank name"):
            call()  # type: ignore[no-untyped-call]


def test_names_that_differ_in_capitals_alone_are_one_name(banks: Banks, opened: Open) -> None:
    opened("Ana")
    banks.check_name("Ana")
    with pytest.raises(UsageError, match="there is a bank 'Ana'"):
        banks.check_name("ana")
    with pytest.raises(UsageError, match="there is a bank 'Ana'"):
        opened("ana")


# Copies


@with_files
def test_a_backup_is_one_file_and_brings_the_bank_back(banks: Banks, opened: Open, tmp_path: Path) -> None:
    opened("b").append([turn("a"), turn("b", hours=1)])
    folder = tmp_path / "copies"
    folder.mkdir()
    copy = backed_up(banks, "b", folder)
    assert list(folder.iterdir()) == [copy]
    assert banks.restore("again", copy, replace=False, forget=erase) == 2
    assert said(opened("again")) == ["a", "b"] and opened("again").check() == []
    assert banks.embedder_of("again") == "fake" and opened("again").info.name == "again"


@with_files
def test_a_bank_that_exists_is_replaced_only_where_that_is_meant(
    banks: Banks, opened: Open, tmp_path: Path
) -> None:
    opened("b").append([turn("a")])
    copy = backed_up(banks, "b", tmp_path)
    opened("b").append([turn("late", hours=1)])
    with pytest.raises(Refused, match="bank 'b' exists"):
        banks.restore("b", copy, replace=False, forget=erase)
    assert said(opened("b")) == ["a", "late"]
    assert banks.restore("b", copy, replace=True, forget=erase) == 1
    assert said(opened("b")) == ["a"]


@with_files
def test_what_was_forgotten_since_a_backup_stays_forgotten(
    banks: Banks, opened: Open, tmp_path: Path
) -> None:
    store = opened("b")
    store.append([turn("a"), turn("b", hours=1)])
    copy = backed_up(banks, "b", tmp_path)
    erase(store, ["a"])
    assert banks.restore("b", copy, replace=True, forget=erase) == 1
    assert said(opened("b")) == ["b"]
    assert opened("b").append([turn("a")]) == [False]


@with_files
def test_what_is_no_backup_is_refused_and_leaves_no_bank(banks: Banks, tmp_path: Path) -> None:
    letter = tmp_path / "letter"
    letter.write_text("Dear Ana, this is no bank at all.")
    with pytest.raises(Damaged):
        banks.restore("b", letter, replace=False, forget=erase)
    with pytest.raises(EverwhenError):
        banks.restore("b", tmp_path / "none", replace=False, forget=erase)
    assert banks.names() == []


@with_files
def test_the_turns_of_a_bank_can_be_read_without_opening_it(banks: Banks, opened: Open) -> None:
    store = opened("b")
    store.append([turn("a", "the boat is blue"), turn("b", "yes", hours=1, speaker="Ben")])
    store.close()
    found = {message["id"]: message for message in banks.salvage("b")}
    assert {id_: message["content"] for id_, message in found.items()} == {
        "a": "the boat is blue",
        "b": "yes",
    }
    assert found["b"]["name"] == "Ben" and found["b"]["session"] == "s"


# What is loaded beside a bank


def test_what_was_loaded_forgets_what_the_bank_has_forgotten_before_it_takes_over(
    banks: Banks, opened: Open
) -> None:
    store = opened("b")
    store.append([turn("a"), turn("b", hours=1)])
    with store.keep.snapshot() as snapshot:
        records, counts = list(snapshot.records()), snapshot.counts()
    erase(store, ["a", "b"])
    store.append([turn("c", hours=2)])
    loader = store.keep.loader("an export")
    loader.put(records, 1, "end")
    loader.finish(counts, "b")
    loader.close()
    with banks.loaded("b", "fake", erase) as loaded:
        assert said(loaded) == ["a", "b"] and said(store) == ["c"]
        loaded.append([turn("d", hours=3)])
    store.keep.take_over()
    store.refresh()
    assert said(store) == ["d"]
    assert banks.names() == ["b"]


def test_a_bank_that_is_dropped_takes_with_it_what_was_being_loaded(banks: Banks, opened: Open) -> None:
    store = opened("b")
    store.append([turn("a")])
    with store.keep.snapshot() as snapshot:
        records = [record for record in snapshot.records() if record["kind"] == "turn"]
    loader = store.keep.loader("an export")
    loader.put(records, 10, "x")
    loader.close()
    store.close()
    banks.drop("b")
    loader = opened("b").keep.loader("an export")
    assert (loader.offset, loader.chain) == (0, "")
    loader.close()
