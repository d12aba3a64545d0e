"""What does remembering cost: latency of an add by stage, time by phase, storage for each memory?

The first conversation (or as many as `--limit` says) is added exchange by exchange to a bank on disk without a cache;
afterwards it is extracted, and asked. Then all conversations go into one bank, batch by batch, to see whether a turn
costs more the more there are. Nothing calls an LLM, so its column is 0 unless EVERWHEN_EXTRACT names one.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

from everwhen.api.memory import Memory
from everwhen.settings import load
from everwhen.store.sqlite.connection import bank_path
from everwhen.types import Message
from everwhen_bench.cases import Case, cases
from everwhen_bench.metrics import percentile
from everwhen_bench.studies import Request, Result, Table

EXCHANGE = 2
CONVERSATIONS = 1
STEP = 256
"""Turns between two points of the growth."""
ADDING = {
    "embed": "everwhen.write.remember.embed_spoken",
    "write": "everwhen.store.sqlite.SqliteStore.append",
}
EXTRACTING = {
    "parse": "everwhen.write.extract.grammar._SpacyPipeline.parse",
    "extract, parse included": "everwhen.write.pipeline.extracted",
    "embed what was extracted": "everwhen.write.pipeline._units",
    "facts": "everwhen.write.pipeline.learn_facts",
    "batch, all of it": "everwhen.write.pipeline.process",
}
HOLDS = {
    "words and terms": ("turns", "units", "unit_turns"),
    "vectors": ("vectors",),
    "token vectors": ("token_codes",),
    "graph": (
        "links", "mentions", "entities", "entity_names", "entity_log", "moments", "events", "derived", "extractions"
    ),
    "facts": ("fact",),
}  # fmt: skip
"""Which tables (by the beginning of their names, indexes included) hold what."""


class Clock:
    """Times whatever it is wrapped around, by name."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}

    def around(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any, **named: Any) -> Any:
            start = perf_counter()
            try:
                return work(*given, **named)
            finally:
                self.times.setdefault(name, []).append((perf_counter() - start) * 1000)

        return timed

    @contextmanager
    def on(self, places: Mapping[str, str]) -> Iterator[None]:
        """The named functions timed, wherever they are called from."""
        from pkgutil import resolve_name

        with ExitStack() as stack:
            for name, place in places.items():
                stack.enter_context(patch(place, self.around(name, resolve_name(_colon(place)))))
            yield


def run(request: Request) -> Result:
    adds, clock = Clock(), Clock()
    phases: dict[str, list[float]] = {"remember": [], "extract": [], "recall": []}
    turns = asked = 0
    stored: dict[str, int] = {}
    spent = {"calls": 0, "tokens": 0}
    _warm()
    for case in cases(request.data, request.limit or CONVERSATIONS):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            turns += len(case.messages)
            phases["remember"].append(_remember(home, case, adds))
            extract = load().extract
            with Memory.open(home, "writing", cache_entries=0, extract=extract) as memory:
                start = process_time()
                with clock.on(EXTRACTING):
                    memory.process()
                phases["extract"].append(process_time() - start)
                start = process_time()
                for question in case.questions:
                    memory.recall(question.text, at=question.at)
                asked += len(case.questions)
                phases["recall"].append(process_time() - start)
            for what, size in storage(bank_path(home, "writing")).items():
                stored[what] = stored.get(what, 0) + size
            for key, value in _spent(bank_path(home, "writing")).items():
                spent[key] += value
        if request.progress:
            request.progress(turns)
    grown = growth(request)
    return {
        "tables": [
            _latency(f"an add of one exchange, {turns} turns, in ms", adds.times, "whole add"),
            _latency("extraction, a batch of turns, in ms", clock.times, "batch, all of it"),
            _costs(phases, turns, asked, spent),
            _storage(stored, turns),
            {
                "title": "all conversations in one bank, seconds since the beginning",
                "heads": ["turns", "added", "extracted as well"],
                "rows": [[str(one["turns"]), f"{one['add_s']:.1f}", f"{one['all_s']:.1f}"] for one in grown],
            },
        ],
        "figures": {
            "turns": turns,
            "questions": asked,
            "add_ms": {name: _spread(times) for name, times in adds.times.items()},
            "extract_ms": {name: _spread(times) for name, times in clock.times.items()},
            "cpu_s": {name: sum(seconds) for name, seconds in phases.items()},
            "llm": spent,
            "bytes": stored,
            "growth": grown,
        },
    }


