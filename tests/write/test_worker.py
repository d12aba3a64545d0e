"""Waiting for extraction: it ends, it says what is missing, and it does not spin."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory, Unavailable
from everwhen.store.rows import Work
from everwhen.store.sqlite.connection import statements
from everwhen.write.entities import KnownEntities
from everwhen.write.extract.base import Batch, Extraction
from everwhen.write.remember import LONGEST_EXCHANGE
from everwhen.write.worker import Worker

AT = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)


def opened(home: Path, **settings: Any) -> Memory:
    return Memory.open(home, "b", embedder="fake", reader="none", cache_entries=0, **settings)


class Gate:
    """An extractor that finds nothing, and waits at a gate before it says so."""

    name, version = "gate", "1"

    def __init__(self) -> None:
        self.open = threading.Event()
        self.reached = threading.Event()

    def extract(self, batch: Batch) -> Extraction:
        self.reached.set()
        assert self.open.wait(30)
        return Extraction(self.name, self.version)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr("everwhen.api.memory.bank.open_extractor", lambda settings: made)
    yield made
    made.open.set()


def worker_of(memory: Memory, before: Callable[[Work], None] = lambda work: None) -> Worker:
    """A worker over a bank whose own one sleeps: what it does with a batch is only to call it done."""

    def process(work: Work) -> Extraction:
        before(work)
        with memory._bank.store.graph.writing(memory._bank.store.info.model) as write:
            write.mark_done([turn.id for turn in work.turns], "test", "1")
        return Extraction("test", "1")

    return Worker(memory._bank.store.jobs.extraction, process)


def test_a_reader_waits_for_what_was_there_when_it_asked_and_not_for_what_comes_after(home: Path) -> None:
    with opened(home, extract="none") as memory:
        memory.add([f"turn {n}" for n in range(30)], session="s")
        worker = worker_of(memory, before=lambda work: memory.add(["one more"] * 25, session="s") and None)
        try:
            assert worker.wait(memory._bank.store.jobs.extraction.watermark(), timeout=60) == 0
            assert memory.stats().pending > 0  # somebody goes on writing, and the reader is done
        finally:
            worker.close()


def test_every_reader_answers_after_its_time_and_says_how_many_turns_are_missing(
    home: Path, gate: Gate
) -> None:
    with opened(home, wait_seconds=0.05) as memory:
        memory.add(["I moved to Porto.", "I bought a boat."], at=AT)
        assert gate.reached.wait(10)
        assert memory.events().pending == 2
        assert memory.entities().pending == 2
        assert memory.timeline().pending == 2
        assert memory.tree().pending == memory.profile().pending == 2
        assert memory.facts.current().pending == memory.facts.about("Ana").pending == 2
        assert memory.facts.stale().pending == memory.facts.review().pending == 2
        assert memory.compare("the move", "the boat").pending == 2
        assert memory.ask("where did I move?").pending == 2
        assert memory.recall("Porto", fresh=True).pending == 2
        assert memory.recall("Porto").pending == 0  # it was not asked to wait
        gate.open.set()
        memory.flush(timeout=30)
        assert memory.events().pending == memory.ask("where did I move?").pending == 0


def test_a_question_waits_once_however_many_reads_it_is_made_of(
    home: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []
    wait = Worker.wait

    def counted(self: Worker, *given: Any) -> int:
        waits.append(given)
        return wait(self, *given)

    monkeypatch.setattr(Worker, "wait", counted)
    with opened(home, wait_seconds=0.05) as memory:
        memory.add("I moved to Porto last week.", at=AT)
        memory.ask("How many days before the boat did I move to Porto?")
        assert len(waits) == 1
        memory.compare("the move", "the boat")
        assert len(waits) == 2
        gate.open.set()


def test_a_bank_without_extraction_waits_for_nothing(home: Path) -> None:
    with opened(home, extract="none") as memory:
        memory.add("I moved to Porto.")
        assert memory.events().pending == 0
        assert memory.process() == 0


def test_many_stops_at_once_are_no_error(home: Path) -> None:
    failures: list[BaseException] = []
    with opened(home) as memory:
        ids = memory.add([f"turn {n}" for n in range(8)], session="s").turns

        def forget(turn: str) -> None:
            try:
                memory.forget(turns=turn)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=forget, args=(turn,)) for turn in ids]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert failures == []
        assert memory.turns() == []


def test_nothing_is_extracted_inside_a_pause_and_all_of_it_behind(home: Path) -> None:
    done: list[str] = []
    with opened(home, extract="none") as memory:
        worker = worker_of(memory, before=lambda work: done.extend(turn.id for turn in work.turns))
        with worker.paused():
            memory.add("one")
            worker.wake()
            assert worker.wait(memory._bank.store.jobs.extraction.watermark(), timeout=0.3) == 1
            assert done == []
        assert worker.wait(memory._bank.store.jobs.extraction.watermark(), timeout=30) == 0
        assert len(done) == 1
        worker.close()


def test_who_waits_for_a_paused_or_busy_worker_hardly_asks(home: Path) -> None:
    with opened(home, extract="none") as memory:
        memory.add("one")
        worker, jobs, asked = worker_of(memory), memory._bank.store.jobs.extraction, []
        waits = jobs.waits
        jobs.waits = lambda upto=None: bool(asked.append(upto)) or waits(upto)  # type: ignore[method-assign]
        with worker.paused():
            worker.wait(jobs.watermark(), timeout=1.0)
        assert len(asked) < 20  # five times a second, not thousands
        worker.close()


def test_who_waits_for_a_worker_that_is_closed_hears_so(home: Path) -> None:
    with opened(home, extract="none") as memory:
        memory.add("one")
        worker = worker_of(memory)
        worker.close()
        with pytest.raises(Unavailable, match="closed while its extraction was waited for"):
            worker.wait(memory._bank.store.jobs.extraction.watermark(), timeout=30)


def test_no_wake_is_lost_while_the_last_batch_ends(home: Path) -> None:
    """A turn that is committed just when the worker found nothing more is still taken up."""
    with opened(home, extract="none") as memory:
        worker = worker_of(memory)
        jobs = memory._bank.store.jobs.extraction
        claim, late = jobs.claim, threading.Event()

        def claimed(*given: Any) -> Work | None:
            found = claim(*given)
            if found is None and not late.is_set():
                memory.add("late")
                worker.wake()
                late.set()
            return found

        jobs.claim = claimed  # type: ignore[method-assign]
        memory.add("one")
        worker.wake()
        assert late.wait(30)
        end = time.monotonic() + 30
        while jobs.pending() and time.monotonic() < end:
            time.sleep(0.01)
        assert jobs.pending() == 0
        worker.close()


def test_a_batch_that_takes_longer_than_a_claim_holds_is_not_done_twice(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "everwhen.write.worker.CLAIM_SECONDS", 3.0
    )  # a busy machine may stop a thread for a second
    with opened(home, extract="none") as memory, opened(home, extract="none") as other:
        memory.add("one")
        read: list[str] = []
        taken = threading.Event()

        def hold(work: Work) -> None:
            read.append("one")
            taken.set()
            time.sleep(4.0)

        one = worker_of(memory, before=hold)
        two = worker_of(other, before=lambda work: read.append("two"))
        one.wake()
        assert taken.wait(30)
        assert two.wait(memory._bank.store.jobs.extraction.watermark(), timeout=30) == 0
        assert read == ["one"]
        one.close()
        two.close()


# The to-do list


def waiting(path: Path) -> tuple[set[int], set[int]]:
    """What the list says, and what it should say."""
    sql = sqlite3.connect(path)
    try:
        listed = {row[0] for row in sql.execute("SELECT turn FROM pending")}
        true = {
            row[0]
            for row in sql.execute("SELECT seq FROM turns WHERE seq NOT IN (SELECT turn FROM extractions)")
        }
        return listed, true
    finally:
        sql.close()


def test_the_list_is_what_has_no_extraction_whatever_was_done(home: Path, tmp_path: Path) -> None:
    path = home / "banks" / "b.db"
    with opened(home, extract="none") as memory:
        turns = memory.add([f"I saw a bird {n}." for n in range(30)], session="s", at=AT).turns
        listed, true = waiting(path)
        assert listed == true
        assert len(listed) == 30
    with opened(home) as memory:
        memory.flush()
        assert waiting(path) == (set(), set())
        memory._bank.worker.close()
        memory._bank.store.jobs.extraction.enqueue(turns[:7])
        listed, true = waiting(path)
        assert listed == true
        assert len(listed) == 7
        memory.forget(turns=turns[3])
        listed, true = waiting(path)
        assert listed == true
        assert listed
        memory.export(tmp_path / "out.jsonl")
    with Memory.open(home, "copy", embedder="fake", reader="none", cache_entries=0, extract="none") as copy:
        copy.import_(tmp_path / "out.jsonl")
        copied, true = waiting(home / "banks" / "copy.db")
        assert copied == true and len(copied) == len(listed)  # under numbers of their own
        copy.forget(everything=True)
        assert waiting(home / "banks" / "copy.db") == (set(), set())


@pytest.mark.parametrize(
    "name", ["count_pending", "something_pending", "next_pending", "first_pending_of_session"]
)
def test_asking_what_waits_never_reads_the_turns(home: Path, name: str) -> None:
    with opened(home) as memory:
        memory.add("one")
        memory.flush()
    sql = sqlite3.connect(home / "banks" / "b.db")
    asked = statements()[name]
    plan = " ".join(row[3] for row in sql.execute(f"EXPLAIN QUERY PLAN {asked}", (1,) * asked.count("?")))
    sql.close()
    assert "turns" not in plan
    assert "extractions" not in plan


# One speaker who does not stop


def test_a_monologue_is_cut_so_that_adding_to_it_reads_a_bounded_number_of_turns(home: Path) -> None:
    with opened(home, extract="none") as memory:
        memory.add_many(
            [
                {"name": "Ana", "content": f"note {n}", "timestamp": AT + timedelta(minutes=n)}
                for n in range(180)
            ],
            session="s",
        )
        for n in range(180, 200):
            memory.add({"name": "Ana", "content": f"note {n}"}, session="s", at=AT + timedelta(minutes=n))
        sizes: dict[str, int] = {}
        for turn in memory.turns():
            sizes[turn.segment] = sizes.get(turn.segment, 0) + 1
        assert list(sizes.values()) == [LONGEST_EXCHANGE] * 4
        assert len(memory._bank.store.segment_speakers(memory.turns()[0].segment, 7)) == 7


# Names held from batch to batch


class Counting:
    """How often all entities were read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from everwhen.store.sql.graph_writer import GraphWriter

        self.reads = 0
        entities = GraphWriter.entities

        def counted(writer: GraphWriter) -> Any:
            self.reads += 1
            return entities(writer)

        monkeypatch.setattr(GraphWriter, "entities", counted)


