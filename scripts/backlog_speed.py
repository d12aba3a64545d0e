"""What grows with a bank though it should not: asking for work, linking a batch, knowing names, a long monologue.

    python scripts/backlog_speed.py [--turns 200000] [--monologue 31000] [--names 20000]

Fills a bank in a temporary folder with the hashing fake as embedder and prints one line a figure: the median in
milliseconds at a tenth of the size and at all of it. What does not grow has the same number twice.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np

from everwhen import Memory
from everwhen.store.rows import Mention
from everwhen.write.entities import KnownEntities, Resolver
from everwhen.write.extract.base import BATCH_TURNS, LOOK_BACK_TURNS
from everwhen.write.worker import CLAIM_SECONDS

START = datetime(2024, 1, 1, tzinfo=UTC)


def milliseconds(act: Callable[[], object], times: int = 7) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def message(n: int, name: str) -> dict[str, object]:
    return {"name": name, "content": f"note {n % 997}", "timestamp": START + timedelta(minutes=n)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=200_000)
    parser.add_argument("--monologue", type=int, default=31_000)
    parser.add_argument("--names", type=int, default=20_000)
    args = parser.parse_args()
    figures: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as home:
        fill(home, args.turns, figures)
        monologue(home, args.monologue, figures)
        names(home, args.names, figures)
    print(f"{'median ms':42} {'at a tenth':>12} {'at the end':>12}")
    for name, (small, whole) in figures.items():
        print(f"{name:42} {small:12.2f} {whole:12.2f}")


def fill(home: str, turns: int, figures: dict[str, list[float]]) -> None:
    """Everything is extracted but the last batch, which is what a bank in use looks like."""
    with Memory.open(home, "turns", embedder="fake", cache_entries=0, extract="none") as memory:
        store, embedder, done = memory._bank.store, memory._bank.embedder, 0
        graph, jobs = store.graph, store.jobs.extraction
        vectors = np.random.default_rng(1).normal(size=(BATCH_TURNS, embedder.dim)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for size in (turns // 10, turns):
            added = memory.add_many((message(n, f"P{n % 2}") for n in range(done, size)), session="s").turns
            read = added[:-BATCH_TURNS]
            for at in range(0, len(read), 5000):
                with graph.writing(store.info.model) as write:
                    write.mark_done(read[at : at + 5000], "speed", "1")
            done = size

            def claim() -> None:
                assert jobs.claim("speed", BATCH_TURNS, LOOK_BACK_TURNS, CLAIM_SECONDS) is not None
                jobs.release("speed")

            same = embedder.embed(["P1: note 1"] * BATCH_TURNS)
            for name, act in (
                ("count what is pending", jobs.pending),
                ("claim a batch and give it back", claim),
                ("neighbours of a batch", lambda: graph.similar(vectors, "turn", 0.7, 32)),
                ("neighbours of a batch said often", lambda same=same: graph.similar(same, "turn", 0.7, 32)),
            ):
                figures.setdefault(name, []).append(milliseconds(act))


def monologue(home: str, turns: int, figures: dict[str, list[float]]) -> None:
    with Memory.open(home, "monologue", embedder="fake", cache_entries=0, extract="none") as memory:
        done = 0
        for size in (turns // 10, turns):
            memory.add_many((message(n, "Ana") for n in range(done, size)), session="s")
            later = iter(range(size, size + 100))
            figures.setdefault("add to a monologue", []).append(
                milliseconds(lambda: memory.add(message(next(later), "Ana"), session="s"))  # noqa: B023
            )
            done = size + 100


def names(home: str, count: int, figures: dict[str, list[float]]) -> None:
    """What the names of a bank cost a batch that brings none."""
    with Memory.open(home, "names", embedder="fake", cache_entries=0, extract="none") as memory:
        graph, done = memory._bank.store.graph, 0
        (turn,) = memory.add("hello").turns
        held = KnownEntities()
        for size in (count // 10, count):
            with graph.writing(memory._bank.store.info.model) as write:
                unit = write.unit_of_turns([turn])[turn]
                for n in range(done, size):
                    write.mention(
                        [Mention(unit, write.add_entity(f"Name{n}", "PERSON"), f"Name{n}", "PERSON")]
                    )

            def batch() -> None:
                with graph.writing(memory._bank.store.info.model) as write:
                    Resolver(write, entities=held)
                    version = write.names_version()
                held.keep(version)

            figures.setdefault("know the names", []).append(milliseconds(batch))
            done = size


if __name__ == "__main__":
    main()
