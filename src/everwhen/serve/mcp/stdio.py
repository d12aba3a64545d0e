"""MCP over standard input and output, which says what it offers before anything of it is loaded.

A client asks for that first, and lists no tool to its model before it has the answer; MCP's own package alone takes
longer to import than that should take. So what a server says of itself stands in `listing.json`, which
`make reference` writes. Every other request waits until the server is there.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

LISTING = Path(__file__).with_name("listing.json")
META = "io.modelcontextprotocol/"
"""Begins the names by which a request says itself which protocol it speaks: then there was no `initialize`."""


def serve(home: Path, bank: str, store: str | None, load: Callable[[], None] | None = None) -> None:
    """Serve a bank until standard input ends. `load` begins to load what the first call of a tool would wait for."""
    client, wire = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What something prints, or a program that it starts, must not get between the messages.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    requests, passed = os.pipe()
    front = Front(wire, os.fdopen(passed, "wb"))
    threading.Thread(target=front.read, args=(client,), daemon=True).start()

    if load is not None:
        load()

    import anyio
    from mcp.server.stdio import stdio_server

    from everwhen.serve.mcp.server import LocalMemory, MemoryServer

    async def run() -> None:
        server = MemoryServer(reach)._lowlevel_server
        asked = anyio.wrap_file(os.fdopen(requests, encoding="utf-8", errors="replace"))
        answers = anyio.wrap_file(front)  # type: ignore[arg-type]  # what is asked of a file here, it can do
        async with stdio_server(asked, answers) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    with closing(LocalMemory(home, bank, store)) as reach:
        anyio.run(run)


class Front:
    """Answers from the listing what it can, and passes on the rest. The server writes to it as to a file."""

    def __init__(self, client: BinaryIO, server: BinaryIO) -> None:
        self._client, self._server = client, server
        self._writing = threading.Lock()
        self._listing: Mapping[str, Any] = json.loads(LISTING.read_text(encoding="utf-8"))
        self._results: Mapping[str, Any] = {}
        """What is answered to a client that has greeted."""
        self._greeting: object = None
        """The id of the `initialize` that was answered, until the server has answered it too."""

    def read(self, lines: Iterable[bytes]) -> None:
        """Take the messages of a client, one in a line, until there are no more."""
        with self._server:
            for line in lines:
                try:
                    asked = json.loads(line)
                    result = self._result(asked["id"], asked["method"], asked.get("params") or {})
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    result = None  # the server says what is wrong with it
                if result is not None:
                    self._say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
                if result is None or asked["method"] == "initialize":  # of which the server must know
                    self._server.write(line)
                    self._server.flush()

    def write(self, line: str) -> None:
        """What the server says to the client. That it is there, the client has heard already."""
        if self._greeting is not None and json.loads(line).get("id") == self._greeting:
            self._greeting = None
        else:
            self._say(line)

    def flush(self) -> None:
        """Every line is written at once."""

    def _say(self, line: str) -> None:
        with self._writing:
            self._client.write(f"{line.rstrip()}\n".encode())
            self._client.flush()

    def _result(self, id_: object, method: str, given: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The answer that the listing has; None where the server has to answer."""
        handshake, modern = self._listing["handshake"], self._listing["modern"]
        meta = given.get("_meta") or {}
        if "cursor" in given or not isinstance(id_, str | int):
            return None
        if method == "initialize":
            asked, versions = given["protocolVersion"], handshake["versions"]
            if "capabilities" not in given or not given["clientInfo"].keys() >= {"name", "version"}:
                return None
            self._results, self._greeting = handshake["results"], id_
            version = asked if asked in versions else versions[-1]
            return {**self._results["initialize"], "protocolVersion": version}
        if f"{META}protocolVersion" not in meta:
            return self._results.get(method)
        is_whole = meta.keys() >= {f"{META}clientInfo", f"{META}clientCapabilities"}
        known = modern["results"] if meta[f"{META}protocolVersion"] in modern["versions"] and is_whole else {}
        return known.get(method)
