"""Many writers on one key: whatever the order, no two believed facts share an instant, at any transaction time."""

from __future__ import annotations

import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

from everwhen import Memory
from everwhen.types import Fact

WRITER = """
import random, sys
from datetime import UTC, datetime, timedelta
from everwhen import EverwhenError, Memory
home, seed = sys.argv[1], int(sys.argv[2])
chance = random.Random(seed)
start = datetime(2024, 1, 1, tzinfo=UTC)
with Memory.open(home, "shared", embedder="fake", reader="none", cache_entries=0) as memory:
    facts = memory.facts
    for number in range(120):
        subject, place = f"S{chance.randrange(2)}", f"place {chance.randrange(4)}"
        begin = start + timedelta(days=chance.randrange(60))
        at = chance.choice([None, start + timedelta(days=chance.randrange(60))])
        act = chance.randrange(8)
        if act == 0:
            facts.correct(subject, "lives in", place, valid_from=begin, at=at)
        elif act == 1:
            for fact in facts.history(subject, "lives in")[:1]:
                try:
                    facts.retract(fact.id, reason="chance", at=at)
                except EverwhenError:
                    pass  # the other process was faster
        elif act == 2:
            try:
                facts.end(subject, "lives in", on=begin, at=at)
            except EverwhenError:
                pass
        else:
            facts.assert_(subject, "lives in", place, valid_from=begin, at=at, confidence=chance.random())
"""


def believed(versions: list[Fact], known_at: object) -> list[Fact]:
    """The chain at a transaction time, read from nothing but the versions."""
    held = [
        fact
        for fact in versions
        if fact.status not in ("overruled", "disputed")
        and fact.recorded_at <= known_at  # type: ignore[operator]
        and (fact.superseded_at is None or fact.superseded_at > known_at)  # type: ignore[operator]
    ]
    return sorted(held, key=lambda fact: fact.valid_from)


def test_two_processes_never_make_facts_overlap(home: Path) -> None:
    with Memory.open(home, "shared", embedder="fake", reader="none", cache_entries=0):
        pass
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(home), str(seed)]) for seed in (1, 2)]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    with Memory.open(home, "shared") as memory:
        assert memory.doctor() == []
        for subject in ("S0", "S1"):
            versions = memory.facts.history(subject, "lives in", versions=True)
            assert len(versions) > 50
            times = {fact.recorded_at for fact in versions} | {
                f.superseded_at for f in versions if f.superseded_at
            }
            for known_at in times:
                chain = believed(versions, known_at)
                for one, after in pairwise(chain):
                    assert one.valid_to is not None and one.valid_to <= after.valid_from
                    (found,) = memory.facts.as_of(after.valid_from, subject, "lives in", known_at=known_at)
                    assert (found.id, found.version) == (after.id, after.version)
                assert len({fact.id for fact in chain}) == len(chain)


def test_twenty_connections_asserting_one_key_leave_one_chain(home: Path) -> None:
    with Memory.open(home, "shared", embedder="fake", reader="none", cache_entries=0):
        pass

    def tell(number: int) -> None:
        with Memory.open(home, "shared", embedder="fake", reader="none", cache_entries=0) as memory:
            for _ in range(3):
                memory.facts.assert_("Ana", "lives in", f"place {number % 5}", confidence=0.9)

    threads = [threading.Thread(target=tell, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Memory.open(home, "shared") as memory:
        assert len(memory.facts.current("Ana", "lives in")) == 1 and memory.doctor() == []
        history = memory.facts.history("Ana", "lives in")
        assert all(one.valid_to == after.valid_from for one, after in pairwise(history))
        assert sum(fact.support for fact in memory.facts.history("Ana", "lives in", versions=False)) >= len(
            history
        )