def _warm() -> None:
    """Loading the models is no part of a write."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(folder, "warm", cache_entries=0, extract=load().extract) as memory,
    ):
        memory.add("Ana moved to Lisbon in May.")
        memory.flush()


def _remember(home: Path, case: Case, clock: Clock) -> float:
    start = process_time()
    with Memory.open(home, "writing", cache_entries=0, extract="none") as memory:
        add = clock.around("whole add", memory.add)
        with clock.on(ADDING):
            for exchange in _exchanges(case.messages):
                add(exchange)
    return process_time() - start


def _exchanges(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    for first in range(0, len(messages), EXCHANGE):
        yield messages[first : first + EXCHANGE]


def growth(request: Request) -> list[dict[str, float]]:
    """Seconds after so many turns: added (and then recallable), and with extraction."""
    said = [
        replace(message, id=f"{case.name}:{message.id}", session=f"{case.name}:{message.session}")
        for case in cases(request.data, request.limit)
        for message in case.messages
    ]
    points: list[dict[str, float]] = []
    adding = extracting = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(said), STEP):
            some = said[first : first + STEP]
            with Memory.open(folder, "growth", cache_entries=0, extract="none") as memory:
                start = perf_counter()
                memory.add_many(some)
                adding += perf_counter() - start
            with Memory.open(folder, "growth", cache_entries=0, extract=load().extract) as memory:
                start = perf_counter()
                memory.process()
                extracting += perf_counter() - start
            points.append({"turns": first + len(some), "add_s": adding, "all_s": adding + extracting})
    return points


def storage(path: Path) -> dict[str, int]:
    """Bytes of a bank's file by what they hold, from SQLite's own account of its pages."""
    with sqlite3.connect(path) as sql:
        pages = dict(sql.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
        table_of = dict(sql.execute("SELECT name, tbl_name FROM sqlite_master"))
    out: dict[str, int] = dict.fromkeys([*HOLDS, "the rest"], 0)
    for name, size in pages.items():
        table = table_of.get(name, name)
        holder = next((what for what, tables in HOLDS.items() if table.startswith(tables)), "the rest")
        out[holder] += int(size)
    return out


def _spent(path: Path) -> dict[str, int]:
    with sqlite3.connect(path) as sql:
        question = "SELECT total(calls), total(input_tokens + output_tokens) FROM model_usage"
        calls, tokens = sql.execute(question).fetchone()
    return {"calls": int(calls), "tokens": int(tokens)}


def _colon(place: str) -> str:
    """`a.b.C.d` as `pkgutil` wants it: the module, a colon, the way inside it."""
    from importlib.util import find_spec

    parts = place.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:cut])
        try:
            if find_spec(module) is not None:
                return f"{module}:{'.'.join(parts[cut:])}"
        except ModuleNotFoundError:
            continue
    raise ValueError(place)


def _spread(times: Sequence[float]) -> dict[str, float]:
    return {f"p{q}": round(percentile(times, q), 3) for q in (50, 95, 99)} | {"n": len(times)}


def _latency(title: str, times: Mapping[str, Sequence[float]], whole: str) -> Table:
    total = sum(times.get(whole, ())) or 1.0
    rows = [
        [
            stage,
            *(f"{percentile(ms, q):.2f}" for q in (50, 95, 99)),
            f"{sum(ms) / total:.0%}",
            len(ms),
        ]
        for stage, ms in sorted(times.items(), key=lambda item: -sum(item[1]))
    ]
    return {"title": title, "heads": ["stage", "p50", "p95", "p99", "share", "times"], "rows": rows}


def _costs(phases: Mapping[str, Sequence[float]], turns: int, asked: int, spent: Mapping[str, int]) -> Table:
    per = {"remember": turns, "extract": turns, "recall": max(asked, 1)}
    rows = [
        [
            phase,
            f"{sum(seconds):.1f}",
            f"{1000 * sum(seconds) / per[phase]:.1f}",
            "question" if phase == "recall" else "turn",
            spent["calls"] if phase == "extract" else 0,
            spent["tokens"] if phase == "extract" else 0,
        ]
        for phase, seconds in phases.items()
    ]
    heads = ["phase", "CPU s", "CPU ms each", "each", "LLM calls", "LLM tokens"]
    return {"title": "cost by phase", "heads": heads, "rows": rows}


def _storage(stored: Mapping[str, int], turns: int) -> Table:
    whole = sum(stored.values())
    rows = [
        [what, f"{size / 1e6:.2f}", round(size / turns), f"{size / whole:.0%}"]
        for what, size in stored.items()
    ]
    rows.append(["all", f"{whole / 1e6:.2f}", round(whole / turns), "100%"])
    return {"title": "storage", "heads": ["what", "MB", "bytes a turn", "share"], "rows": rows}
