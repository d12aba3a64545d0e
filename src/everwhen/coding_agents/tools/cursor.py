"""Cursor: `~/.cursor/mcp.json` (MCP). Its rules for all projects are in its own settings, and not in a file."""

from __future__ import annotations

from collections.abc import Iterator

from everwhen.coding_agents.changes import Change, member
from everwhen.coding_agents.tools.base import NAME, RULES_WITHOUT_HOOKS, Place, Tool


def changes(place: Place) -> Iterator[Change]:
    yield member(place.user / ".cursor" / "mcp.json", ("mcpServers", NAME), place.mcp)


TOOL = Tool(
    "cursor",
    "Cursor",
    changes,
    notes=(f"Paste this into Cursor Settings > Rules > User Rules:\n\n{RULES_WITHOUT_HOOKS}",),
)
