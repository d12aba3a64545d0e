"""`add` says that something is remembered before it is extracted: as processes of their own, as in a shell."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from everwhen.cli.app import PATIENCE, run
from everwhen.cli.extract_behind import lock_file
from everwhen.store.files.home import store_address
from everwhen.write.extract.base import BATCH_TURNS
from everwhen.write.worker import Worker
from tests.cli.test_db import url  # noqa: F401  (fixture)


@pytest.fixture
def where(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, or where that is asked for a database behind it."""
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    if getattr(request, "param", "files") == "postgres":
        monkeypatch.setenv("EVERWHEN_STORE", request.getfixturevalue("url"))
    return home


in_both_stores = pytest.mark.parametrize("where", ["files", "postgres"], indirect=True)


def everwhen(*arguments: str) -> str:
    return subprocess.check_output([sys.executable, "-m", "everwhen", *arguments], text=True)


def pending(home: Path) -> int:
    with Memory.open(home, create=False, extract="none") as memory:
        return memory.stats().pending


@pytest.fixture
def nobody_extracts(where: Path) -> Iterator[Callable[[], None]]:
    """The lock of whoever extracts is held, until this is called."""
    with lock_file(where, store_address(), "default").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(file, fcntl.LOCK_UN)


def until(reached: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


@in_both_stores
def test_what_was_added_is_durable_before_it_is_extracted_and_a_reader_sees_the_fact(
    where: Path, nobody_extracts: Callable[[], None]
) -> None:
    added = json.loads(everwhen("add", "I live in Porto.", "--json"))
    assert added["new"] == 1 and pending(where) == 1
    (fact,) = json.loads(everwhen("facts", "current", "--json"))
    assert fact["object"] == "Porto"


@in_both_stores
def test_what_was_added_is_extracted_although_nobody_asks_for_it(
    where: Path, nobody_extracts: Callable[[], None]
) -> None:
    everwhen("add", "I live in Porto.")
    assert pending(where) == 1
    nobody_extracts()
    everwhen("add", "I play the violin.")  # whoever takes it up takes up what was left, too
    until(lambda: pending(where) == 0)


@pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="the process is found by the files that it has open"
)
def test_what_a_killed_process_was_to_extract_is_there_for_the_next_reader(where: Path) -> None:
    everwhen("add", "I live in Porto.")
    process = holder_of(lock_file(where, store_address(), "default"))
    assert process is not None
    os.kill(process, signal.SIGKILL)
    (fact,) = json.loads(everwhen("facts", "current", "--json"))
    assert fact["object"] == "Porto"


def holder_of(lock: Path) -> int | None:
    """The process that has a file open."""
    for one in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if one.resolve() == lock.resolve():
                return int(one.parts[2])
        except OSError:
            continue
    return None


@pytest.mark.parametrize(("turns", "times"), [(1, PATIENCE), (BATCH_TURNS, PATIENCE), (BATCH_TURNS + 1, 1)])
def test_a_command_has_more_patience_with_what_was_just_added_than_with_a_long_list(
    where: Path, turns: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.open(where, extract="none") as memory:
        memory.add_many(f"Sentence {number}." for number in range(turns))
    waited: list[float | None] = []
    wait = Worker.wait

    def noted(self: Worker, upto: int, timeout: float | None = None, progress: Any = None) -> int:
        waited.append(timeout)
        return wait(self, upto, timeout, progress)

    monkeypatch.setattr(Worker, "wait", noted)
    assert run(["facts", "current"]) == 0
    with Memory.open(where) as memory:
        memory.facts.current()
    usual = waited.pop()
    assert usual and waited == [times * usual]


def test_add_waits_where_it_is_told_to_and_leaves_it_where_it_is_told_to(where: Path) -> None:
    everwhen("add", "I live in Porto.", "--wait")
    assert pending(where) == 0
    everwhen("add", "I play the violin.", "--no-wait")
    assert pending(where) == 1
    assert not list((where / "cache").glob("*.extracting")), "somebody was sent to extract it"


def test_add_extracts_by_itself_where_no_other_process_can(where: Path) -> None:
    lock_file(where, store_address(), "default").mkdir()
    everwhen("add", "I live in Porto.")
    assert pending(where) == 0
