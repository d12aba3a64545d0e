"""A PostgreSQL server that is killed again and again under four writers: nothing acknowledged is lost or doubled."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from everwhen import Memory
from everwhen.cli.app import run
from tests.postgres import OwnServer

WRITER = """
import itertools, sys, time
from everwhen import Memory
from everwhen.errors import Unavailable

address, bank, name, acknowledged, stop = sys.argv[1:]

def again(work):
    for attempt in itertools.count():
        try:
            return work()
        except Unavailable:
            if attempt > 1000:
                raise
            print("again", flush=True)
            time.sleep(0.05)

opened = again(lambda: Memory.open(address, bank, embedder="fake", reader="none", cache_entries=0))
with opened as memory, open(acknowledged, "w") as done:
    for number in itertools.count():
        batch = [
            {
                "id": f"{name}-{number}-{part}",
                "content": f"{name} moved to Leeds on day {number} part {part}",
                "session": name,
            }
            for part in range(2)
        ]
        for turn in again(lambda: memory.add(batch)).turns:
            done.write(turn + "\\n")
        done.flush()
        try:
            open(stop).close()
            break
        except FileNotFoundError:
            time.sleep(0.02)
"""
BANKS = ("ana", "ben")


@pytest.mark.long
def test_a_server_killed_ten_times_under_four_writers_keeps_each_acknowledged_write_once(
    own_server: OwnServer,
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {f"writer{number}": tmp_path / f"writer{number}" for number in range(4)}
    stop = tmp_path / "stop"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, own_server.address, BANKS[place % 2], name, str(file), str(stop)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for place, (name, file) in enumerate(files.items())
    ]
    downs = []
    try:
        for kill in range(10):
            before = _lines(files.values())
            while len(_lines(files.values())) < len(before) + 40:  # it is killed while they write
                assert all(writer.poll() is None for writer in writers)
                time.sleep(0.02)
            time.sleep(0.037 * kill)
            began = time.monotonic()
            own_server.kill(signal.SIGQUIT if kill % 2 else signal.SIGKILL)
            own_server.start()
            downs.append(time.monotonic() - began)
    finally:
        stop.touch()
        again = sum(writer.communicate(timeout=180)[0].count("again") for writer in writers)
    assert [writer.returncode for writer in writers] == [0] * 4

    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    monkeypatch.setenv("EVERWHEN_STORE", own_server.address)
    assert run(["server", "worker", "--once"]) == 0
    there: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    for bank in BANKS:
        with Memory.open(own_server.address, bank, create=False) as memory:
            assert memory.stats().pending == 0 and memory.doctor() == []
            turns = memory.turns()
            there.update(turn.id for turn in turns)
            texts.update(turn.text for turn in turns)
            found = memory.recall("moved to Leeds", budget=10 * len(turns), max_tokens=10**9)
            assert {one.id for one in found} >= {turn.id for turn in turns}  # the index agrees with the rows
    acknowledged = _lines(files.values())
    assert len(acknowledged) == len(set(acknowledged)) >= 400
    assert {one: there[one] for one in acknowledged if there[one] != 1} == {}
    assert max(texts.values()) == 1 and set(there) == set(
        acknowledged
    )  # every write was tried until it succeeded
    with capsys.disabled():
        print(
            json.dumps(
                {
                    "acknowledged": len(acknowledged),
                    "again": again,
                    "down_s": [round(one, 2) for one in downs],
                }
            )
        )


def _lines(files: Iterable[Path]) -> list[str]:
    """What was acknowledged; a line that is not whole is not."""
    found: list[str] = []
    for file in files:
        if file.exists():
            text = file.read_text()
            found += text[: text.rfind("\n") + 1].splitlines()
    return found
