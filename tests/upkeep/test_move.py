"""Banks move to another home: equal in every record, in one step, and never over another bank."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Damaged, Memory, NotFound, Refused
from everwhen.cli.app import run
from everwhen.store.banks import banks_at, open_banks
from everwhen.store.rows import Record
from everwhen.store.sql.records import Snapshot
from everwhen.upkeep import transfer as moving
from everwhen.upkeep.transfer import digests_of, move_bank

START = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)
QUICK: dict[str, Any] = {"embedder": "fake", "reader": "none", "cache_entries": 0}


@pytest.fixture
def there(tmp_path: Path) -> Path:
    return tmp_path / "there"


@pytest.fixture
def full(home: Path) -> Iterator[Memory]:
    """A bank with decisions that were changed since: past mentions, merges, conflicts, corrections."""
    with Memory.open(home, "full", zone="Europe/Lisbon", **QUICK) as memory:
        said = (
            "I moved to Porto in May.",
            "My brother Tom works at Acme.",
            "Tommy called Tom from Lisbon.",
            "to be forgotten",
            "I live in Berlin.",
        )
        for number, text in enumerate(said):
            when = (START + number * DAY).isoformat()
            memory.add({"name": "Ana", "content": text, "id": f"t{number}", "timestamp": when}, session="s")
        memory.flush()
        memory.forget(turns="t3")  # numbers have a gap
        memory.merge_entities("Tom", "Tommy")
        memory.split_entity("Tom", ["Tommy"])
        memory.facts.assert_("Ana", "likes", "tea", at=START, source="t0")
        memory.facts.correct("Ana", "likes", "coffee", at=START + DAY)
        memory.facts.assert_("Ben", "lives in", "Rome", at=START, valid_from=START)
        memory.facts.assert_("Ben", "lives in", "Oslo", at=START, valid_from=START)
        memory.facts.define_predicate("drives", multi=True, synonyms=["rides"])
        memory.facts.report_missing("Acme", at=START)
        memory.set_retention("keep raw turns 900 days")
        memory.consolidate(now="end")
        memory.add({"name": "Ana", "content": "I left Acme yesterday.", "id": "t5"}, session="s")
        memory.flush()
        memory.consolidate(now="end")
        memory.recall("where does Ana live")
        yield memory


@pytest.fixture
def database(postgres: str) -> str:
    """An empty database, as people write its address."""
    part = dict(one.split("=", 1) for one in postgres.split())
    return f"postgresql://{part['user']}:{part['password']}@{part['host']}:{part['port']}/{part['dbname']}"


def contents(memory: Memory) -> list[Record]:
    with memory._bank.store.keep.snapshot() as snapshot:
        return list(snapshot.records())


def many(home: Path, bank: str, turns: int = 60) -> None:
    with Memory.open(home, bank, extract="none", **QUICK) as memory:
        memory.add_many(f"message {number} of {bank}" for number in range(turns))


def test_a_moved_bank_is_equal_and_lives_on(full: Memory, home: Path, there: Path) -> None:
    full.close()
    moved = move_bank(open_banks(home), open_banks(there), "full")
    assert not moved.was_there and not moved.deleted and moved.records["past_mention"]
    with Memory.open(home, "full", **QUICK) as ours, Memory.open(there, "full", **QUICK) as theirs:
        assert contents(ours) == contents(theirs) and theirs.doctor() == [] == ours.doctor()
        assert theirs.zone == "Europe/Lisbon" and theirs.retention == ours.retention
        for known_at in (None, datetime.now(UTC) - timedelta(seconds=1), START + 3 * DAY):
            assert theirs.entities(known_at=known_at) == ours.entities(known_at=known_at)
            assert theirs.events(known_at=known_at) == ours.events(known_at=known_at)
            assert theirs.tree(known_at=known_at) == ours.tree(known_at=known_at)
            asked = {"instant": START + 2 * DAY, "known_at": known_at or datetime.now(UTC)}
            assert theirs.facts.as_of(**asked) == ours.facts.as_of(**asked)
        assert theirs.facts.review() == ours.facts.review() != []
        for memory in (ours, theirs):  # a decision still finds what it was about
            memory.undo_entities()
        assert [one.name for one in theirs.entities()] == [one.name for one in ours.entities()]
        theirs.add({"content": "to be forgotten", "id": "t3", "timestamp": (START + 3 * DAY).isoformat()})
        assert "t3" not in {turn.id for turn in theirs.turns()}
        theirs.add("and life goes on")
        theirs.flush()
        theirs.consolidate(now="end")
        assert theirs.doctor() == []


def test_a_move_is_told_and_a_second_one_finds_it_done(
    home: Path, there: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many(home, "a")
    many(home, "b")
    command = ["bank", "move", "--from", str(home), "--to", str(there)]
    assert run([*command, "b"]) == 0
    assert "bank b is moved: " in capsys.readouterr().out
    assert run(command) == 0
    told = capsys.readouterr().out
    assert "bank a is moved: " in told and "bank b was there already: " in told
    assert open_banks(home).names() == ["a", "b"] == open_banks(there).names()
    assert run([*command, "--delete-source", "--bank", "a", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert one["deleted"] and one["records"]["turn"] == 60 and len(one["digests"]["turn"]) == 64
    assert open_banks(home).names() == ["b"] and list((there / "banks").glob(".*")) == []
    assert run(["bank", "move", "--from", str(home), "--to", str(home)]) == 2
    assert run([*command, "none"]) == 3


def test_another_bank_is_never_overwritten(home: Path, there: Path) -> None:
    many(home, "a")
    many(there, "a", 3)
    with pytest.raises(
        Refused, match="a bank 'a' that differs in keeping, turn, unit, and nothing is overwritten"
    ):
        move_bank(open_banks(home), open_banks(there), "a", delete_source=True)
    with Memory.open(there, "a", **QUICK) as memory:
        assert memory.stats().turns == 3
        memory.forget(everything=True)
    with pytest.raises(Refused, match="differs in"):  # what was forgotten there must not come back
        move_bank(open_banks(home), open_banks(there), "a")
    with pytest.raises(NotFound, match="no bank 'c' to be moved"):
        move_bank(open_banks(home), open_banks(there), "c")


def test_a_bank_moves_to_postgres_and_back(
    full: Memory, home: Path, there: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    full.close()
    assert run(["bank", "move", "--from", str(home), "--to", database, "full"]) == 0
    assert "bank full is moved: " in capsys.readouterr().out
    banks = banks_at(database)
    assert banks.names() == ["full"]
    with Memory.open(home, "full", **QUICK) as ours, Memory.open(database, "full", **QUICK) as theirs:
        assert theirs.doctor() == [] and theirs.zone == "Europe/Lisbon"
        assert [turn.id for turn in theirs.turns()] == [turn.id for turn in ours.turns()]
        for known_at in (None, START + 3 * DAY):
            assert theirs.events(known_at=known_at) == ours.events(known_at=known_at)
            assert theirs.entities(known_at=known_at) == ours.entities(known_at=known_at)
        assert theirs.facts.review() == ours.facts.review() != []
        question = {"query": "where does Ana live", "at": START + 9 * DAY}
        assert {one.id for one in theirs.recall(**question)} == {one.id for one in ours.recall(**question)}
    assert move_bank(banks, open_banks(there), "full").records["turn"] == 5
    with Memory.open(there, "full", **QUICK) as back:
        assert back.doctor() == []
        back.add({"content": "to be forgotten", "id": "t3", "timestamp": (START + 3 * DAY).isoformat()})
        back.add("and life goes on")
        assert "t3" not in {turn.id for turn in back.turns()}


def test_a_move_to_postgres_that_was_killed_goes_on(
    home: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(home, "a")
    arguments = [sys.executable, "-c", KILLED, str(home), database]
    killed = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL and killed.stdout.split() == ["20", "40", "60"], killed.stderr
    assert banks_at(database).names() == ["a"]
    seen: list[int] = []
    monkeypatch.setattr(moving, "BLOCK", 20)
    ours = open_banks(home), banks_at(database)
    move_bank(*ours, "a", delete_source=True, progress=lambda done, total: seen.append(done))
    assert seen[0] == 80 and open_banks(home).names() == []
    with Memory.open(database, "a", **QUICK) as memory:
        assert memory.stats().turns == 60 and memory.doctor() == []


def test_an_export_is_the_same_from_either_database(full: Memory, tmp_path: Path, database: str) -> None:
    full.export(tmp_path / "full.jsonl")
    with Memory.open(database, "copy", **QUICK) as copy:
        copy.import_(tmp_path / "full.jsonl")
        assert copy.doctor() == [] and len(copy.turns()) == 5
        copy.add("and life goes on")
        copy.flush()
        assert copy.doctor() == []


KILLED = """
import os, signal, sys
from everwhen.upkeep import transfer as move
from everwhen.store.banks import banks_at

