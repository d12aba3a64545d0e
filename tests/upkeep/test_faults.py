"""The table of faults in benchmarks/history/faults.md, row by row: what is promised is what happens."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from everwhen import Memory, ModelError, Refused
from everwhen.models.fake_embedder import FakeEmbedder
from everwhen.store.sqlite.connection import SCHEMA
from tests.upkeep.raw import traces

ROOT = Path(__file__).parent.parent.parent
POINTS = int(os.environ.get("CRASH_POINTS", "5"))
"""How many crash points `make test` takes; benchmarks/history/faults.md has a long run."""
MARK = "Quuxenburg"


def test_a_writer_killed_at_any_statement_loses_nothing_acknowledged(tmp_path: Path) -> None:
    nothing_is_lost(tmp_path, POINTS, seed=7, timeout=280)


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_writer_killed_at_sixty_statements_loses_nothing_acknowledged(tmp_path: Path) -> None:
    nothing_is_lost(tmp_path, 60, seed=8, timeout=1780)


def nothing_is_lost(folder: Path, points: int, *, seed: int, timeout: float) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.upkeep.crashing", str(points), str(seed), str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["killed"] >= points * 0.8 and found["problems"] == []


def test_a_full_disk_while_forgetting_is_told_and_finished_later(quick: Memory, home: Path) -> None:
    quick.add(
        [
            {"content": f"message {n} of {MARK}" if n == 5 else f"message {n}", "id": f"m{n}"}
            for n in range(40)
        ]
    )
    quick.flush()
    with quick._bank.store._file.use() as sql:  # type: ignore[attr-defined]
        sql.raw.execute(f"PRAGMA max_page_count = {sql.raw.execute('PRAGMA page_count').fetchone()[0]}")
    receipt = quick.forget(turns="m5")
    with quick._bank.store._file.use() as sql:  # type: ignore[attr-defined]
        sql.raw.execute("PRAGMA max_page_count = 1000000")
    assert "m5" not in {turn.id for turn in quick.turns()}
    if not receipt.erased:
        assert receipt.notes
        assert {finding.check for finding in quick.doctor()} == {"erasure"}
    quick.doctor(fix=True)
    assert quick.doctor() == [] and traces(home, [MARK]) == []


LIMITED = """
import resource, signal, sys
from everwhen import EverwhenError, Memory
home, target, what = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0, extract="none") as memory:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        memory.backup(target) if what == "backup" else memory.export(target)
    except EverwhenError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.parametrize("what", ["backup", "export"])
def test_a_backup_or_export_that_does_not_fit_leaves_no_file(
    quick: Memory, home: Path, tmp_path: Path, what: str
) -> None:
    quick.add_many(f"message {number} " + "x" * 300 for number in range(600))
    quick.close()
    target = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(home), str(target), what],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Unavailable"), done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