def test_names_are_read_once_until_somebody_else_changes_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting(monkeypatch)
    with opened(home) as one, opened(home) as two:
        for n, name in enumerate(("Carlos", "Dora", "Carlos", "Emil")):
            one.add(f"I met {name} yesterday.", session=f"s{n}", at=AT)
            one.flush()
        assert counting.reads == 1
        two.rename_entity("Carlos", "Karl")
        one.add("Karl called me.", session="t", at=AT)
        one.flush()
        assert counting.reads == 2
        assert one.entity("Karl").mentions == 3  # it is known by its new name at once


def test_names_of_a_batch_that_failed_are_not_held(home: Path) -> None:
    with opened(home) as memory:
        memory.add("I met Carlos yesterday.", at=AT)
        memory.flush()
        held = KnownEntities()
        graph = memory._bank.store.graph

        class Broken(Exception):
            pass

        with pytest.raises(Broken), graph.writing(memory._bank.store.info.model) as write:
            held.open(write)
            held.names.add("Nobody", 99)
            raise Broken
        with graph.writing(memory._bank.store.info.model) as write:
            held.open(write)
            assert held.names.going_by("Nobody") == []
            held.keep(write.names_version())


ENDING = """
import sys, threading, time
from everwhen import Memory

memory = Memory.open(sys.argv[1], "b", embedder="fake", reader="none", cache_entries=0)
begun, process = threading.Event(), memory._bank.worker._process

def slowly(work):
    begun.set()
    time.sleep(0.3)
    found = process(work)
    print("extracted", flush=True)
    return found

memory._bank.worker._process = slowly
memory.add("I met Carlos yesterday.")
begun.wait()
"""


def test_a_program_that_ends_without_closing_its_bank_waits_for_the_batch(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDING, str(home)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "extracted\n", "")
