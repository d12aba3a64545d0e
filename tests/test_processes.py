"""Several processes on one bank, and a writer killed again and again: nothing acknowledged is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from everwhen import Memory

LINES = 1000

WRITER = """
import sys, time
from everwhen import Memory
home, name, extract = sys.argv[1:]
with Memory.open(home, "shared", embedder="fake", reader="none", extract=extract) as memory:
    number = 0
    while True:
        number += 1
        batch = [{"content": f"{name} says number {number} part {part}", "session": name} for part in range(2)]
        for turn in memory.add(batch).turns:
            print(turn, flush=True)  # acknowledged
        time.sleep(0.02)  # so that the reader and the next one to be killed come to their turn
"""

READER = """
import sys, time
from everwhen import Memory
home, = sys.argv[1:]
with Memory.open(home, "shared", embedder="fake", reader="none") as memory:
    seen = 0
    while True:
        found = memory.recall("says number", budget=5000, max_tokens=10**9)
        assert len(found) >= seen, (len(found), seen)  # a commit is never taken back
        seen = len(found)
        print(seen, flush=True)
        time.sleep(0.2)
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)


def stop(process: subprocess.Popen[str], how: signal.Signals) -> list[str]:
    """The whole lines that a process printed; one that was cut in the middle was not acknowledged."""
    process.send_signal(how)
    printed = process.communicate()[0]
    return printed[: printed.rfind("\n") + 1].splitlines()


@pytest.mark.parametrize(
    ("kills", "extract"), [(3, "none"), pytest.param(10, "rules", marks=pytest.mark.long)]
)
def test_two_writers_a_reader_and_kills_lose_nothing(home: Path, kills: int, extract: str) -> None:
    with Memory.open(home, "shared", embedder="fake", reader="none"):
        pass
    steady, reader = start(WRITER, str(home), "steady", extract), start(READER, str(home))
    acknowledged: list[str] = []
    for round_ in range(kills):
        victim = start(WRITER, str(home), f"victim{round_}", extract)
        assert victim.stdout is not None
        acknowledged.append(victim.stdout.readline().strip())  # it writes
        time.sleep(0.15 + 0.07 * round_)
        acknowledged += stop(victim, signal.SIGKILL)
    assert steady.poll() is None and reader.poll() is None
    acknowledged += stop(steady, signal.SIGKILL)
    sizes = [int(line) for line in stop(reader, signal.SIGKILL)]

    with Memory.open(home, "shared") as memory:
        assert memory.doctor() == []
        turns = {turn.id for turn in memory.turns()}
        assert set(acknowledged) <= turns
        assert len(acknowledged) > 50
        assert sizes == sorted(sizes) and sizes[-1] > 0
        found = memory.recall("says number", budget=10 * len(turns), max_tokens=10**9)
        assert {one.id for one in found} == turns  # the index agrees with the rows
        sessions = {session.id: session.turns for session in memory.sessions()}
        assert all(count % 2 == 0 for count in sessions.values())  # a batch is whole or not there


def test_an_import_that_is_interrupted_goes_on_where_it_stopped(home: Path, tmp_path: Path) -> None:
    lines = [
        f'{{"role": "user", "content": "line {i} of the file", "session": "s{i // 50}"}}'
        for i in range(LINES)
    ]
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "everwhen", "import", str(file), "--bank", "talk", "--home", str(home)]
    environment = {
        "EVERWHEN_EMBEDDER": "fake",
        "EVERWHEN_READER": "none",
        "EVERWHEN_BATCH": "16",
        "EVERWHEN_EXTRACT": "none",
        "PATH": "",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (home / "banks" / "talk.db").exists() or _turns(home) < 32:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert (
        said.strip()
        == "everwhen: interrupted; what was added is kept, and the same command goes on from there"
    )
    part = _turns(home)
    assert 32 <= part < LINES and part % 16 == 0
    done = subprocess.run([*command, "--json"], env=environment, capture_output=True, text=True, check=True)
    assert f'"new": {LINES - part}' in done.stdout
    with Memory.open(home, "talk") as memory:
        assert memory.stats().turns == LINES and memory.doctor() == []


def _turns(home: Path) -> int:
    import sqlite3

    sql = sqlite3.connect(home / "banks" / "talk.db")
    try:
        return int(sql.execute("SELECT count(*) FROM turns").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        sql.close()