def test_a_read_only_volume_is_read_exported_and_backed_up_and_nothing_else(
    quick: Memory, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick.add({"content": "kept", "id": "k"})
    quick.flush()
    quick._bank.store.jobs.scrubbing.run()
    quick.close()
    for module in ("store", "copies"):
        monkeypatch.setattr(
            f"everwhen.store.sqlite.{module}.is_writable", lambda path: "home" not in str(path)
        )
    with Memory.open(
        home, "quick", embedder="fake", reader="none", cache_entries=0, extract="none"
    ) as memory:
        assert [turn.text for turn in memory.turns()] == ["kept"] and memory.recall("kept").memories
        assert memory.export(tmp_path / "out.jsonl") > 0
        assert memory.backup(tmp_path / "b.db").exists()
        for refused in (
            lambda: memory.forget(turns="k"),
            lambda: memory.set_retention("turns 3 days"),
            lambda: memory.add("no"),
        ):
            with pytest.raises(Refused, match="cannot be written"):
                refused()


class Clock:
    """Stands for `datetime` where it is asked for the time."""

    ahead = timedelta()

    @classmethod
    def now(cls, zone: object = None) -> datetime:
        return datetime.now(UTC) + cls.ahead


def test_a_clock_that_jumps_loses_no_order_and_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Jumping(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return Clock.now()

    for module in ("write.remember", "facts.interface", "store.sql.graph", "store.sql.graph_writer"):
        monkeypatch.setattr(f"everwhen.{module}.datetime", Jumping)
    with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add({"content": "I live in Berlin.", "id": "first"})
        memory.facts.assert_("Ana", "lives in", "Porto")
        Clock.ahead = timedelta(hours=-30)
        memory.add({"content": "And the clock went back.", "id": "second"})
        memory.facts.assert_("Ana", "lives in", "Lisbon", valid_from=datetime.now(UTC) + timedelta(days=1))
        memory.flush()
        assert {turn.id for turn in memory.turns()} == {"first", "second"}
        times = [fact.recorded_at for fact in memory.facts.history("Ana", "lives in", versions=True)]
        assert times == sorted(times) and memory.doctor() == []
        Clock.ahead = timedelta(days=400)
        memory.add({"content": "And far ahead.", "id": "third"})
        memory.flush()
        Clock.ahead = timedelta()
        memory.add({"content": "I bought a bicycle.", "id": "fourth"})
        memory.flush(timeout=60)  # a claim that expires in a year holds nobody back
        assert [finding.check for finding in memory.doctor()] == ["clock"]
        assert "third" in {turn.id for turn in memory.turns()} and memory.recall("far ahead").memories


def test_a_process_that_was_overtaken_by_a_newer_schema_stops_writing(quick: Memory, home: Path) -> None:
    quick.add({"content": "before", "id": "a"})
    quick.flush()
    newer = sqlite3.connect(home / "banks" / "quick.db")
    with newer:
        newer.execute("CREATE TABLE later (x)")
        newer.execute("INSERT INTO migrations VALUES (?, 'later', '')", (SCHEMA + 1,))
    newer.close()
    for write in (
        lambda: quick.add("after"),
        lambda: quick.facts.assert_("Ana", "likes", "tea"),
        lambda: quick.forget(turns="a"),
    ):
        with pytest.raises(Refused, match="upgraded by a newer everwhen meanwhile"):
            write()
    assert [turn.text for turn in quick.turns()] == ["before"]


class Failing(FakeEmbedder):
    """Gives up after so many texts."""

    left = 10**9

    def embed(self, texts: Sequence[str]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        if len(texts) > self.left:
            raise ModelError("the embedder's server does not answer; try again")
        self.left -= len(texts)
        return super().embed(texts)


def test_an_embedder_that_fails_half_way_leaves_whole_batches_and_the_rest_can_follow(home: Path) -> None:
    with Memory.open(
        home, "quick", embedder="fake", reader="none", cache_entries=0, extract="none", batch=16
    ) as memory:
        failing = Failing()
        memory._bank.model._embedder = failing
        failing.left = 40
        messages = [{"content": f"message {n}", "id": f"m{n}", "session": f"s{n}"} for n in range(64)]
        with pytest.raises(ModelError):
            memory.add_many(messages)
        assert len(memory.turns()) == 32 and memory.doctor() == []
        failing.left = 10**9
        assert memory.add_many(messages).new == 32 and len(memory.turns()) == 64
        before = [turn.id for turn in memory.turns()]
        memory.add([{"content": "one", "id": "x1"}, {"content": "two", "id": "x2"}], session="x")
        failing.left = 0
        with pytest.raises(ModelError):
            memory.forget(turns="x1")  # what follows it could not be embedded: nothing happened
        assert [turn.id for turn in memory.turns()] == [*before, "x1", "x2"]
        failing.left = 10**9
        assert memory.doctor() == [] and memory.forget(turns="x1").erased


def test_re_embedding_that_fails_half_way_leaves_the_bank_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(
        home, "quick", embedder="fake", reader="none", cache_entries=0, extract="none", batch=8
    ) as memory:
        memory.add_many(f"message {n}" for n in range(30))
        failing = Failing(dim=32)
        failing.left = 20
        monkeypatch.setattr("everwhen.api.memory.bank.shared_embedder", lambda model: failing)
        with pytest.raises(ModelError):
            memory.reembed("other")
        assert (
            memory.doctor() == [] and memory.stats().dimension == 64 and memory.recall("message 3").memories
        )


def test_a_reader_in_the_way_of_the_last_bytes_is_told_and_they_go_later(
    quick: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everwhen.store.sqlite.scrubbing.SCRUB_SECONDS", 0.2)
    quick.add([{"content": f"I went to {MARK}.", "id": "a"}, {"content": "Fine.", "id": "b"}])
    quick.flush()
    reader = sqlite3.connect(home / "banks" / "quick.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM turns").fetchone()
    receipt = quick.forget(turns="a")
    assert not receipt.erased and "another process reads the bank" in receipt.notes[0]
    assert MARK not in repr([quick.turns(), quick.events(), quick.entities()])
    reader.close()
    assert {finding.check for finding in quick.doctor()} == {"erasure"}
    assert all(finding.fixed for finding in quick.doctor(fix=True))
    assert traces(home, [MARK]) == []


def test_every_row_of_the_fault_table_names_a_test_that_is_there() -> None:
    page = (ROOT / "benchmarks" / "history" / "faults.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page)
    assert len(named) >= 15
    for file, test in named:
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), (
            file,
            test,
        )
