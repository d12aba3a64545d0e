"""What all tests share: a home folder of their own, and no network beyond loopback."""

from __future__ import annotations

import gc
import ipaddress
import os
import shutil
import socket
import ssl
import time
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from everwhen import Memory
from everwhen.cli.story.story import STORY_ZONE, story
from tests.postgres import own_server, postgres, postgres_address, postgres_url  # noqa: F401  (fixtures)

pytest_plugins = ["tests.crash_reports", "tests.memory_folder", "tests.networks"]

# The same cases at each run, and no failure because the machine was busy. `scripts/fuzz.py` looks for new ones.
settings.register_profile("same", max_examples=60, derandomize=True, database=None, deadline=None)
settings.load_profile("same")

# No test speaks TLS, and reading all authorities takes 40 ms for each HTTP client that is made.
ssl.create_default_context = cache(ssl.create_default_context)

# Typer makes all commands anew each time that one runs: 100 ms, and they are the same.
typer.main.get_command = cache(typer.main.get_command)
typer.testing._get_command = typer.main.get_command


RUN_BY_TEST_LONG = ("tests/bench/", "tests/training/")
"""Folders about what stands beside the package: `make test-long` runs them."""


@pytest.hookimpl(tryfirst=True)  # before `-m` leaves out what is marked
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(config.rootpath).as_posix().startswith(RUN_BY_TEST_LONG):
            item.add_marker(pytest.mark.long)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported for the tests stays: the garbage collector does not look through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in everwhen may reach out by itself: a connection beyond this machine fails the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            try:
                inside = ipaddress.ip_address(address[0]).is_loopback
            except ValueError:
                inside = address[0] == "localhost"
            if not inside:
                raise AssertionError(f"a test tried to reach {address[0]}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder that is gone afterwards, and no setting from outside."""
    for name in [name for name in os.environ if name.startswith("EVERWHEN_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("EVERWHEN_HOME", str(folder))
    monkeypatch.setenv(
        "EVERWHEN_WAIT_SECONDS", "300"
    )  # a busy machine is slow, and what is read must be whole
    return folder


@pytest.fixture(scope="session")
def story_told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The demo's story, told to the real model and read by the rules; tests only read it."""

    def tell(home: Path) -> None:
        with Memory.open(home, "story", zone=STORY_ZONE) as opened:
            assert opened.add_many(story()).new == len(story())
            opened.flush()

    with Memory.open(made_once(tmp_path_factory, "story", tell), "story") as opened:
        yield opened


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills: one worker of a run does so while the others wait, and each has its own copy."""
    folder = factory.mktemp(name)
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None:
        make(folder)
        return folder
    shared = factory.getbasetemp().parent / f"{name}-{run}"
    making, part = shared.with_suffix(".making"), shared.with_suffix(".part")
    try:
        making.mkdir()
    except FileExistsError:
        while making.exists():
            time.sleep(0.1)
        if not shared.exists():  # whoever made it failed
            make(folder)
        else:
            shutil.copytree(shared, folder, dirs_exist_ok=True)
        return folder
    try:
        if shared.exists():
            shutil.copytree(shared, folder, dirs_exist_ok=True)
        else:
            make(folder)
            shutil.copytree(folder, part)
            part.rename(shared)
    finally:
        making.rmdir()
    return folder


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    """A new bank with the real model."""
    with Memory.open(home, "test") as opened:
        yield opened


@pytest.fixture
def quick(home: Path) -> Iterator[Memory]:
    """A new bank with the hashing fake, for what does not depend on meaning."""
    with Memory.open(home, "quick", embedder="fake", reader="none", cache_entries=0) as opened:
        yield opened
