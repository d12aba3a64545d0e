"""Connections before a request is there: how large its headers may be, how long they may take, how many wait at once.

Below the application, which never hears of a request that does not come whole. The parser is h11 wherever the server
runs: httptools, which uvicorn prefers where it is installed, bounds none of this.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from everwhen.serve.responses import answer
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.telemetry import say


def bounded(serving: ServerSettings) -> Callable[..., asyncio.Protocol]:
    """What uvicorn takes as `http`. Banks need files too, so that connections have half of those that may be open."""
    try:
        import resource  # not on Windows
    except ImportError:
        return partial(BoundedProtocol, serving)
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = serving.connections if files == resource.RLIM_INFINITY else min(serving.connections, files // 2)
    return partial(BoundedProtocol, replace(serving, connections=most))


class BoundedParser(h11.Connection):
    """Counts headers; keeps why a request was refused."""

    refused = 400

    def __init__(self, serving: ServerSettings) -> None:
        super().__init__(h11.SERVER, serving.largest_headers)
        self._bounds = serving.largest_headers, serving.most_headers

    def next_event(self) -> Any:
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):  # of one that came at once, h11 does not look at the size
                size = len(event.target) + sum(len(name) + len(value) for name, value in event.headers)
                if size > self._bounds[0] or len(event.headers) > self._bounds[1]:
                    raise h11.RemoteProtocolError("too large", error_status_hint=431)
        except h11.RemoteProtocolError as error:
            self.refused = error.error_status_hint
            raise
        return event


class BoundedProtocol(H11Protocol):
    """One connection. While none of its requests is being answered it waits, and may be closed for another.

    uvicorn's timer for connections that are kept alive starts with the connection, and ends with a whole request.
    """

    def __init__(self, serving: ServerSettings, **given: Any) -> None:
        super().__init__(**given)
        self._serving = serving
        self.conn: BoundedParser = BoundedParser(serving)
        self.waits_since = time.monotonic()

    @property
    def waits(self) -> bool:
        """Whether no request is being answered; a connection that became a WebSocket is not ours any more."""
        return self in self.connections and (self.cycle is None or self.cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        seconds = self._serving.headers_seconds
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)
        if crowd := self._crowd():
            waiting = [one for one in crowd if isinstance(one, BoundedProtocol) and one.waits]
            longest = min(waiting, key=lambda one: one.waits_since, default=self)
            if longest is self:
                say("connection refused", logging.WARNING, address=_address(self), open=len(self.connections))
            longest.refuse(503, "too many connections are open; use one for several requests, or try later")

    def data_received(self, data: bytes) -> None:
        self.conn.receive_data(data)
        self.handle_events()
        if not self.waits:
            self._unset_keepalive_if_required()

    def on_response_complete(self) -> None:
        self.waits_since = time.monotonic()
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        if self.waits:
            self.refuse(408, "the request line and the headers took too long to arrive")

    def send_400_response(self, msg: str) -> None:
        most = self._serving
        if self.conn.refused == 431:
            msg = f"larger than {most.largest_headers:,} bytes, or more than {most.most_headers} headers"
            self.refuse(431, f"the request line and the headers are {msg}")
        else:
            self.refuse(400, "this is no HTTP request")

    def refuse(self, status: int, sentence: str) -> None:
        """Close the connection; why is said to those alone who have begun a request and have no answer yet."""
        has_begun = self.conn.their_state is not h11.IDLE or self.conn.trailing_data[0]
        if has_begun and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            kind = "Unavailable" if status in (408, 503) else "UsageError"
            said = answer(status, sentence, kind, {"Connection": "close"})
            reason = HTTPStatus(status).phrase.encode()
            head = h11.Response(status_code=status, headers=said.raw_headers, reason=reason)
            for event in (head, h11.Data(data=bytes(said.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.connections.discard(self)
        self.transport.close()

    def _crowd(self) -> list[Any]:
        """The connections that are too many: those of this address, or of the one that has the most."""
        each, address = self._serving.connections_per_address, _address(self)
        many = Counter(map(_address, self.connections))
        if not each or many[address] <= each:
            if len(self.connections) <= self._serving.connections:
                return []
            address = many.most_common(1)[0][0]
        return [one for one in self.connections if _address(one) == address]


def _address(connection: Any) -> str | None:
    return connection.client[0] if connection.client else None
