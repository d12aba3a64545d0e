"""What stands before the routes: who asks, how often, how much, how fast; and one line in the log for each request.

Pure ASGI, outermost first: `RequestLogMiddleware` (log, metrics, audit, no stack trace leaves), `AuthMiddleware` (key,
rate), `BodyLimitMiddleware` (size and time of the body). A body is read before the application sees it, so that nothing
half-read is acted on.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from everwhen.errors import Unavailable
from everwhen.serve.auth import Key
from everwhen.serve.banks import asking
from everwhen.serve.responses import Problem, handle_http_error, of_bug
from everwhen.serve.state import ServerState
from everwhen.serve.telemetry import say

BEHIND_KEYS = ("/v1", "/mcp")
"""Everything under these needs a key. Health, metrics and the description of the API hold nothing private."""
PAGE = "/ui"
"""The page checks for itself (`ui/auth.py`): a session stands for the key there, on its sockets too."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestLogMiddleware:
    """Counts, times and logs each request; turns what nobody expected into a plain 500."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state
        self._running = 0
        state.metrics.gauge("requests_running", "Requests that are being answered.", lambda: self._running)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        status, began = 0, time.perf_counter()

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        self._running += 1
        try:
            await self._app(scope, receive, observed)
        except Exception as error:
            say_bug(error, request_id)
            if status == 0:
                await of_bug(Request(scope), error)(scope, receive, observed)
        finally:
            self._running -= 1
            self._note(scope, status, time.perf_counter() - began, request_id)

    def _note(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        route = scope.get("route")
        path = getattr(route, "path", None) or _area(scope["path"])
        caller: Key | None = scope.get("state", {}).get("caller")
        bank = scope.get("path_params", {}).get("bank")
        fields: dict[str, Any] = {
            "method": scope["method"],
            "route": path,
            "status": status,
            "key": caller.id if caller else None,
            "bank": bank if caller else None,
            "request": request_id,
        }
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._state.metrics.requests.labels(method, path, str(status)).inc()
        self._state.metrics.seconds.labels(path).observe(seconds)
        say("request", logging.INFO, **fields, ms=round(seconds * 1000, 1))
        needed = (getattr(route, "openapi_extra", None) or {}).get("x-scope", "read")
        if status in (401, 403):
            self._state.metrics.denied.labels("known" if caller else "none").inc()
            self._state.audit.denied(**fields)
        elif needed != "read":
            more = scope.get("state", {}).get("audited", {})
            self._state.audit.note(_audit_event(scope["method"], path), **fields, **more)


@dataclass
class AuthMiddleware:
    """Lets nobody in without a key, and nobody too often."""

    app: ASGIApp
    state: ServerState

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and _area(scope["path"]) != PAGE:
            await send({"type": "websocket.close", "code": 1008})  # nothing else speaks over sockets
            return
        if scope["type"] == "http" and _area(scope["path"]) in BEHIND_KEYS:
            try:
                caller = await self._let_in(Headers(scope=scope))
                scope.setdefault("state", {})["caller"] = caller
                asking.set(caller.id)
            except Problem as problem:
                await handle_http_error(Request(scope), problem)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _let_in(self, headers: Headers) -> Key:
        try:
            if self.state.keys.is_shared:  # the other requests do not wait for the database
                caller = await asyncio.to_thread(self.state.auth.caller, headers)
            else:
                caller = self.state.auth.caller(headers)
        except Unavailable as error:
            raise Problem(503, str(error), "Unavailable", {"Retry-After": "1"}) from error
        pause = self.state.buckets.take(caller.id)
        if pause:
            self.state.metrics.rate_limited.inc()
            raise Problem(
                429,
                f"this key asks too often; go on in {pause:.1f} s",
                "Unavailable",
                {"Retry-After": str(max(1, round(pause)))},
            )
        if not self.state.ready.is_set():
            said = self.state.problem or "the server is starting; ask again in a second"
            raise Problem(503, said, "Unavailable", {"Retry-After": "1"})
        return caller


@dataclass
class BodyLimitMiddleware:
    """Reads the body, up to a size and within a time."""

    app: ASGIApp
    state: ServerState

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        try:
            body = await self._body(Headers(scope=scope), receive)
        except Problem as problem:
            await handle_http_error(Request(scope), problem)(scope, receive, send)
            return
        if body is None:  # the client has left
            return
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, replay, send)

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        if headers.get("content-encoding", "identity") != "identity":
            raise Problem(415, "send the body as it is, without Content-Encoding", "UsageError")
        said = headers.get("content-length", "0")
        if said.isdecimal() and int(said) > self.state.serving.largest_body:
            raise self._too_large()
        seconds = self.state.serving.body_seconds
        pieces: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    pieces.append(message.get("body", b""))
                    size += len(pieces[-1])
                    if size > self.state.serving.largest_body:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        return b"".join(pieces)
        except TimeoutError:
            raise Problem(
                408,
                f"the request took longer than {seconds:g} s to arrive",
                "Unavailable",
                {"Connection": "close"},
            ) from None

    def _too_large(self) -> Problem:
        return Problem(
            413,
            f"the request is larger than {self.state.serving.largest_body / 1e6:g} MB; send it in parts",
            "UsageError",
            {"Connection": "close"},
        )


def say_bug(error: Exception, request_id: str) -> None:
    logging.getLogger("everwhen.serve").error(
        "a request failed", exc_info=error, extra={"fields": {"request": request_id}}
    )


def _area(path: str) -> str:
    """The first part of a path, which is all of a path that nobody knows that is safe to write down."""
    first = "/" + path.lstrip("/").partition("/")[0]
    return first if first in (*BEHIND_KEYS, PAGE) else "other"


def _audit_event(method: str, path: str) -> str:
    """What the audit log calls a call that may change something, or takes everything away with it."""
    if method == "DELETE" or path.endswith("/retain"):
        return "delete"
    return "export" if path.endswith("/export") else "write"
