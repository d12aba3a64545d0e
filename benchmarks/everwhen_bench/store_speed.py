"""SQLite and PostgreSQL side by side: the same synthetic bank in both, asked the same questions turn by turn.

The bank is that of `speed`. What is timed is a whole call of `Memory`, with the default recipe; embedding a question
costs the same in both. `alike` is the share of SQLite's first ten that PostgreSQL gives too, and `nearest` that of its
hundred nearest vectors, which SQLite compares exactly: vectors are halved there, and a large bank has an index.
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
from time import perf_counter, process_time
from typing import Any

from everwhen.api.memory import Memory
from everwhen.models.embedder import Embedder
from everwhen.store.banks import open_banks
from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.rows import SearchQuery, Wanted
from everwhen.store.sql.store import Store
from everwhen.types.recall import MID
from everwhen_bench.speed import LOW, UNREAD, Timings, adds, build, percentiles, questions, vocabulary

FORGETS = 20
FIRST, NEAREST = 10, 100


def run(store: str, units: int, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Build a bank of so many units in a temporary folder and in a database, and measure both in one run."""
    os.environ.pop("EVERWHEN_STORE", None)  # the home folder is one of the two
    bank = f"speed-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = Path(folder)
        remote = PostgresBanks(store)
        stack.callback(remote.drop, bank)
        built: dict[str, dict[str, Any]] = {}
        for name, banks in (("sqlite", open_banks(home)), ("postgresql", remote)):
            start = perf_counter()
            size = build(banks, units, vocabulary(random.Random(7)), random.Random(7), progress, bank)
            took = perf_counter() - start
            built[name] = {"build_s": took, "stored_per_s": units / took, "bytes_per_unit": size / units}
        opened = {
            name: stack.enter_context(
                Memory.open(home, bank, store=address, cache_entries=0, extract="none", create=False)
            )
            for name, address in (("sqlite", None), ("postgresql", store))
        }
        settled = settle(remote, opened["postgresql"]._bank.store)
        measured, compared = _measured(opened, units, remote)
        for name in measured:
            measured[name] |= built[name]
    times = [measured[name]["recall_ms"]["p50"] for name in ("postgresql", "sqlite")]
    return {"units": units, **compared, "recall_ratio": times[0] / times[1], "index": settled, **measured}


def settle(banks: PostgresBanks, store: Store) -> dict[str, float]:
    """What a server does by itself after a while: the index of a large bank, and what autovacuum does. In seconds."""
    start = perf_counter()
    store.jobs.indexing.run()
    built = perf_counter() - start
    with banks.server.directly() as raw:
        raw.execute("VACUUM ANALYZE")
    return {"index_s": built, "vacuum_s": perf_counter() - start - built}


def _measured(
    opened: dict[str, Memory], units: int, banks: PostgresBanks
) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:
    recipes = {"recall_ms": MID, "recall_unread_ms": UNREAD, "recall_low_ms": LOW}
    timings = {name: {kind: Timings() for kind in recipes} for name in opened}
    cpu = {name: [0.0, 0.0] for name in opened}
    alike, nearest = [], []
    asked = questions(units, random.Random(7))
    for question in asked:  # turn by turn, so that a busy moment of the machine meets all
        found = []
        for name, memory in opened.items():
            before = process_time(), server_time(banks)
            found.append([one.id for one in timings[name]["recall_ms"].time(memory, question, MID)][:FIRST])
            for place, now in enumerate((process_time(), server_time(banks))):
                cpu[name][place] += now - before[place]
            for kind in ("recall_unread_ms", "recall_low_ms"):
                timings[name][kind].time(memory, question, recipes[kind])
        alike.append(len({*found[0]} & {*found[1]}) / max(1, len(found[0])))
    for question in asked[:50]:
        mine, theirs = (
            near(memory._bank.store, memory._bank.plain_embedder, question) for memory in opened.values()
        )
        nearest.append(len(mine & theirs) / max(1, len(mine)))
    measured = {
        name: {
            **{kind: percentiles(times.whole) for kind, times in timings[name].items()},
            "recall_cpu_ms": {
                place: 1000 * spent / len(asked)
                for place, spent in zip(("client", "server"), cpu[name], strict=True)
            },
            "stages": timings[name]["recall_ms"].table(),
            "add_ms": percentiles(adds(memory, vocabulary(random.Random(7)), random.Random(8))),
            "forget_ms": percentiles(_forgets(memory, units)),
        }
        for name, memory in opened.items()
    }
    return measured, {"alike": mean(alike), "nearest": mean(nearest)}


def near(store: Store, embedder: Embedder, question: str) -> set[int]:
    """The units of the hundred nearest vectors."""
    [vector] = embedder.embed([question])
    [found] = store.search(SearchQuery(vector)).candidates(Wanted(NEAREST, words=False)).meaning
    return {one.unit for one in found}


def server_time(banks: PostgresBanks) -> float:
    """Seconds that the processes of our connections have computed; 0 where the server is another machine."""
    with banks.server.lent() as lent:
        pids = [
            row[0]
            for row in lent.execute("SELECT pid FROM pg_stat_activity WHERE application_name = 'everwhen'")
        ]
    spent = 0.0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def _forgets(memory: Memory, units: int) -> list[float]:
    """One turn at a time, spread over the bank."""
    times = []
    for number in range(FORGETS):
        start = perf_counter()
        memory.forget(turns=[f"u{number * units // FORGETS}"])
        times.append((perf_counter() - start) * 1000)
    return times[2:]
