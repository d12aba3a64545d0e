"""The page as an ASGI application for `/ui`, started when somebody first asks for it.

NiceGUI is one application a process, so its pages are registered once and find their server through the request.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Receive, Scope, Send

from everwhen.serve.responses import Problem
from everwhen.serve.state import ServerState
from everwhen.ui.auth import MOUNT, PageAuth, Visitor, sealed

_showing: list[ServerState] = []
_one = threading.Lock()


class UIApp:
    """Everything under `/ui`."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self._auth = PageAuth(state)
        self._stack = AsyncExitStack()
        self._starting = asyncio.Lock()
        self._inner: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = sealed(scope, send) if scope["type"] == "http" else send
        visitor = await self._auth.admitted(scope, receive, send)
        if visitor is None:
            return
        try:
            inner = await self._started()
            self._own_client(scope, visitor)
        except Problem as problem:
            await self._auth.turn_away(problem, scope, receive, send)
            return
        # A copy: what the inner application notes of its routes is nothing for the log and the metrics.
        inside = {**scope, "state": {**scope.get("state", {}), "visitor": visitor}}
        await inner(inside, receive, send)

    async def close(self) -> None:
        """Before the server closes: sockets are closed, timers end."""
        await self._stack.aclose()

    async def _started(self) -> ASGIApp:
        async with self._starting:
            if self._inner is None:
                self._inner = await self._start()
        return self._inner

    async def _start(self) -> ASGIApp:
        with _one:
            if _showing:
                raise Problem(503, "another server of this process shows the page already", "Unavailable")
            _showing.append(self._state)
        self._stack.callback(_showing.remove, self._state)
        application = await asyncio.to_thread(_prepared)
        await self._stack.enter_async_context(application.router.lifespan_context(application))
        inner: ASGIApp = application
        return inner

    @staticmethod
    def _own_client(scope: Scope, visitor: Visitor) -> None:
        """A page belongs to the session that opened it: nobody else may listen to it or send files to it."""
        from nicegui import Client

        path = scope["path"].removeprefix(MOUNT)
        if path.startswith("/_nicegui/client/"):
            named: str | None = path.split("/")[3]
        elif path.startswith("/_nicegui_ws"):
            asked = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            named = asked.get("client_id", [None])[0]
        else:
            return
        client = Client.instances.get(named or "")
        opener: Visitor | None = None
        if client is not None and client.request is not None:
            opener = getattr(client.request.state, "visitor", None)
        if opener is None or opener.session != visitor.session or opener.state is not visitor.state:
            raise Problem(403, "this page was opened by somebody else, or was closed; load it again")


@cache
def _prepared() -> Any:
    """NiceGUI's application, with our pages on it."""
    from fastapi import FastAPI
    from nicegui import app, core, ui

    from everwhen.ui.layout import FAVICON, register

    register()
    # `run_with` sets NiceGUI up and mounts it into an application of its own, which nobody serves: here each request
    # is checked for its key first, and NiceGUI starts only when it is wanted.
    ui.run_with(
        FastAPI(),
        title="everwhen",
        favicon=FAVICON,
        mount_path=MOUNT,
        dark=None,
        language="en-US",
        tailwind=False,
        gzip_middleware_factory=None,
        show_welcome_message=False,
        reconnect_timeout=10.0,
        binding_refresh_interval=None,
    )
    for name in ("event", "javascript_response", "ack", "log"):
        core.sio.on(name, _from_its_own(core.sio, core.sio.handlers["/"][name]))
    return app


def _from_its_own(sio: Any, handler: Any) -> Any:
    """A message is heard only from the socket of the page that it names."""

    def heard(socket: str, message: dict[str, Any]) -> Any:
        return handler(socket, message) if message.get("client_id") in sio.rooms(socket) else None

    return heard
