"""How fast the memory tree is: three years of conversations consolidated without a model, then one late turn.

The conversations are put together from templates, so that sentences look like sentences; their vectors are random ones
of the default width, since consolidation reads stored vectors and embeds nothing. Nothing is extracted: a bank without
facts is what is measured. What is timed is real: `memory.consolidate`, with durable writes.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from everwhen.api.memory import DEFAULT_EMBEDDER, Memory
from everwhen.models.embedder import normalised
from everwhen.store.rows import NewTurn
from everwhen.store.sqlite import SqliteStore
from everwhen.store.sqlite.connection import bank_path
from everwhen.types import Role, Turn
from everwhen_bench.metrics import percentile

START = datetime(2022, 1, 1, 8, tzinfo=UTC)
YEARS = 3
SESSION_TURNS = 18
"""Turns of a conversation, on average."""
BATCH = 2048
LATE = 20
RECALLS = 60
WIDTH = 384

_WHO = (
    "I",
    "We",
    "My sister",
    "Tom",
    "My colleague Priya",
    "The kids",
    "Our neighbour",
    "Grandma",
    "Leo",
    "My boss",
)
_DID = (
    "visited",
    "painted",
    "sold",
    "repaired",
    "forgot",
    "photographed",
    "planned",
    "moved",
    "bought",
    "cleaned",
)
_WHAT = (
    "the blue kitchen", "an old violin", "the garden shed", "two train tickets to Ghent", "the report for the board",
    "a map of the valley", "the bicycle with the bent wheel", "a cake with plums", "the flat in Mill Street",
    "a course in pottery", "the choir's new programme", "an appointment at the clinic", "the tent",
    "a litter of kittens",
)  # fmt: skip
_WHEN = (
    "yesterday",
    "last Friday",
    "two days ago",
    "this morning",
    "in the end",
    "again",
    "for the first time",
    "at last",
)
_ASKED = (
    "How did that go?",
    "What happened then?",
    "Really? Tell me more.",
    "And what will you do now?",
    "That sounds nice.",
)


def run(turns: int, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Fill a bank with so many turns in a temporary folder, consolidate it, and add late turns one by one."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _fill(home, turns, chance, progress)
        with Memory.open(home, "tree", cache_entries=0, extract="none") as memory:
            before = _recalls(memory)
            start, worked = perf_counter(), process_time()
            done = memory.consolidate("end")
            seconds, cpu = perf_counter() - start, process_time() - worked
            after = _recalls(memory)
            nodes = {level: len(memory._bank.store.tree.nodes(level)) for level in range(2, 6)}
            late = [_late(memory, number, chance) for number in range(LATE)]
            size = memory.stats().bytes
    return {
        "turns": turns,
        "years": YEARS,
        "built": done.built,
        "nodes": {f"level {level}": count for level, count in nodes.items()},
        "seconds": seconds,
        "cpu_seconds": cpu,
        "turns_per_s": turns / seconds,
        "late_turn": {
            "rebuilt_most": max(nodes for nodes, _ in late),
            "ms_p50": percentile([ms for _, ms in late], 50),
            "ms_p95": percentile([ms for _, ms in late], 95),
        },
        "recall_ms_p50": {"without nodes": before, "with nodes": after},
        "disk_mb": size / 1e6,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        / (1e6 if sys.platform == "darwin" else 1e3),
    }


def _fill(home: Path, turns: int, chance: random.Random, progress: Callable[[int], None] | None) -> None:
    noise = np.random.default_rng(7)
    store = SqliteStore.open(
        bank_path(home, "tree"), embedder=DEFAULT_EMBEDDER, dimension=WIDTH, zone="Europe/Lisbon"
    )
    try:
        batch: list[NewTurn] = []
        for number, turn in enumerate(_turns(turns, chance), start=1):
            vector = normalised(noise.standard_normal((1, WIDTH), dtype=np.float32))
            batch.append(NewTurn(turn, vector, store.info.model))
            if len(batch) == BATCH or number == turns:
                store.append(batch)
                batch = []
                if progress:
                    progress(number)
    finally:
        store.close()


def _turns(count: int, chance: random.Random) -> Iterator[Turn]:
    """Conversations spread over the years, of 4 to 32 turns each."""
    sessions = max(1, count // SESSION_TURNS)
    gap = timedelta(days=365 * YEARS) / sessions
    number = session = 0
    while number < count:
        at = START + session * gap
        for _ in range(chance.randint(4, 2 * SESSION_TURNS - 4)):
            if number == count:
                return
            at += timedelta(seconds=chance.randint(20, 200))
            yield _turn(f"t{number}", f"s{session}", at, number, chance)
            number += 1
        session += 1


def _turn(id_: str, session: str, at: datetime, number: int, chance: random.Random) -> Turn:
    role: Role = "assistant" if number % 2 else "user"
    told = [_told(chance) for _ in range(chance.randint(1, 4))]
    return Turn(
        id=id_,
        session=session,
        seq=0,
        role=role,
        speaker="Juno" if number % 2 else "Ana",
        text=chance.choice(_ASKED) if number % 2 else " ".join(told),
        said_at=at,
        zone="Europe/Lisbon",
        recorded_at=at,
        tokens=20,
        segment=f"x-{id_}",
    )


def _told(chance: random.Random) -> str:
    parts = (chance.choice(_WHO), chance.choice(_DID), chance.choice(_WHAT), chance.choice(_WHEN))
    return f"{' '.join(parts)}, which took {chance.randint(2, 90)} minutes."


def _late(memory: Memory, number: int, chance: random.Random) -> tuple[int, float]:
    """One more turn in a conversation of long ago: nodes that are built again, and milliseconds."""
    sessions = memory.sessions()
    session = sessions[chance.randrange(len(sessions))]
    said = {"role": "user", "content": _told(chance), "name": "Ana", "id": f"late{number}"}
    memory.add(said, session=session.id, at=session.first + (session.last - session.first) / 2)
    start = perf_counter()
    done = memory.consolidate("end")
    return done.built + done.rebuilt, (perf_counter() - start) * 1000


def _recalls(memory: Memory) -> float:
    times = []
    for number in range(RECALLS):
        start = perf_counter()
        memory.recall(f"who {_DID[number % len(_DID)]} {_WHAT[number % len(_WHAT)]}")
        times.append((perf_counter() - start) * 1000)
    return percentile(times[5:], 50)
