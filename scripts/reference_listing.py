"""What the MCP server says of itself, asked of it: `everwhen server mcp` answers with it before it is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from everwhen.serve.mcp.server import LocalMemory, MemoryServer
from everwhen.serve.mcp.stdio import META

ERAS = {
    "handshake": ("initialize", HANDSHAKE_PROTOCOL_VERSIONS),
    "modern": ("server/discover", MODERN_PROTOCOL_VERSIONS),
}
"""Protocols of MCP that clients speak, and the request with which they begin."""
LISTED = ("ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list")


def listing() -> str:
    """The text of `listing.json`: a line for each answer, in the protocols with and without a handshake."""
    eras = []
    for era, (begins, versions) in ERAS.items():
        results = anyio.run(_said_of_itself, begins, versions[-1])
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in results.items())
        eras.append(f'"{era}": {{"versions": {json.dumps(versions)}, "results": {{\n{lines}}}}}')
    return "{" + ",\n".join(eras) + "}\n"


async def _said_of_itself(begins: str, version: str) -> dict[str, Any]:
    """The results of a server for the first requests of a client that speaks a version of the protocol."""
    server = MemoryServer(LocalMemory(Path(), "none"))._lowlevel_server
    client = {"name": "reference", "version": "1"}
    given: dict[str, Any] = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    if begins != "initialize":  # each request says who asks, and there is no handshake
        own = {"clientCapabilities" if name == "capabilities" else name: one for name, one in given.items()}
        given = {"_meta": {f"{META}{name}": one for name, one in own.items()}}
    results: dict[str, Any] = {}
    to_server, asked = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    answers, from_server = anyio.create_memory_object_stream[SessionMessage](1)
    async with anyio.create_task_group() as group:
        group.start_soon(server.run, asked, answers, server.create_initialization_options())
        for method in (begins, *LISTED):
            params = given if begins != "initialize" or method == begins else {}
            await to_server.send(
                SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params=params))
            )
            answer = (await from_server.receive()).message
            if isinstance(answer, JSONRPCResponse):
                results[method] = answer.result
        await to_server.aclose()
    return results