move.BLOCK = 20
def tick(done, total):
    print(done, flush=True)
    if done == 60:
        os.kill(os.getpid(), signal.SIGKILL)
move.move_bank(banks_at(sys.argv[1]), banks_at(sys.argv[2]), "a", progress=tick)
"""


def test_a_move_that_was_killed_goes_on(home: Path, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(home, "a")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, home, there], check=False, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL and killed.stdout.split() == ["20", "40", "60"], killed.stderr
    with Memory.open(there, "a", **QUICK) as memory:
        assert memory.turns() == []  # nothing is seen before it is whole
    seen: list[int] = []
    monkeypatch.setattr(moving, "BLOCK", 20)
    banks = open_banks(home), open_banks(there)
    moved = move_bank(*banks, "a", progress=lambda done, total: seen.append(done))
    assert seen[0] == 80 and seen[-1] == sum(moved.records.values())
    with Memory.open(home, "a", **QUICK) as ours, Memory.open(there, "a", **QUICK) as theirs:
        assert contents(ours) == contents(theirs) and theirs.doctor() == []


def test_a_bank_that_was_changed_since_is_moved_anew(home: Path, there: Path) -> None:
    many(home, "a")
    killed = subprocess.run([sys.executable, "-c", KILLED, home, there], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    many(home, "a", 1)
    seen: list[int] = []
    move_bank(open_banks(home), open_banks(there), "a", progress=lambda done, total: seen.append(done))
    with Memory.open(home, "a", **QUICK) as ours, Memory.open(there, "a", **QUICK) as theirs:
        assert contents(ours) == contents(theirs)


def test_a_bank_that_changes_meanwhile_is_not_deleted(
    home: Path, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(home, "a")
    banks = open_banks(home), open_banks(there)
    with pytest.raises(Refused, match=r"was changed while it was moved .turn, unit"):
        move_bank(*banks, "a", delete_source=True, progress=lambda done, total: many(home, "a", 1))
    assert banks[0].exists("a")


def test_a_copy_that_differs_is_not_seen(home: Path, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many(home, "a")
    banks = open_banks(home), open_banks(there)
    whole = Snapshot._last_seen
    monkeypatch.setattr(Snapshot, "_last_seen", lambda self, number: whole(self, number - 1))
    with Memory.open(home, "a", **QUICK) as memory:
        memory.consolidate(now="end")
    with pytest.raises(Damaged, match="the copy of bank 'a' differs in setting"):
        move_bank(*banks, "a", delete_source=True)
    monkeypatch.undo()
    with Memory.open(there, "a", **QUICK) as memory:
        assert memory.turns() == []
    assert not move_bank(*banks, "a").was_there


def test_a_vector_that_lost_its_last_bits_is_the_same_one() -> None:
    class Half:
        def __init__(self, *vector: float) -> None:
            import base64

            import numpy as np

            self.vector = base64.b64encode(np.array(vector, dtype="<f4").tobytes()).decode()

        def counts(self) -> dict[str, int]:
            return {"unit": 1}

        def values(self) -> dict[str, str]:
            return {}

        def records(self, *, vectors: bool = True) -> Iterator[Record]:
            yield {"kind": "unit", "id": "u", "vectors": [self.vector]}

    assert digests_of(Half(0.1, 0.2)) == digests_of(Half(0.0999756, 0.199951))
    assert digests_of(Half(0.1, 0.2)) != digests_of(Half(0.1, 0.3))
