"""A real server on loopback for each test that asks for one: real HTTP, real SQLite, the hashing fake as model."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi")
import uvicorn
from fastapi import FastAPI
from starlette.routing import BaseRoute

from everwhen.serve.app import create_app
from everwhen.serve.server import uvicorn_options
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.state import ServerState


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the long file out where nothing of it runs: collecting it takes ten seconds."""
    if collection_path.name == "test_schemathesis_long.py" and config.option.markexpr == "not long":
        return True
    return None


class Served:
    """A server that runs, and keys for it."""

    def __init__(self, url: str, state: ServerState, server: uvicorn.Server) -> None:
        self.url = url
        self.state = state
        self.server = server

    def key(self, scope: str = "write", bank: str = "*") -> str:
        return self.state.keys.create(scope, bank)[1]

    def client(self, scope: str = "admin", bank: str = "*") -> httpx.Client:
        """An HTTP client with a key of its own."""
        headers = {"Authorization": f"Bearer {self.key(scope, bank)}"}
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=60, trust_env=False)

    @property
    def address(self) -> tuple[str, int]:
        parts = httpx.URL(self.url)
        return parts.host, parts.port or 80


_built: dict[int, BaseRoute] = {}
"""A router's routes as FastAPI builds them at the first request."""


def share_routes(app: FastAPI) -> None:
    """Let all servers of a process have the same built routes: building them takes a quarter of a second."""
    for place, route in enumerate(app.router.routes):
        router = getattr(route, "original_router", None)
        if router is not None:
            app.router.routes[place] = _built.setdefault(id(router), route)


@contextmanager
def serving(settings: ServerSettings) -> Iterator[Served]:
    """A server in a thread of this process, until the block ends."""
    app = create_app(settings)
    share_routes(app)
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    server = uvicorn.Server(uvicorn.Config(app, **uvicorn_options(replace(settings, shutdown_seconds=10))))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        until(lambda: _ready(url))
        yield Served(url, app.state.server, server)
    finally:
        server.should_exit = True
        thread.join(120)
        listener.close()
    assert not thread.is_alive()


def until(true: Callable[[], Any], seconds: float = 150.0) -> Any:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def settings(home: Path, monkeypatch: pytest.MonkeyPatch) -> ServerSettings:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    monkeypatch.setenv("EVERWHEN_CACHE_ENTRIES", "0")
    return ServerSettings(home, background_seconds=0.2, consolidate_seconds=0)


@pytest.fixture
def served(settings: ServerSettings) -> Iterator[Served]:
    with serving(settings) as running:
        yield running


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    """Somebody who may do everything."""
    with served.client() as client:
        yield client


@pytest.fixture
def small(settings: ServerSettings) -> ServerSettings:
    """A server whose bounds are reached soon."""
    return replace(settings, largest_body=2000, body_seconds=0.5, rate=5.0, burst=20, open_banks=2)
