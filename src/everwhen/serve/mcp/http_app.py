"""MCP inside the HTTP server: `/mcp/{bank}`, `/mcp` being the bank `default`.

Stateless: each request is checked for itself, so that nobody goes on with another's session.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from everwhen.api.operations.base import Scope as Right
from everwhen.api.operations.base import Spec
from everwhen.errors import Refused
from everwhen.serve.auth import Key, admit
from everwhen.serve.mcp.server import MemoryServer
from everwhen.serve.mcp.tools import TOOLS, AnyMemory
from everwhen.serve.responses import Problem, handle_http_error
from everwhen.serve.state import ServerState
from everwhen.serve.telemetry import span
from everwhen.store.files.home import BANK_NAME

_asking: ContextVar[tuple[Key, str]] = ContextVar("asking")
"""Who asks, and for which bank."""


class CallerMemory:
    """Where a tool finds the memory of whoever asks, if the key allows it."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    @property
    def secret(self) -> str:
        """The same in all processes, and on all servers, that know the key."""
        caller, _ = _asking.get()
        return f"{caller.id} {caller.created_at.isoformat()}"

    @contextmanager
    def __call__(self, scope: Right, tool: str, **noted: Any) -> Iterator[AnyMemory]:
        caller, bank = _asking.get()
        noted = {"key": caller.id, "bank": bank, "route": f"mcp {tool}", **noted}
        try:
            admit(caller, scope, bank)
        except Problem as problem:
            self._state.audit.denied(**noted)
            raise Refused(problem.detail) from None
        spec = TOOLS[tool].operation.spec if tool in TOOLS else Spec()
        deletes = spec.traced == "delete_memory"
        with (
            span(spec.traced, bank),
            self._state.banks.lease(bank, create=spec.creates) as memory,
        ):
            yield memory
            if deletes and not noted.get("dry_run"):
                self._state.forget(bank)
        if scope != "read":
            self._state.audit.note("delete" if deletes else "write", **noted)


@asynccontextmanager
async def mounted(state: ServerState) -> AsyncIterator[ASGIApp]:
    manager = StreamableHTTPSessionManager(
        app=MemoryServer(CallerMemory(state))._lowlevel_server,
        stateless=True,
        json_response=True,
        # Keys, and on a server without keys the check of Host and Origin, stand before this already.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=state.serving.largest_body,
    )

    async with manager.run():
        yield McpApp(manager, state.serving.calls_at_a_time)


class McpApp:
    """The ASGI application: lets in those whose key may read the bank, and remembers who asks."""

    def __init__(self, manager: StreamableHTTPSessionManager, at_a_time: int) -> None:
        self._manager = manager
        # Tools run in threads of the framework's own, which all keys share: no key may have many of them.
        self._turns = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(at_a_time))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        bank = scope["path"].removeprefix("/mcp").strip("/") or "default"
        try:
            if not BANK_NAME.fullmatch(bank):
                raise Problem(404, "there is nothing at this address; MCP is at /mcp/{bank}", "NotFound")
            admit(scope["state"]["caller"], "read", bank)
        except Problem as problem:
            await handle_http_error(Request(scope), problem)(scope, receive, send)
            return
        caller: Key = scope["state"]["caller"]
        token = _asking.set((caller, bank))
        try:
            # A GET only listens: it may last, and holds no thread.
            async with self._turns[caller.id] if scope["method"] == "POST" else nullcontext():
                await self._manager.handle_request(scope, receive, send)
        finally:
            _asking.reset(token)
