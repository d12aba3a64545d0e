"""Kills a writer at a chosen SQL statement, again and again, and looks whether anything acknowledged is lost.

`python -m tests.upkeep.crashing POINTS SEED FOLDER` forks a child for each point: it runs a scripted workload and
is killed (SIGKILL, by itself) right before its n-th statement, or in the middle of one. What it was told was done, it
has written to a pipe before. Then another child opens the bank, compares, and asks the doctor. Prints one JSON line.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = {"embedder": "fake"}
START = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
LIVES = 20
"""Crashes that one bank goes through before a new one is begun."""
TEXTS = (
    "I moved to {0} in May.",
    "My brother works at {0}.",
    "I bought a bicycle in {0} yesterday.",
    "How was {0}? I liked it.",
    "I live in Berlin, not in {0}.",
)


@dataclass
class Killer:
    """Counts statements over all connections of the process, and ends it at one of them."""

    at: int | None = None
    midway: bool = False
    seen: int = 0
    _connect: Callable[..., sqlite3.Connection] = field(default=sqlite3.connect)

    def arm(self) -> None:
        def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection = self._connect(*arguments, **options)
            connection.set_trace_callback(self._traced)
            if self.midway:
                connection.set_progress_handler(self._ticked, 40)
            return connection

        sqlite3.connect = connect  # type: ignore[assignment]

    def _traced(self, _: str) -> None:
        self.seen += 1
        if not self.midway and self.seen == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def _ticked(self) -> int:
        if self.at is not None and self.seen >= self.at:
            os.kill(os.getpid(), signal.SIGKILL)  # inside a statement, after some of its work
        return 0


def workload(home: Path, life: int, tell: Callable[..., None]) -> None:
    """Something of everything that writes. What is told has been acknowledged."""
    from everwhen import Memory

    with Memory.open(home, "b", **SETTINGS) as memory:
        for number in range(4):
            name = f"Place{life}x{number}"
            at = START + timedelta(days=life, hours=number)
            messages = [
                {"name": ("Ana", "Ben")[part], "content": TEXTS[(number + part) % len(TEXTS)].format(name),
                 "id": f"t{life}-{number}-{part}", "timestamp": (at + timedelta(minutes=part)).isoformat()}
                for part in range(2)
            ]  # fmt: skip
            memory.add(messages, session=f"s{life}")
            tell("turns", [message["id"] for message in messages])
        fact = memory.facts.assert_("Ana", "likes", f"thing {life}", at=START + timedelta(days=life))
        tell("fact", fact.id)
        memory.facts.correct("Ana", "works at", f"firm {life}", at=START + timedelta(days=life))
        memory.flush()
        memory.consolidate(now="end")
        tell("trying", [f"t{life}-1-0"])
        memory.forget(turns=f"t{life}-1-0")
        tell("forgotten", [f"t{life}-1-0"])
        memory.recall("where did Ana move")
        file = memory.backup(home / "saved.db", overwrite=True)
        tell("backup", str(file))
        memory.set_retention("raw turns 900 days")
        memory.retain(now=START + timedelta(days=life))
        memory.reextract([f"t{life}-0-0"])
        memory.consolidate(now="end")
        memory.export(home / "out.jsonl")
        tell("export", str(home / "out.jsonl"))


def inspect(home: Path, told: list[list[Any]]) -> list[str]:
    """What is not as it was acknowledged, or not sound."""
    from everwhen import Memory

    problems: list[str] = []
    tried = {id_ for kind, ids in told if kind == "trying" for id_ in ids}
    gone = {id_ for kind, ids in told if kind == "forgotten" for id_ in ids}
    kept = {id_ for kind, ids in told if kind == "turns" for id_ in ids} - tried
    with Memory.open(home, "b", **SETTINGS) as memory:
        problems += [f"doctor: {finding.check}: {finding.problem}" for finding in memory.doctor()]
        turns = {turn.id for turn in memory.turns()}
        problems += [f"lost turn {id_}" for id_ in sorted(kept - turns)]
        problems += [f"forgotten turn {id_} is there" for id_ in sorted(gone & turns)]
        sessions = {id_.rsplit("-", 1)[0] for id_ in turns}
        for pair in sessions:
            whole = {f"{pair}-0", f"{pair}-1"} - tried
            if not whole <= turns:
                problems.append(f"half a batch: {pair}")
        facts = {fact.id for fact in memory.facts.versions()}
        problems += [f"lost fact {id_}" for kind, id_ in told if kind == "fact" and id_ not in facts]
        memory.flush()
        memory.consolidate(now="end")
        problems += [f"doctor later: {finding.check}: {finding.problem}" for finding in memory.doctor()]
    for kind, path in told[-3:]:
        if kind == "backup":
            Memory.restore(path, home, "restored", overwrite=True)
    return problems


def in_child(work: Callable[[Callable[..., None]], None]) -> tuple[int, list[list[Any]]]:
    """Run something in a fork; how it ended, and what it told."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 0
        try:
            work(lambda *what: os.write(write, (json.dumps(list(what)) + "\n").encode()))
        except BaseException:
            os.write(write, (json.dumps(["error", traceback.format_exc()]) + "\n").encode())
            code = 1
        os._exit(code)
    os.close(write)
    with os.fdopen(read) as stream:
        told = [json.loads(line) for line in stream if line.endswith("\n")]
    _, status = os.waitpid(child, 0)
    return status, told


def main(points: int, seed: int, folder: Path) -> int:
    workload(folder / "warm", 0, lambda *_: None)  # all that is loaded is loaded once, before the forks
    chance = random.Random(seed)
    whole = Killer()

    def count(tell: Callable[..., None]) -> None:
        whole.arm()
        workload(folder / "count", 0, tell)
        tell("statements", whole.seen)

    status, told = in_child(count)
    if status:
        print(told[-1][1])
        return 1
    statements = told[-1][1]
    lost: list[str] = []
    killed = finished = acknowledged = 0
    history: list[list[Any]] = []
    home = folder / "home"
    for point in range(points):
        life = point % LIVES
        if life == 0:
            shutil.rmtree(home, ignore_errors=True)
            history = []
        killer = Killer(chance.randint(1, statements), chance.random() < 0.3)

        def run(tell: Callable[..., None], killer: Killer = killer, life: int = life) -> None:
            killer.arm()
            workload(home, life, tell)

        status, told = in_child(run)
        killed += os.WIFSIGNALED(status)
        finished += status == 0
        history += told
        acknowledged += sum(
            len(ids) if isinstance(ids, list) else 1 for kind, ids in told if kind != "trying"
        )
        found = [told[-1][1]] if status and not os.WIFSIGNALED(status) else []

        def look(tell: Callable[..., None], history: list[list[Any]] = history) -> None:
            tell("problems", inspect(home, history))

        status, told = in_child(look)
        found += told[-1][1] if told and told[-1][0] == "problems" else [str(told[-1:])]
        lost += [f"point {point} (statement {killer.at}, midway {killer.midway}): {one}" for one in found]
    figures = {
        "points": points,
        "seed": seed,
        "statements": statements,
        "killed": killed,
        "finished": finished,
    }
    print(json.dumps({**figures, "acknowledged": acknowledged, "problems": lost[:20], "count": len(lost)}))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
