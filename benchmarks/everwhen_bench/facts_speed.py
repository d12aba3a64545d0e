"""How fast facts are: a bank of a million of them, asked as a program asks.

The bank is filled with plain SQL, since a million durable assertions would take an hour; what is timed goes through
`memory.facts`. Each subject has the predicates of `PREDICATES`, each of these a chain of versions.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

from everwhen.api.memory import Memory
from everwhen.store.sqlite import SqliteStore
from everwhen.types.times import to_text
from everwhen_bench.metrics import percentile

PREDICATES = ("lives in", "works at", "prefers", "reports to", "status")
VERSIONS = 4
"""Versions in the chain of one subject and predicate."""
START = datetime(2021, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(days=400)
READS = 2000
STALE = 100


def run(count: int, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Fill a bank with so many facts in a temporary folder, and time the questions that programs ask most."""
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with Memory.open(home, "facts", embedder="fake", cache_entries=0) as memory:
            store = memory._bank.store
            assert isinstance(store, SqliteStore)
            subjects = fill(store, count, progress)
            size = store.stats().bytes
        with Memory.open(home, "facts", embedder="fake", cache_entries=0) as memory:
            facts = memory.facts

            def subject() -> str:
                return f"Subject {chance.randrange(subjects)}"

            def instant() -> datetime:
                return START + timedelta(days=chance.random() * 1800)

            def predicate() -> str:
                return chance.choice(PREDICATES)

            timings = {
                "current_ms": _timed(lambda: facts.current(subject(), predicate(), now=NOW)),
                "as_of_subject_ms": _timed(lambda: facts.as_of(instant(), subject())),
                "known_at_subject_ms": _timed(lambda: facts.as_of(instant(), subject(), known_at=instant())),
                "history_ms": _timed(lambda: facts.history(subject(), predicate())),
                "assert_ms": _timed(lambda: facts.assert_(subject(), predicate(), "elsewhere"), 200),
            }
            before = _peak()
            start = perf_counter()
            stale = facts.stale(now=NOW, limit=STALE)
            seconds = perf_counter() - start
    return {
        "facts": count,
        "subjects": subjects,
        **timings,
        "stale_s": seconds,
        "stale_found": len(stale),
        "stale_rss_growth_mb": _peak() - before,
        "disk_mb": size / 1e6,
        "bytes_per_fact": size / count,
    }


def fill(store: SqliteStore, count: int, progress: Callable[[int], None] | None = None) -> int:
    """Write so many believed facts with plain SQL, in chains of `VERSIONS`; how many subjects they are about."""
    keys = -(-count // VERSIONS)
    with store._file.transaction() as sql:
        sql.raw.executemany(
            "INSERT INTO fact_keys (seq, subject_key, predicate_key, subject, predicate, last_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            _keys(keys),
        )
        sql.raw.executemany(
            "INSERT INTO fact_slots (seq, key, name) VALUES (?, ?, '')",
            ((key, key) for key in range(1, keys + 1)),
        )
        sql.raw.executemany(
            "INSERT INTO facts (id, version, slot, object, object_key, domain, grain, valid_from, claimed_to, "
            "valid_to, stated_at, recorded_at, confidence, origin, standing, act, support, tokens) "
            "VALUES (?, 1, ?, ?, ?, ?, 'second', ?, NULL, ?, ?, ?, 1.0, 'observation', 'believed', 'assert', 1, 8)",
            _facts(count, progress),
        )
    return -(-keys // len(PREDICATES))


def _keys(keys: int) -> Iterator[tuple[Any, ...]]:
    last = to_text(START + VERSIONS * STEP)
    for key in range(keys):
        subject, predicate = f"Subject {key // len(PREDICATES)}", PREDICATES[key % len(PREDICATES)]
        yield key + 1, subject.casefold(), predicate, subject, predicate, last


def _facts(count: int, progress: Callable[[int], None] | None) -> Iterator[tuple[Any, ...]]:
    chance = random.Random(11)
    for number in range(count):
        key, place = divmod(number, VERSIONS)
        begin = START + place * STEP + timedelta(days=key % 90)
        end = to_text(begin + STEP) if place < VERSIONS - 1 and number < count - 1 else None
        object_ = f"object {chance.randrange(10_000)}"
        domain = "project_status" if key % len(PREDICATES) == 4 else None
        stamp = to_text(begin)
        yield f"f{number:016x}", key + 1, object_, object_, domain, stamp, end, stamp, stamp
        if progress and number % 20_000 == 0:
            progress(number)


def _timed(call: Callable[[], object], reads: int = READS) -> dict[str, float]:
    times = []
    for _ in range(reads):
        start = perf_counter()
        call()
        times.append((perf_counter() - start) * 1000)
    return {f"p{p}": percentile(times[10:], p) for p in (50, 95)}


def _peak() -> float:
    """Megabytes of memory at the peak so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
