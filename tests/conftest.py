"""What all tests share: a home folder of their own, and no network beyond loopback."""

from __future__ import annotations

import ipaddress
import os
import shutil
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from everwhen import Memory
from everwhen.demo import STORY_ZONE, story
from tests.postgres import postgres, postgres_address  # noqa: F401  (fixtures)

# The same cases at each run, and no failure because the machine was busy. `scripts/fuzz.py` looks for new ones.
settings.register_profile("same", max_examples=60, derandomize=True, database=None, deadline=None)
settings.load_profile("same")

# No test speaks TLS, and reading all authorities takes 40 ms for each HTTP client that is made.
ssl.create_default_context = cache(ssl.create_default_context)


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
    home = tmp_path_factory.mktemp("story")
    made = _made_by_another_worker(tmp_path_factory)
    if made is not None and made.exists():
        shutil.copytree(made, home, dirs_exist_ok=True)
    else:
        with Memory.open(home, "story", zone=STORY_ZONE) as opened:
            assert opened.add_many(story()).new == len(story())
            opened.flush()
        if made is not None:
            copy = shutil.copytree(home, made.with_name(f"{made.name}-{os.getpid()}"))
            with suppress(OSError):  # another worker was faster
                copy.rename(made)
    with Memory.open(home, "story") as opened:
        yield opened


def _made_by_another_worker(factory: pytest.TempPathFactory) -> Path | None:
    """Where the workers of one run share the story: telling it takes eight seconds of a core."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    return factory.getbasetemp().parent / f"story-{run}" if run else None


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
