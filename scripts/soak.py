"""Use a home for a long time, and see that memory and file handles stay flat.

    python scripts/soak.py --minutes 20 --out build/soak.json       # two processes, then 2,000 banks in turn
    python scripts/soak.py --minutes 0 --banks 2000                 # only the banks
    python scripts/soak.py --minutes 0 --banks 0 --tiny 200000      # so many tiny turns into one bank

Two processes add, recall, assert facts, consolidate and forget on one bank, which is kept at `TURNS` turns by
forgetting the oldest, so that what grows is a leak. Every 10 seconds both are looked at from outside: resident memory,
open file handles, threads. Over the last two thirds of the run the straight line through each must stay under its
bound, and `doctor` must find nothing at the end. Exit code 1 when that does not hold.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

TURNS = 600
"""Turns that the bank is kept at."""
WARM = 50
"""Rounds of each process before the clock starts: every kind of work was done twice by then."""
STOP = "stop"
EVERY = 10.0
"""Seconds between two looks."""
BOUNDS = {"rss_mb": 1.0, "handles": 0.5, "threads": 0.5}
"""What each may grow by in a minute. A leak of a kilobyte an operation shows as several megabytes in a minute."""
BANK_BOUNDS = {"rss_mb": 20.0, "handles": 1.0}
"""What each may grow by in a thousand banks: a leaked index or connection is at least ten times as much."""
PEOPLE = ("Ana", "Ben", "Carla", "Davi", "Elena", "Farid")
THINGS = ("violin", "garden", "telescope", "novel", "boat", "painting", "bicycle", "kayak")
PLACES = ("Porto", "Lisbon", "Oslo", "Kyoto", "Lima", "Turin")


def main() -> int:
    options = _options()
    if options.worker is not None:
        work(options.home, options.embedder, options.worker)
        return 0
    found: dict[str, Any] = {"command": shlex.join(["python", *sys.argv]), "embedder": options.embedder}
    with tempfile.TemporaryDirectory(prefix="everwhen-soak-") as folder:
        if options.minutes:
            found["soak"] = soak(Path(folder) / "soak", options.embedder, options.minutes)
            write(options.out, found)
        if options.banks:
            found["banks"] = many_banks(Path(folder) / "banks", options.banks)
            write(options.out, found)
        if options.tiny:
            found["tiny"] = tiny_turns(Path(folder) / "tiny", options.tiny)
    flat = all(part.get("flat", True) for part in found.values() if isinstance(part, dict))
    write(options.out, found | {"flat": flat})
    print(f"{'flat' if flat else 'NOT flat'}: {options.out}")
    return 0 if flat else 1


# Two processes on one bank


def soak(home: Path, embedder: str, minutes: float) -> dict[str, Any]:
    from everwhen import Memory

    chance = random.Random(0)
    with Memory.open(home, "soak", embedder=embedder) as memory:  # as large as it will stay
        for number in (1, 2):
            days = (
                datetime(2023, 1, number, 9, tzinfo=UTC) + timedelta(hours=7 * n) for n in range(TURNS // 2)
            )
            memory.add_many(
                {**said(chance, place), "timestamp": at, "session": f"{number}-{at:%Y-%m-%d}"}
                for place, at in enumerate(days)
            )
        memory.flush()
        memory.consolidate()
    command = [sys.executable, __file__, "--home", str(home), "--embedder", embedder]
    workers = [subprocess.Popen([*command, "--worker", str(number)]) for number in (1, 2)]
    looks = []
    try:
        # Models are loaded and everything was done once before the clock starts.
        while not all(ready(home, number).exists() for number in (1, 2)) and alive(workers):
            time.sleep(1)
        began = time.monotonic()
        while time.monotonic() - began < 60 * minutes and alive(workers):
            time.sleep(EVERY)
            if alive(workers):
                seen = [look(worker.pid) for worker in workers]
                looks.append({"seconds": round(time.monotonic() - began, 1), "processes": seen})
    finally:
        (home / STOP).touch()
        for worker in workers:
            worker.wait(300)
    with Memory.open(home, "soak", create=False) as memory:
        findings = [f"{one.check}: {one.problem}" for one in memory.doctor()]
        held = memory.stats()
    notes = [home / f"worker-{number}.json" for number in (1, 2)]
    done = [json.loads(note.read_text()) for note in notes if note.exists()]
    growth = slopes(looks)
    failed = [worker.returncode for worker in workers if worker.returncode]
    flat = not findings and not failed and all(
        abs(one[name]) < bound or one[name] < 0 for one in growth for name, bound in BOUNDS.items()
    )  # fmt: skip
    return {
        "minutes": minutes,
        "flat": flat,
        "bounds_per_minute": BOUNDS,
        "growth_per_minute": growth,
        "doctor": findings,
        "exit_codes": failed,
        "operations": done,
        "turns": held.turns,
        "disk_mb": round(held.bytes / 1e6, 1),
        "looks": looks,
    }


def alive(workers: list[subprocess.Popen[bytes]]) -> bool:
    return all(worker.poll() is None for worker in workers)


def ready(home: Path, number: int) -> Path:
    return home / f"ready-{number}"


def said(chance: random.Random, number: int) -> dict[str, Any]:
    """What somebody says next."""
    thing, place = chance.choice(THINGS), chance.choice(PLACES)
    return {
        "name": chance.choice(PEOPLE),
        "content": f"I bought a {thing} in {place} yesterday, number {number}.",
    }


def work(home: Path, embedder: str, number: int) -> None:
    """One process: everything that a bank is used for, over and over."""
    from everwhen import Memory, Unavailable
    from everwhen.errors import NotFound

    chance = random.Random(number)
    said_at = datetime(2024, 1, number, 9, tzinfo=UTC)
    done: dict[str, int] = {}
    with Memory.open(home, "soak", embedder=embedder) as memory:

        def once(name: str, act: Callable[..., Any], *given: Any, **named: Any) -> Any:
            gave = None
            try:
                gave = act(*given, **named)
            except NotFound:
                name = f"{name}: gone already"  # the other process forgot it first
            except Unavailable as error:
                name = f"{name}: {type(error).__name__}"
            done[name] = done.get(name, 0) + 1
            return gave

        turn = 0
        while not (home / STOP).exists():
            if turn == WARM:
                ready(home, number).touch()
            turn += 1
            said_at += timedelta(minutes=chance.randrange(1, 300))
            who, thing, place = chance.choice(PEOPLE), chance.choice(THINGS), chance.choice(PLACES)
            message = {**said(chance, turn), "timestamp": said_at}
            added = once("add", memory.add, message, session=f"{number}-{said_at:%Y-%m-%d}")
            once("recall", memory.recall, f"What did {who} buy in {place}?", at=said_at)
            if turn % 3 == 0:
                source = added.turns[0] if added else None  # so that it is forgotten with what it was told by
                once("fact", memory.facts.assert_, who, "lives in", place, valid_from=said_at, source=source)
            if turn % 5 == 0:
                once("grep", memory.grep, thing)
                once("when", memory.when, f"When did {who} buy the {thing}?")
            if turn % 20 == 0:
                once("flush", memory.flush, 60)
                once("consolidate", memory.consolidate)
            if turn % 25 == 0:
                once("forget", trim, memory, number)
            if (
                turn % 200 == WARM - 1
            ):  # once before the clock starts: SQLite keeps such handles for the next time
                Memory.open(home, "soak", create=False).close()
    (home / f"worker-{number}.json").write_text(json.dumps(done))


def trim(memory: Any, number: int) -> None:
    """Forget the oldest sessions of this process until the bank is as large as it should be."""
    sessions = sorted(
        (one for one in memory.sessions() if one.id.startswith(f"{number}-")), key=lambda one: one.first
    )
    held = memory.stats().turns
    for session in sessions[:-2]:
        if held <= TURNS:
            break
        memory.forget(session=session.id)
        held -= session.turns
    stale = [fact.id for fact in memory.facts.current()]
    for fact in stale[: max(0, len(stale) - 50)]:
        memory.facts.retract(fact, reason="soak")


# Many banks, many turns


def many_banks(home: Path, count: int) -> dict[str, Any]:
    """Banks made, used and closed one after the other by one process."""
    from everwhen import Memory

    looks, began = [], time.monotonic()
    for number in range(count):
        with Memory.open(home, f"bank-{number}", embedder="fake") as memory:
            memory.add({"name": "Ana", "content": f"I moved to {PLACES[number % len(PLACES)]} last week."})
            memory.flush()
            memory.recall("Where does Ana live?")
        if number % 50 == 49:
            gc.collect()
            looks.append({"banks": number + 1, **look(os.getpid())})
    growth = {name: round(1000 * slope(looks, "banks", name), 2) for name in BANK_BOUNDS}
    return {
        "banks": count,
        "seconds": round(time.monotonic() - began, 1),
        "flat": all(growth[name] < bound for name, bound in BANK_BOUNDS.items()),
        "bounds_per_thousand": BANK_BOUNDS,
        "growth_per_thousand": growth,
        "looks": looks,
    }


def tiny_turns(home: Path, count: int) -> dict[str, Any]:
    """So many turns of a word or two, with the hashing embedder and no extraction: what the store itself takes."""
    from everwhen import Memory, UsageError

    start = datetime(2000, 1, 1, tzinfo=UTC)
    memory = Memory.open(home, "tiny", embedder="fake", extract="none", cache_entries=0, batch=2048)
    began = time.monotonic()
    memory.add_many(
        (
            {
                "content": f"ok {THINGS[number % 8]} {number % 1000}",
                "timestamp": start + timedelta(minutes=number),
            }
            for number in range(count)
        ),
        session="tiny",
    )
    added = time.monotonic() - began
    memory.close()
    seconds: dict[str, float] = {}

    def timed(name: str, act: Callable[[], Any]) -> Any:
        before = time.monotonic()
        result = act()
        seconds[name] = round(time.monotonic() - before, 2)
        return result

    memory = timed("open", lambda: Memory.open(home, "tiny", create=False, extract="none"))
    assert timed("first recall", lambda: memory.recall("violin 77"))
    assert timed("recall", lambda: memory.recall("kayak 15"))
    month = (start, start + timedelta(days=30))
    assert timed("grep, a month", lambda: memory.grep("bicycle 502", between=month))
    with suppress(UsageError):  # over everything it may take longer than the bound of `grep`
        timed("grep", lambda: memory.grep("bicycle 999999"))
    held = memory.stats()
    assert held.turns == count
    timed("doctor", memory.doctor)
    found = {
        "turns": count,
        "add_seconds": round(added, 1),
        "turns_per_second": round(count / added),
        "seconds": seconds,
        "disk_mb": round(held.bytes / 1e6, 1),
        **look(os.getpid()),
    }
    memory.close()
    return found


# Looking


def look(process: int) -> dict[str, float]:
    """Resident memory, open file handles and threads of a process (Linux)."""
    status = Path(f"/proc/{process}/status").read_text()
    values = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {
        "rss_mb": round(int(values["VmRSS"].split()[0]) / 1024, 1),
        "handles": len(list(Path(f"/proc/{process}/fd").iterdir())),
        "threads": int(values["Threads"]),
    }


def slopes(looks: list[dict[str, Any]]) -> list[dict[str, float]]:
    """For each process, what each value grows by in a minute over the last two thirds."""
    found = []
    for number in range(len(looks[0]["processes"]) if looks else 0):
        series = [{"seconds": one["seconds"], **one["processes"][number]} for one in looks]
        found.append({name: round(60 * slope(series, "seconds", name), 3) for name in BOUNDS})
    return found


def slope(looks: list[dict[str, Any]], along: str, name: str) -> float:
    """Of the straight line (least squares) through the last two thirds."""
    rest = looks[len(looks) // 3 :]
    if len(rest) < 3:
        return 0.0
    return float(np.polyfit([one[along] for one in rest], [one[name] for one in rest], 1)[0])


def write(out: Path, found: dict[str, Any]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20.0, help="of the two processes; 0 leaves them out")
    parser.add_argument("--banks", type=int, default=2000, help="opened in turn; 0 leaves them out")
    parser.add_argument("--tiny", type=int, default=0, help="tiny turns into one bank")
    parser.add_argument("--embedder", default="conversation-1", help="of the two processes")
    parser.add_argument("--out", type=Path, default=Path("build/soak.json"))
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
