"""What fuzzing found, once each: these stay mended."""

from __future__ import annotations

import sqlite3
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen import Memory
from everwhen.errors import Damaged, EverwhenError, NotFound, UsageError
from everwhen.settings import load
from everwhen.types.times import TimeReader
from everwhen.write.importers.files import read
from everwhen_time import parse_interval, resolve

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize("at", [FIRST, LAST])
@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "America/St_Johns"])
def test_a_time_on_the_first_or_last_day_there_is(at: datetime, zone: str) -> None:
    found = [one.text for one in resolve("yesterday and tomorrow", at, zone)]
    assert found == ["tomorrow" if at == FIRST else "yesterday"]  # the other one is no day there is


@pytest.mark.parametrize("text", ["9999-12-31", "0001-01-01T00:00:00+0001", "2025-01-01/P9999Y", "9999"])
def test_an_interval_beyond_the_years_there_are_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"lies outside the years|year"):
        parse_interval(text)


@pytest.mark.parametrize("odd", ["\ud800", "x\udfff", "a\x00b"])
def test_half_a_character_in_a_name_a_topic_or_an_id_finds_nothing_and_breaks_nothing(
    quick: Memory, odd: str
) -> None:
    quick.add("the violin is under the stairs")
    assert quick.events(about=odd) == quick.events(subject=odd) == quick.events(verb=odd) == []
    for missing in (quick.turn, quick.entity, quick.facts.get, quick.facts.confirm):
        with pytest.raises(NotFound):
            missing(odd)


@pytest.mark.parametrize("what", ["session", "name", "id"])
def test_a_name_with_nul_is_refused_and_never_becomes_the_name_of_another(quick: Memory, what: str) -> None:
    with pytest.raises(UsageError, match=rf"{what} .*has a NUL character"):
        quick.add({"content": "the violin is under the stairs", what: "a\0b"})
    if what == "session":
        for refused in (
            lambda: quick.add("the violin", session="a\0b"),
            lambda: quick.turns(session="a\0b"),
            lambda: quick.forget(session="a\0b"),
        ):
            with pytest.raises(UsageError, match="session has a NUL character"):
                refused()
    assert quick.turns() == []


def test_brackets_without_end_and_patterns_that_call_themselves_are_told(quick: Memory) -> None:
    quick.add("aaaa")
    for pattern, said in [
        ("(" * 490 + "a" + ")" * 490, "not a regular expression"),
        ("(?R)", "calls itself"),
        ("(a|(?1))+", "calls itself"),
        ("a" * 1001, "1,000 are allowed"),
    ]:
        with pytest.raises(UsageError, match=said):
            quick.grep(pattern, regex=True)
    assert quick.grep(r"a\(?R?", regex=True)  # an escaped bracket calls nobody


def test_a_home_that_is_no_folder_is_a_sentence() -> None:
    for odd in (5, ["x"], "a\0b"):
        with pytest.raises(UsageError, match="home"):
            Memory.open(odd, "x")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="home"):
        load(home=5)


def test_a_bank_cut_off_in_its_first_bytes_is_damaged(home: Path, tmp_path: Path) -> None:
    with Memory.open(home, "cut", embedder="fake", reader="none"):
        pass
    path = home / "banks" / "cut.db"
    for length in (0, 16, 20, 99):
        path.write_bytes(b"SQLite format 3\0".ljust(length, b"\0")[:length])
        with pytest.raises(Damaged):
            Memory.salvage(tmp_path / "out.jsonl", home, "cut")


def test_a_schema_that_is_no_text_is_damaged(home: Path) -> None:
    with Memory.open(home, "odd", embedder="fake", reader="none"):
        pass
    path = home / "banks" / "odd.db"
    content = path.read_bytes()
    for name in (b"CREATE TABLE turns", b"CREATE TABLE events"):
        at = content.index(name)
        path.write_bytes(content[:at] + b"\xf6\xf6" + content[at + 2 :])
        with pytest.raises(Damaged, match="salvage"):
            Memory.open(home, "odd")


def test_a_row_with_a_broken_time_or_broken_metadata_is_damaged(home: Path) -> None:
    with Memory.open(home, "row", embedder="fake", reader="none", extract="none") as memory:
        memory.add({"content": "violin", "metadata": {"a": "bcdefgh"}})
    path = home / "banks" / "row.db"
    for column, odd in (("said_at", "202\0-11-15T12:43:05.366249Z"), ("metadata", '{"a": "bcd')):
        content = path.read_bytes()
        with sqlite3.connect(path) as sql:
            sql.execute(f"UPDATE turns SET {column} = ?", (odd,))
        with Memory.open(home, "row", create=False) as memory:
            for ask in (memory.turns, lambda: memory.grep("violin")):
                with pytest.raises(Damaged, match="doctor"):
                    ask()
            assert [one.check for one in memory.doctor()] != []
        path.write_bytes(content)


def test_a_zip_whose_list_of_files_leads_nowhere_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", "[]")
    whole = path.read_bytes()
    directory = whole.index(b"PK\x01\x02")
    told = 0
    for place in range(directory, len(whole)):  # every byte of the list, once
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            assert [message for one in read(path, "claude") for message in one.messages] == []
        except EverwhenError:
            told += 1
    assert told > (len(whole) - directory) / 4  # the rest are bytes that nobody reads: times, attributes


@pytest.mark.parametrize(
    "text", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "0001-01-01T00:00"]
)
def test_a_tool_is_told_of_a_date_beyond_the_years_there_are(text: str) -> None:
    with pytest.raises(UsageError, match="outside the years"):
        TimeReader("UTC", datetime(2025, 3, 10, tzinfo=UTC)).interval(text, "date")
