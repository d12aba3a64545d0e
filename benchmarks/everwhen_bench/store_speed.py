"""SQLite and PostgreSQL side by side: the same synthetic bank in both, asked the same questions turn by turn.

The bank is that of `speed`. What is timed is a whole call of `Memory`, with the default recipe; embedding a question
costs the same in both. `alike` is the share of SQLite's first ten that PostgreSQL gives too: vectors are halved there.
"""

from __future__ import annotations

import os
import random
import secrets
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

from everwhen.memory import Memory
from everwhen.recall import MID
from everwhen.store.opening import open_banks
from everwhen_bench.speed import LOW, Timings, adds, build, percentiles, questions, vocabulary

FORGETS = 20
FIRST = 10


def run(store: str, units: int, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Build a bank of so many units in a temporary folder and in a database, and measure both in one run."""
    os.environ.pop("EVERWHEN_STORE", None)  # the home folder is one of the two
    bank = f"speed-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = Path(folder)
        places = {"sqlite": open_banks(home), "postgresql": open_banks(home, store=store)}
        stack.callback(places["postgresql"].drop, bank)
        built: dict[str, dict[str, Any]] = {}
        for name, banks in places.items():
            start = perf_counter()
            size = build(banks, units, vocabulary(random.Random(7)), random.Random(7), progress, bank)
            built[name] = {"build_s": perf_counter() - start, "bytes_per_unit": size / units}
        opened = {
            name: stack.enter_context(
                Memory.open(home, bank, store=address, cache_entries=0, extract="none", create=False)
            )
            for name, address in (("sqlite", None), ("postgresql", store))
        }
        timings = {name: (Timings(), Timings()) for name in opened}
        alike: list[float] = []
        for question in questions(units, random.Random(7)):
            found = []
            for name, memory in opened.items():
                whole, low = timings[name]
                found.append([one.id for one in whole.time(memory, question, MID)][:FIRST])
                low.time(memory, question, LOW)
            alike.append(len({*found[0]} & {*found[1]}) / max(1, len(found[0])))
        measured = {
            name: {
                "recall_ms": percentiles(timings[name][0].whole),
                "recall_low_ms": percentiles(timings[name][1].whole),
                "stages": timings[name][0].table(),
                "add_ms": percentiles(adds(memory, vocabulary(random.Random(7)), random.Random(8))),
                "forget_ms": percentiles(_forgets(memory, units)),
                **built[name],
            }
            for name, memory in opened.items()
        }
    times = [measured[name]["recall_ms"]["p50"] for name in ("postgresql", "sqlite")]
    return {"units": units, "alike": mean(alike), "recall_ratio": times[0] / times[1], **measured}


def _forgets(memory: Memory, units: int) -> list[float]:
    """One turn at a time, spread over the bank."""
    times = []
    for number in range(FORGETS):
        start = perf_counter()
        memory.forget(turns=[f"u{number * units // FORGETS}"])
        times.append((perf_counter() - start) * 1000)
    return times[2:]
