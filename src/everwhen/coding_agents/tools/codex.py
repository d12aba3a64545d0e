"""Codex: `~/.codex/config.toml` (MCP), `~/.codex/hooks.json` (hooks), `~/.codex/AGENTS.md` (rules)."""

from __future__ import annotations

from collections.abc import Iterator

from everwhen.coding_agents.changes import Change, hooks, rules, table
from everwhen.coding_agents.tools.base import (
    NAME,
    Place,
    Tool,
    as_additional_context,
    entries,
    transcript,
)

BEGINS = "SessionStart"
ASKS = ("UserPromptSubmit",)
KEEPS = ("Stop", "PreCompact", "SessionEnd")
SECONDS = 3
"""More is not allowed at the end of a session."""
SERVER_SECONDS = 30


def changes(place: Place) -> Iterator[Change]:
    folder = place.folder("CODEX_HOME", ".codex")
    yield table(
        folder / "config.toml",
        f"mcp_servers.{NAME}",
        {**place.mcp, "startup_timeout_sec": SERVER_SECONDS},
    )
    if place.hooks:
        yield hooks(folder / "hooks.json", entries(place, TOOL.name, BEGINS, ASKS, KEEPS, SECONDS))
    yield rules(folder / "AGENTS.md", place.rules)


TOOL = Tool(
    "codex",
    "Codex",
    changes,
    frozenset({BEGINS}),
    (BEGINS, *ASKS),
    KEEPS,
    transcript("codex"),
    as_additional_context,
    ("Codex runs hooks that you have looked at: open it, enter /hooks, and trust those of everwhen.",),
)
