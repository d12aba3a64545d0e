"""Bank names and files: what is refused with a sentence, and what the sizes count."""

from __future__ import annotations

from pathlib import Path

import pytest

from everwhen import Memory, Refused, UsageError
from everwhen.store.files.home import check_folder
from everwhen.store.sqlite.connection import bank_bytes, bank_path


def opened(home: Path, bank: str) -> Memory:
    return Memory.open(home, bank, embedder="fake", reader="none", cache_entries=0, extract="none")


def test_a_file_is_written_where_a_file_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_folder(tmp_path / "file")
    with pytest.raises(UsageError, match="is a folder; name a file in it"):
        check_folder(tmp_path)
    with pytest.raises(UsageError, match="make it first, or name another file"):
        check_folder(tmp_path / "nowhere" / "file")
    monkeypatch.setattr("everwhen.store.files.home.os.access", lambda *_: False)
    with pytest.raises(Refused, match="make its folder writable, or name another file"):
        check_folder(tmp_path / "file")


def test_a_name_that_differs_in_capitals_alone_is_refused_and_makes_no_file(home: Path) -> None:
    with opened(home, "Ana") as memory:
        memory.add("hello")
    for bank in ("ana", "ANA", "aNa"):
        with pytest.raises(UsageError, match=r"there is a bank 'Ana'.* capitals alone"):
            opened(home, bank)
        with pytest.raises(UsageError, match="there is a bank 'Ana'"):
            Memory.restore(home / "banks" / "Ana.db", home, bank)
    assert [path.name for path in (home / "banks").glob("*.db")] == ["Ana.db"]
    with opened(home, "Ana") as memory, opened(home, "Anna"):
        assert [turn.text for turn in memory.turns()] == ["hello"]


def test_banks_that_have_such_names_already_stay_as_they_are(home: Path) -> None:
    with opened(home, "ana") as memory:
        memory.add("small")
    (home / "banks" / "ana.db").rename(home / "banks" / "kept")
    with opened(home, "Ana") as memory:
        memory.add("large")
    (home / "banks" / "kept").rename(home / "banks" / "ana.db")
    for bank, said in (("ana", "small"), ("Ana", "large")):
        with opened(home, bank) as memory:
            assert [turn.text for turn in memory.turns()] == [said]


def test_on_a_disk_that_ignores_case_another_spelling_does_not_open_the_bank(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, "Ana") as memory:
        memory.add("hello")

    def exists(path: Path) -> bool:  # as such a disk answers
        return path.name.casefold() in {name.casefold() for name in there}

    there = [path.name for path in (home / "banks").iterdir()]
    monkeypatch.setattr(Path, "exists", exists)
    assert bank_path(home, "Ana").name == "Ana.db"
    with pytest.raises(UsageError, match="there is a bank 'Ana'"):
        bank_path(home, "ana")


def test_the_size_of_a_bank_counts_what_is_in_its_log(home: Path) -> None:
    with opened(home, "b") as memory:
        memory.add([f"message {number} of many" for number in range(50)])
        path = home / "banks" / "b.db"
        log = path.with_name("b.db-wal")
        assert log.stat().st_size > 50_000
        assert bank_bytes(path) == path.stat().st_size + log.stat().st_size == memory.stats().bytes
    assert bank_bytes(path) == path.stat().st_size > 50_000
    assert bank_bytes(home / "banks" / "none.db") == 0


@pytest.mark.parametrize("what", ["export", "backup", "salvage"])
def test_a_folder_that_is_not_there_is_not_made(home: Path, tmp_path: Path, what: str) -> None:
    target = tmp_path / "slip" / "of" / "pen.jsonl"
    with opened(home, "b") as memory:
        memory.add("hello")
        with pytest.raises(UsageError, match=f"there is no folder {target.parent}; make it first"):
            if what == "export":
                memory.export(target)
            elif what == "backup":
                memory.backup(target)
            else:
                Memory.salvage(target, home, "b")
    assert not (tmp_path / "slip").exists()
    target.parent.mkdir(parents=True)
    with opened(home, "b") as memory:
        assert memory.export(target) > 0
