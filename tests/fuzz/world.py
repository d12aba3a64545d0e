"""What a fuzz run works on: a home with a bank to be filled with anything, another that must never show, a server."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

from everwhen import Memory
from everwhen.api.operations.base import Scope
from everwhen.errors import EverwhenError
from everwhen.serve.mcp.server import LocalMemory
from everwhen.serve.mcp.tools import AnyMemory

MARK = "zanzibarquoll"
"""A word of the other bank: who sees it has crossed over."""
TALK = [
    "I moved to Porto last week and took the violin along.",
    "The kayak trip with Ana was in May.",
    "Yesterday I sold the old kayak to my brother.",
    "ok",
]


class Watched(LocalMemory):
    """The tools' way to the memory, which keeps what fails in a way nobody planned."""

    def __init__(self, home: Path, bank: str) -> None:
        super().__init__(home, bank)
        self.unplanned: list[BaseException] = []

    @contextmanager
    def __call__(self, scope: Scope, tool: str, **noted: Any) -> Iterator[AnyMemory]:
        with super().__call__(scope, tool, **noted) as memory:
            try:
                yield memory
            except EverwhenError:
                raise
            except Exception as error:
                self.unplanned.append(error)
                raise


class World:
    """Everything is made when it is first needed, and closed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self._open = ExitStack()
        self.gone: set[str] = set()
        """Ids of turns that were forgotten."""
        with Memory.open(self.home, "theirs", embedder="fake", reader="none", cache_entries=0) as other:
            other.add({"name": "Zoe", "content": f"My {MARK} lives in {MARK} since May."}, session=MARK)
            other.facts.assert_("Zoe", "owns", MARK)
            other.flush()

    def bank(self, name: str, extract: str = "none") -> Memory:
        """A new bank with a few turns."""
        memory = Memory.open(
            self.home, name, embedder="fake", reader="none", cache_entries=0, extract=extract
        )
        self._open.callback(memory.close)
        memory.add([{"name": "Ana", "content": one, "id": f"t{place}"} for place, one in enumerate(TALK)])
        return memory

    @cached_property
    def asked(self) -> Memory:
        """Questions go here; nothing is added."""
        return self.bank("asked")

    @cached_property
    def told(self) -> Memory:
        """Anything is added here."""
        return self.bank("told")

    @cached_property
    def read(self) -> Memory:
        """Anything is added here, and read by the rules."""
        return self.bank("read", extract="rules")

    @cached_property
    def known(self) -> Memory:
        """Facts of any kind."""
        return self.bank("known")

    @cached_property
    def http(self) -> httpx.Client:
        """A client whose key may do everything to one bank, at a real server."""
        from dataclasses import replace

        from everwhen.serve.server_settings import ServerSettings
        from tests.serve.conftest import serving

        self.bank("served").close()
        served = self._open.enter_context(serving(replace(ServerSettings(self.home), rate=1e6, burst=10**6)))
        return self._open.enter_context(served.client("admin", "served"))

    @cached_property
    def reach(self) -> Watched:
        reach = Watched(self.home, "tools")
        self._open.callback(reach.close)
        self.bank("tools").close()
        return reach

    @cached_property
    def mcp(self) -> Any:
        """A function that calls a tool by name and gives back whether it failed, and its words."""
        from anyio.from_thread import start_blocking_portal
        from mcp import Client as McpClient

        from everwhen.serve.mcp.server import MemoryServer

        portal = self._open.enter_context(start_blocking_portal())
        client = self._open.enter_context(
            portal.wrap_async_context_manager(McpClient(MemoryServer(self.reach)))
        )

        def call(tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
            answer: Any = portal.call(client.call_tool, tool, arguments)
            return bool(answer.is_error), "\n".join(str(one.text) for one in answer.content)

        call.tools = portal.call(client.list_tools).tools  # type: ignore[attr-defined]
        return call

    @cached_property
    def export(self) -> bytes:
        """A small bank as an export."""
        path = self.folder / "small.jsonl"
        with self.bank("small") as memory:
            memory.facts.assert_("Ana", "lives in", "Porto")
            memory.export(path)
        return path.read_bytes()

    @cached_property
    def database(self) -> bytes:
        """The file of a small bank, its log written back."""
        self.bank("file").close()
        path = self.home / "banks" / "file.db"
        with sqlite3.connect(path) as sql:
            sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return path.read_bytes()

    def other_is_whole(self) -> None:
        """The other bank holds what it held."""
        with Memory.open(self.home, "theirs", create=False) as other:
            assert [turn.session for turn in other.turns()] == [MARK]

    def close(self) -> None:
        self._open.close()
