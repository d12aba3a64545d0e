"""Doctor finds what is wrong, rebuilds what is derived, leaves what was said alone, and salvages what can be read."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from everwhen import Damaged, Memory, NotFound
from everwhen.cli.app import run
from everwhen.types import Turn

DIMENSION = 384
"""Of the packaged embedder."""
START = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
SAID = (
    "I moved to Porto in May.",
    "How is the flat?",
    "My brother Tom works at Acme.",
    "I bought a bicycle yesterday.",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "home"
    with Memory.open(folder, "b") as memory:
        for number, text in enumerate(SAID):
            when = START + timedelta(hours=number)
            memory.add(
                {
                    "name": ("Ana", "Ben")[number % 2],
                    "content": text,
                    "id": f"t{number}",
                    "timestamp": when.isoformat(),
                }
            )
        memory.facts.assert_("Ana", "likes", "tea", at=START, source="t0")
        memory.consolidate(now="end")
        assert memory.doctor() == []
    return folder


@pytest.fixture
def sound(prepared: Path, home: Path) -> Iterator[Memory]:
    shutil.copytree(prepared, home)
    with Memory.open(home, "b") as memory:
        yield memory


def damage(home: Path, script: str, bank: str = "b") -> None:
    sql = sqlite3.connect(home / "banks" / f"{bank}.db")
    sql.executescript(script)
    sql.close()


@pytest.mark.parametrize(
    ("script", "check"),
    [
        ("UPDATE units SET terms = x''", "terms"),
        ("DELETE FROM vectors WHERE unit IN (SELECT seq FROM units WHERE kind = 'turn')", "vectors"),
        ("DELETE FROM vectors WHERE unit IN (SELECT seq FROM units WHERE kind <> 'turn')", "vectors"),
        ("UPDATE vectors SET vector = zeroblob(length(vector))", "vectors"),
        ("UPDATE vectors SET vector = x'00' WHERE unit = 1", "vectors"),
        ("UPDATE units SET mentioned_at = '2001-01-01T00:00:00.000000Z' WHERE kind = 'turn'", "rows"),
        ("DELETE FROM unit_turns", "provenance"),
        ("DELETE FROM token_codes", "tokens"),
        ("DELETE FROM units WHERE kind = 'turn' AND id = 't1'", "units"),
        ("DELETE FROM events", "graph"),
        ("DELETE FROM derived", "graph"),
        ("DELETE FROM extractions", "graph"),
        ("INSERT INTO fact_sources VALUES ('fnone', 't0', 1, ''); INSERT INTO fact_confirmations (fact, at,"
         " confirmed_at, support) VALUES ('fnone', '', '', 1)", "orphans"),
        ("INSERT INTO fact_slots (key, name) SELECT seq, 'empty' FROM fact_keys", "orphans"),
        ("UPDATE nodes SET level = 4 WHERE level = 3", "tree"),
        ("UPDATE units SET occurred_start = '1999-01-01T00:00:00.000000Z' WHERE level = 2", "tree"),
        ("DELETE FROM nodes WHERE level = 3", "tree"),
        ("INSERT INTO keeping VALUES ('erasing', '1')", "erasure"),
    ],
)  # fmt: skip
def test_what_is_derived_is_found_broken_and_rebuilt(
    sound: Memory, home: Path, script: str, check: str
) -> None:
    before = [(turn.id, turn.text, turn.said_at) for turn in sound.turns()]
    events = [event.id for event in sound.events()]
    damage(home, f"PRAGMA foreign_keys = OFF; {script}")
    findings = sound.doctor()
    assert check in {finding.check for finding in findings}, findings
    assert all(finding.problem and not finding.fixed for finding in findings)
    mended = sound.doctor(fix=True)
    assert mended and all(finding.fixed for finding in mended), mended
    assert sound.doctor() == []
    assert [(turn.id, turn.text, turn.said_at) for turn in sound.turns()] == before
    assert [event.id for event in sound.events()] == events
    assert sound.recall("bicycle").memories and sound.tree(level=3)
    assert [fact.object for fact in sound.facts.current("Ana", "likes", now=START + timedelta(days=9))] == [
        "tea"
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", ["0000c07f", "0000807f", "ffff7f7f"], ids=["no number", "infinite", "huge"])
def test_a_vector_of_nonsense_is_told_in_one_sentence_and_made_anew(
    prepared: Path, home: Path, value: str
) -> None:
    shutil.copytree(prepared, home)
    damage(home, f"UPDATE vectors SET vector = x'{value * DIMENSION}' WHERE unit = 1")
    with Memory.open(home, "b") as memory:
        with pytest.raises(Damaged, match=r"^rows of the bank cannot be read \(a vector .*bank doctor"):
            memory.recall("bicycle")
        assert [finding.problem for finding in memory.doctor() if finding.check == "vectors"] == [
            "1 vectors are damaged: their length is not one"
        ]
        assert all(finding.fixed for finding in memory.doctor(fix=True)) and memory.doctor() == []
        assert memory.recall("bicycle").memories


@pytest.mark.parametrize(
    ("script", "check"),
    [
        ("UPDATE facts SET valid_from = '2020-01-01T00:00:00.000000Z', valid_to = NULL, slot = 1", "facts"),
        ("UPDATE turns SET recorded_at = '2999-01-01T00:00:00.000000Z'; UPDATE units SET recorded_at ="
         " '2999-01-01T00:00:00.000000Z' WHERE kind = 'turn'", "clock"),
    ],
)  # fmt: skip
def test_what_cannot_be_rebuilt_is_told_and_left(sound: Memory, home: Path, script: str, check: str) -> None:
    sound.facts.assert_("Ana", "likes", "coffee", at=START, valid_from=START)
    damage(home, script)
    assert check in {finding.check for finding in sound.doctor()}
    left = [finding for finding in sound.doctor(fix=True) if not finding.fixed]
    assert check in {finding.check for finding in left}


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE turns SET said_at = 'yesterday' WHERE id = 't0'",
        "UPDATE turns SET metadata = '{' WHERE id = 't0'",
        "UPDATE turns SET zone = 'Moon/Sea' WHERE id = 't0'",
    ],
)
def test_damaged_originals_are_not_mended_over(sound: Memory, home: Path, script: str) -> None:
    damage(home, f"{script}; UPDATE units SET terms = x''")
    before = (home / "banks" / "b.db").read_bytes()
    with pytest.raises(Damaged, match=r"what was said is damaged itself .*nothing was changed.*bank salvage"):
        sound.doctor(fix=True)
    assert "terms" in {finding.check for finding in sound.doctor()}
    assert any(finding.original for finding in sound.doctor())
    assert len(before) == (home / "banks" / "b.db").stat().st_size


def test_turns_that_were_forgotten_and_are_here_again_are_told(sound: Memory, home: Path) -> None:
    sound.forget(turns="t1")
    turn = "'t1', 's', 'x-t1', 'user', 'Ben', 'How is the flat?', '2025-03-03T10:00:00.000000Z', 'UTC', '', 3, '{}'"
    columns = "id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata"
    damage(home, f"INSERT INTO turns ({columns}) VALUES ({turn})")
    assert "forgotten" in {finding.check for finding in sound.doctor()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Turn]]:
    """A bank of turns of every length, before anything is lost, and what is in it."""
    folder = tmp_path_factory.mktemp("whole") / "home"
    with Memory.open(folder, "b", embedder="fake", reader="none", cache_entries=0, extract="none") as memory:
        memory.add_many(
            {
                "id": f"m{n}",
                "content": f"message number {n} " + "with a long tail " * (n % 700),
                "name": "Ana",
                "metadata": {"id": f"m{n}"},
            }
            for n in range(300)
        )
        return folder, {turn.id: turn for turn in memory.turns()}


@pytest.mark.parametrize("lost", ["header", "root", "half", "random", "schema"])
def test_turns_are_salvaged_from_a_corrupt_file(
    whole: tuple[Path, dict[str, Turn]], home: Path, tmp_path: Path, lost: str
) -> None:
    folder, said = whole
    shutil.copytree(folder, home)
    path = home / "banks" / "b.db"
    raw = bytearray(path.read_bytes())
    sql = sqlite3.connect(path)
    root = sql.execute("SELECT rootpage FROM sqlite_master WHERE name = 'turns'").fetchone()[0]
    sql.close()
    if lost == "header":
        raw[:100] = os.urandom(100)
    elif lost == "root":
        raw[(root - 1) * 4096 : root * 4096] = bytes(4096)
    elif lost == "schema":
        raw[:4096] = bytes(4096)
    elif lost == "half":
        raw = raw[: len(raw) // 2]
    else:
        chance = random.Random(5)
        for page in chance.sample(range(1, len(raw) // 4096), 40):
            raw[page * 4096 : page * 4096 + 4096] = chance.randbytes(4096)
    path.write_bytes(raw)
    out = tmp_path / "saved.jsonl"
    count = Memory.salvage(out, home, "b")
    floor = {"header": 300, "root": 300, "schema": 300, "half": 20, "random": 150}[lost]
    assert floor <= count <= 300 and path.read_bytes() == raw
    with Memory.open(
        home, "saved", embedder="fake", reader="none", cache_entries=0, extract="none"
    ) as memory:
        assert run(["import", str(out), "--home", str(home), "--bank", "saved", "--no-wait"]) == 0
        for turn in memory.turns():
            was = said[turn.id]
            assert (turn.text, turn.said_at, turn.speaker, turn.session) == (
                was.text,
                was.said_at,
                was.speaker,
                was.session,
            )
            assert turn.metadata == {"id": turn.id}
        assert len(memory.turns()) == count


def test_salvage_reads_the_write_ahead_log_and_nothing_forgotten(home: Path, tmp_path: Path) -> None:
    import json

    memory = Memory.open(home, "b", embedder="fake", reader="none", cache_entries=0, extract="none")
    memory.add([{"content": f"message {n}", "id": f"m{n}"} for n in range(50)])
    memory.forget(turns=[f"m{n}" for n in range(10)])
    memory.add({"content": "only in the log", "id": "late"})
    assert (home / "banks" / "b.db-wal").stat().st_size > 0
    out = tmp_path / "saved.jsonl"
    assert Memory.salvage(out, home, "b") == 41
    ids = {json.loads(line)["id"] for line in out.read_text().splitlines()}
    assert ids == {"late", *(f"m{n}" for n in range(10, 50))}
    memory.close()
    with pytest.raises(NotFound):
        Memory.salvage(out, home, "nobody")
