"""Export, import, backup, restore: an equal bank comes back, or a sentence says why not."""

from __future__ import annotations

import gzip
import json
import lzma
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Damaged, Memory, NotFound, Refused, UsageError
from everwhen.store.files import json_values as files
from everwhen.store.files.export import is_export
from everwhen.upkeep import transfer

START = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)


def tables(home: Path, bank: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every table of a bank; what a bank is called and how often it was replaced are its own."""
    sql = sqlite3.connect(home / "banks" / f"{bank}.db")
    try:
        names = [
            row[0]
            for row in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not row[0].startswith("unit_fts")
            and row[0] not in ("migrations", "claims", "names_version", "sqlite_stat1")
        ]
        found = {name: sorted(sql.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
    finally:
        sql.close()
    found["bank"] = [row for row in found["bank"] if row[0] not in ("name", "epoch")]
    return found


def records(memory: Memory) -> list[dict[str, Any]]:
    """All that a bank holds."""
    with memory._bank.store.keep.snapshot() as snapshot:
        return list(snapshot.records())


@pytest.fixture
def full(home: Path) -> Iterator[Memory]:
    """A bank with something of everything."""
    with Memory.open(home, "full", zone="Europe/Lisbon") as memory:
        said = (
            "I moved to Porto in May.",
            "My brother Tom works at Acme. 🚲",
            "I live in Berlin.",
            "Tom\ncalled.",
        )
        for number, text in enumerate(said):
            when = START + timedelta(hours=20 * number)
            message = {"name": "Ana", "content": text, "id": f"t{number}", "timestamp": when.isoformat()}
            memory.add({**message, "metadata": {"n": number}}, session=f"s{number // 2}")
        memory.flush()
        memory.facts.assert_("Ana", "likes", "tea", at=START, source="t0", confidence=0.6)
        memory.facts.correct("Ana", "likes", "coffee", at=START + timedelta(days=1))
        memory.facts.set_half_life("food", 12)
        memory.facts.report_missing("Acme", at=START)
        memory.rename_entity("Tom", "Thomas")
        memory.consolidate(now="end")
        memory.recall("where does Ana live")
        memory.add({"content": "to be forgotten", "id": "gone"})
        memory.forget(turns="gone")
        memory.flush()
        yield memory


@pytest.fixture
def unread(home: Path) -> Iterator[Memory]:
    """A bank whose turns nobody reads: rows are all that counts."""
    with Memory.open(
        home, "unread", embedder="fake", reader="none", cache_entries=0, extract="none"
    ) as memory:
        yield memory


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_export_makes_an_equal_bank(
    full: Memory, home: Path, tmp_path: Path, vectors: bool, suffix: str
) -> None:
    file = tmp_path / f"full.jsonl{suffix}"
    rows = full.export(file, vectors=vectors)
    assert file.stat().st_mode & 0o077 == 0 and list(tmp_path.glob(".*part*")) == []
    with Memory.open(home, "copy") as copy:
        assert copy.import_(file) == rows
        assert copy.zone == "Europe/Lisbon" and copy.doctor() == []
        for mine, theirs in zip(records(full), records(copy), strict=True):
            if not vectors:  # made again: equal to the last digits of a number
                assert len(mine.pop("vectors", "")) == len(theirs.pop("vectors", ""))
            assert mine == theirs
        question = {"query": "where does Ana live", "at": START + timedelta(days=9)}
        assert [one.id for one in copy.recall(**question)] == [one.id for one in full.recall(**question)]
        copy.add({"content": "to be forgotten", "id": "gone"})
        assert "gone" not in {turn.id for turn in copy.turns()}  # the tombstone came along
        copy.add("and life goes on")
        assert copy.doctor() == []
    assert list((home / "banks").glob(".*")) == []


def test_an_export_is_one_moment_while_others_write(unread: Memory, home: Path, tmp_path: Path) -> None:
    unread.add_many(f"message {number}" for number in range(600))  # more than a block of an export
    stop = threading.Event()

    def write() -> None:
        with Memory.open(
            home, "unread", embedder="fake", reader="none", cache_entries=0, extract="none"
        ) as other:
            while not stop.wait(0.005):
                other.add(["one more", "and another"])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        rows = [unread.export(tmp_path / f"{n}.jsonl") for n in range(3)]
        copies = [unread.backup(tmp_path / f"{n}.db") for n in range(3)]
    finally:
        stop.set()
        writer.join()
    assert rows == sorted(rows)
    for number in range(3):
        with Memory.open(
            home, f"e{number}", embedder="fake", reader="none", cache_entries=0, extract="none"
        ) as memory:
            memory.import_(tmp_path / f"{number}.jsonl")
            assert memory.doctor() == [] and memory.stats().turns % 2 == 0
        assert Memory.restore(copies[number], home, f"b{number}") % 2 == 0


def test_an_interrupted_import_goes_on_and_a_damaged_file_says_where(
    unread: Memory, home: Path, tmp_path: Path
) -> None:
    unread.add_many(f"message {number}" for number in range(700))
    file = tmp_path / "all.jsonl"
    unread.export(file)
    lines = file.read_bytes().splitlines(keepends=True)
    short = tmp_path / "short.jsonl"
    short.write_bytes(b"".join(lines[: len(lines) // 2]))
    with Memory.open(home, "copy", embedder="fake", reader="none", cache_entries=0, extract="none") as copy:
        with pytest.raises(Damaged, match="ends early"):
            copy.import_(short)
        assert copy.turns() == []
        written: list[int] = []
        copy.import_(file, progress=written.append)
        assert max(written) < len(lines) * 0.7  # the first half was there already
        assert records(copy) == records(unread)
    broken = lines.copy()
    place = next(number for number, line in enumerate(lines) if b"message 300" in line)
    broken[place] = broken[place].replace(b"message", b"massage")
    (tmp_path / "broken.jsonl").write_bytes(b"".join(broken))
    with Memory.open(home, "third", embedder="fake", reader="none", cache_entries=0) as third:
        with pytest.raises(Damaged, match="checksum of a block"):
            third.import_(tmp_path / "broken.jsonl")
        assert third.turns() == [] and third.doctor() == []


class TestAnExportOfAStranger:
    """Reading one takes no more memory than a block may have."""

    @pytest.fixture
    def file(self, quick: Memory, tmp_path: Path) -> Path:
        quick.add_many(f"message {number}" for number in range(30))
        quick.flush()
        quick.export(tmp_path / "q.jsonl")
        return tmp_path / "q.jsonl"

    @pytest.fixture
    def copy(self, home: Path) -> Iterator[Memory]:
        with Memory.open(
            home, "copy", embedder="fake", reader="none", cache_entries=0, extract="none"
        ) as copy:
            yield copy

    def test_a_block_without_end_is_damaged(
        self, file: Path, copy: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[:2] + [line for line in lines[2:] if b'"check"' not in line]))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(transfer, "BLOCK", 20)
            with pytest.raises(Damaged, match="a block has a checksum after at most 20 records"):
                copy.import_(file)
        monkeypatch.setattr(transfer, "LARGEST_BLOCK", 5000)
        with pytest.raises(
            Damaged, match=r"q\.jsonl is damaged before byte \d+: .* 0\.005 MB, and this one has none"
        ):
            copy.import_(file)

    def test_a_line_without_end_is_refused(
        self, file: Path, copy: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "LARGEST_RECORD", 10_000)
        start = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(start[:5]) + b'{"kind":"turn","text":"' + b"a" * 20_000)
        with pytest.raises(UsageError, match=r"q\.jsonl, line 6 is longer than 0\.01 MB"):
            copy.import_(file)
        file.write_bytes(b'{"everwhen":"bank","bank":"' + b"a" * 20_000)
        with pytest.raises(UsageError, match=r"q\.jsonl, line 1 is longer than 0\.01 MB"):
            copy.import_(file)
        assert copy.turns() == []

    def test_nesting_without_end_is_damaged(self, file: Path, copy: Memory) -> None:
        file.write_bytes(b'{"everwhen":"bank","x":' + b"[" * 100_000)
        with pytest.raises(Damaged, match="line 1 is not valid JSON: it is nested too deeply"):
            copy.import_(file)

    def test_what_it_is_packed_with_is_read_from_its_bytes(self, file: Path, copy: Memory) -> None:
        packed = file.with_name("q.jsonl.gz")
        whole = file.read_bytes()
        short = whole[: whole.index(b"\n", len(whole) // 2) + 1]
        packed.write_bytes(lzma.compress(short))
        with pytest.raises(Damaged, match="ends early"):
            copy.import_(packed)
        packed.write_bytes(lzma.compress(whole))
        assert is_export(packed)
        copy.import_(packed)  # goes on where the first half ended
        assert copy.stats().turns == 30 and copy.doctor() == []

    def test_a_packed_one_that_is_cut_off_is_damaged(self, file: Path, copy: Memory) -> None:
        packed = file.with_name("q.jsonl.gz")
        packed.write_bytes(gzip.compress(file.read_bytes())[:-20])
        with pytest.raises(Damaged, match="cannot be unpacked"):
            copy.import_(packed)


def test_a_block_of_long_rows_is_a_short_block(
    quick: Memory, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "BLOCK_BYTES", 5000)
    quick.add_many(f"message {number} " + "x" * 3000 for number in range(10))
    quick.flush()
    quick.export(tmp_path / "q.jsonl")
    blocks = (tmp_path / "q.jsonl").read_bytes().split(b'{"check":')
    assert max(map(len, blocks)) < 20_000
    with Memory.open(home, "copy", embedder="fake", reader="none", cache_entries=0, extract="none") as copy:
        copy.import_(tmp_path / "q.jsonl")
        assert records(copy) == records(quick)


def test_an_import_refuses_what_it_cannot_do_well(quick: Memory, home: Path, tmp_path: Path) -> None:
    quick.add("something")
    file = tmp_path / "q.jsonl"
    quick.export(file)
    with pytest.raises(Refused, match="holds memories already"):
        quick.import_(file)
    with Memory.open(home, "real") as real, pytest.raises(Refused, match="vectors of fake"):
        real.import_(file)
    head, *rest = file.read_bytes().splitlines(keepends=True)
    newer = tmp_path / "newer.jsonl"
    newer.write_bytes(json.dumps({**json.loads(head), "format": 3}).encode() + b"\n" + b"".join(rest))
    with Memory.open(home, "n", embedder="fake", reader="none") as memory:
        with pytest.raises(Refused, match=r"has format 3, .* upgrade"):
            memory.import_(newer)
        other = tmp_path / "talk.jsonl"
        other.write_text('{"role": "user", "content": "hello"}\n')
        with pytest.raises(UsageError, match="no export of a bank"):
            memory.import_(other)
        with pytest.raises(NotFound, match="there is no file"):
            memory.import_(tmp_path / "none.jsonl")


def test_an_export_cannot_carry_sql_and_its_lines_are_checked(
    quick: Memory, home: Path, tmp_path: Path
) -> None:
    import hashlib

    quick.add("something")
    file = tmp_path / "q.jsonl"
    quick.export(file)
    lines = file.read_bytes().splitlines(keepends=True)
    for bad in (
        {"kind": "turns; DROP TABLE turns", "id": "x"},
        {"kind": "turn", "id) VALUES (1); --": 1},
        {"kind": "unit", "id": "x", "turn": "nobody said it"},
        {"kind": "unit", "id": "x", "mentions": 3},
        {"kind": "unit", "id": "x", "vectors": ["!"]},
        {"kind": "turn", "id": {"a": 1}},
        {"kind": "turn", "id": "x", "tokens": 1 << 70},
        {"kind": "entity_decision", "detail": {"moved": [1]}},
        {"kind": ["turn"]},
        {"table": "turns", "row": {"id": "x"}},
    ):
        raw = json.dumps(bad).encode() + b"\n"
        first = json.loads(lines[1])["check"]
        check = hashlib.sha256(first.encode() + raw).hexdigest()
        (tmp_path / "bad.jsonl").write_bytes(b"".join(lines[:2]) + raw + b'{"check":"%s"}\n' % check.encode())
        with (
            Memory.open(home, "n", embedder="fake", reader="none") as memory,
            pytest.raises(Damaged, match=r"the export (has a record|names 'nobody said it')"),
        ):
            memory.import_(tmp_path / "bad.jsonl")


def test_a_backup_restores_into_a_new_bank_and_into_its_own(full: Memory, home: Path, tmp_path: Path) -> None:
    file = full.backup(tmp_path)
    assert file.name.startswith("full-") and file.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [file.name]
    before = tables(home, "full")
    assert Memory.restore(file, home, "other") == 4
    assert tables(home, "other") == before
    full.add("said after the backup")
    with pytest.raises(Refused, match="--overwrite"):
        Memory.restore(file, home, "full")
    with Memory.open(home, "full") as watcher:
        watcher.recall("Ana")
        assert Memory.restore(file, home, "full", overwrite=True) == 4
        assert len(watcher.turns()) == 4  # another process's eyes see it at once
        assert "said after the backup" not in watcher.recall("said after the backup").as_context(cut=0)
        watcher.flush()
        assert watcher.doctor() == []
    with pytest.raises(Refused, match="exists"):
        full.backup(file)
    assert full.backup(file, overwrite=True) == file


def test_what_was_forgotten_since_the_backup_stays_forgotten(
    full: Memory, home: Path, tmp_path: Path
) -> None:
    file = full.backup(tmp_path / "b.db")
    full.forget(turns="t1")
    assert Memory.restore(file, home, "full", overwrite=True) == 3
    full.flush()
    assert "t1" not in {turn.id for turn in full.turns()} and full.doctor() == []
    assert "Acme" not in repr(full.events())


def test_a_backup_that_is_none_is_refused_and_a_damaged_bank_is_set_aside(
    quick: Memory, home: Path, tmp_path: Path
) -> None:
    quick.add("kept")
    file = quick.backup(tmp_path / "b.db")
    quick.close()
    letter = tmp_path / "letter.db"
    letter.write_bytes(b"dear aunt" * 500)
    with pytest.raises(Damaged):
        Memory.restore(letter, home, "new")
    torn = bytearray(file.read_bytes())
    torn[8192:20480] = bytes(12288)
    (tmp_path / "torn.db").write_bytes(torn)
    with pytest.raises(Damaged):
        Memory.restore(tmp_path / "torn.db", home, "new")
    with pytest.raises(Refused, match="no file"):
        Memory.restore(tmp_path / "none.db", home, "new")
    assert not (home / "banks" / "new.db").exists()
    bank = home / "banks" / "quick.db"
    bank.write_bytes(b"this is no database any more" * 300)
    assert Memory.restore(file, home, "quick", overwrite=True) == 1
    assert len(list((home / "banks").glob("quick.db.damaged-*"))) == 1
    with Memory.open(home, "quick") as again:
        assert [turn.text for turn in again.turns()] == ["kept"] and again.doctor() == []


def test_a_backup_that_cannot_be_written_leaves_nothing(quick: Memory, tmp_path: Path) -> None:
    quick.add("kept")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="there is no folder"):
        quick.backup(tmp_path / "file" / "b.db")
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["file"]


def test_an_export_does_not_revive_what_its_bank_forgot_since(
    full: Memory, home: Path, tmp_path: Path
) -> None:
    full.export(tmp_path / "before.jsonl")
    full.forget(everything=True)
    full.import_(tmp_path / "before.jsonl")
    assert full.turns() == [] and list(full.facts.versions()) == [] and full.doctor() == []
    full.add({"content": "to be forgotten", "id": "gone"})
    assert full.turns() == []


def test_a_fact_that_was_forgotten_since_the_backup_is_learned_again_from_what_is_left(
    home: Path, tmp_path: Path
) -> None:
    with Memory.open(home, "b", embedder="fake", cache_entries=0) as memory:
        for number in range(2):
            when = (START + timedelta(days=number)).isoformat()
            memory.add({"name": "Eva", "content": "I live in Berlin.", "id": f"t{number}", "timestamp": when})
        memory.flush()
        file = memory.backup(tmp_path / "b.db")
        memory.forget(turns="t0")
        memory.flush()
        Memory.restore(file, home, "b", overwrite=True)
        (fact,) = memory.facts.current("Eva", now=START + timedelta(days=5))
        assert fact.sources == ("t1",) and memory.doctor() == []
