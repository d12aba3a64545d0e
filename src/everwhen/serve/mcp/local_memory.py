"""Where a tool finds the memory: at a server that runs on this machine, else here, opened when first needed.

Ten clients that each start `everwhen server mcp` load one model, not ten, as long as `everwhen serve` runs.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from mcp.server.mcpserver.exceptions import ToolError

from everwhen.api.client import Client
from everwhen.api.extraction_wait import one_wait
from everwhen.api.memory import Memory
from everwhen.errors import EverwhenError
from everwhen.serve.discovery import RunningServer, running
from everwhen.serve.keys import Scope
from everwhen.serve.mcp.strict_tool import in_tools

Remembering: TypeAlias = Memory | Client
"""Both have the same methods."""


class MemoryAccess(Protocol):
    """Gives a tool the memory that it is for, or refuses."""

    @property
    def secret(self) -> str:
        """Known to the server and nobody who writes into the memory; the same in all calls of one caller."""

    def __call__(self, scope: Scope, tool: str, **noted: Any) -> AbstractContextManager[Remembering]: ...


@contextmanager
def opened(
    reach: MemoryAccess, scope: Scope, tool: str, wrong: Callable[[str], Exception] = ToolError, **noted: Any
) -> Iterator[Remembering]:
    """The memory; its errors become sentences that a model can act on. `noted` is for the audit log."""
    try:
        with one_wait(), reach(scope, tool, **noted) as memory:
            yield memory
    except EverwhenError as error:
        raise wrong(in_tools(str(error))) from error


class LocalMemory:
    """For one user's own process: no key is asked for, since the files are the user's."""

    def __init__(self, home: Path, bank: str, store: str | None = None) -> None:
        self._home = home
        self._bank = bank
        self._store = store
        self.secret = secrets.token_hex()
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._client: Client | None = None
        self._server: RunningServer | None = None

    @contextmanager
    def __call__(self, scope: Scope, tool: str, **noted: Any) -> Iterator[Remembering]:
        """The bank; `scope`, `tool` and `noted` are for those who must ask whether they may."""
        yield self._found()

    def _found(self) -> Remembering:
        with self._lock:
            if self._memory is not None:
                return self._memory
            server = running(self._home / "serve")
            if server is not None:
                return self._attached(server)
            schedule = os.environ.get("EVERWHEN_TREE_SCHEDULE", "closed")  # the process stays, nobody waits
            self._memory = Memory.open(self._home, self._bank, store=self._store, tree_schedule=schedule)
            return self._memory

    def _attached(self, server: RunningServer) -> Client:
        if self._client is None or server != self._server:
            if self._client is not None:
                self._client.close()
            self._client, self._server = Client(server.url, server.token, bank=self._bank), server
        return self._client

    def close(self) -> None:
        with self._lock:
            if self._memory is not None:
                self._memory.close()
            if self._client is not None:
                self._client.close()
