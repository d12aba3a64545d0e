"""Resources: what a client may show or put into a prompt without a call of a tool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError

from everwhen.serve.mcp.local_memory import MemoryAccess, opened
from everwhen.serve.mcp.results import show_entry, show_statement
from everwhen.serve.mcp.token_limit import fit
from everwhen.settings import MAX_TOKENS

RECENT = 30
"""Entries of the resource that tells what happened last."""
STATEMENTS = 100
"""Statements of the profile that a model is given."""


def add_resources(server: MCPServer[Any], reach: MemoryAccess) -> None:
    """The profile and the newest part of the timeline."""

    def resource(uri: str, title: str, description: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
        return server.resource(
            uri, name=title.lower(), title=title, description=description, mime_type="application/json"
        )

    @resource("everwhen://timeline/recent", "Recent timeline", "What happened last, newest first.")
    def recent() -> str:
        with opened(reach, "read", "timeline", ResourceError) as memory:
            entries = memory.timeline()
            return fit([show_entry(one) for one in reversed(entries[-RECENT:])], list, MAX_TOKENS)

    @resource(
        "everwhen://profile", "Profile", "What the memory says over all of time, with dates and support."
    )
    def profile() -> str:
        with opened(reach, "read", "profile", ResourceError) as memory:
            said = memory.profile()[:STATEMENTS]
            return fit([show_statement(one) for one in said], list, MAX_TOKENS)
