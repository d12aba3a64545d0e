"""Claude Code: `~/.claude/settings.json` (hooks), `~/.claude.json` (MCP), `~/.claude/CLAUDE.md` (rules)."""

from __future__ import annotations

from collections.abc import Iterator

from everwhen.coding_agents.changes import Change, hooks, member, rules
from everwhen.coding_agents.tools.base import (
    HOOK_SECONDS,
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


def changes(place: Place) -> Iterator[Change]:
    folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
    state = folder if "CLAUDE_CONFIG_DIR" in place.environment else place.user
    yield member(state / ".claude.json", ("mcpServers", NAME), {"type": "stdio", **place.mcp})
    if place.hooks:
        yield hooks(folder / "settings.json", entries(place, TOOL.name, BEGINS, ASKS, KEEPS, HOOK_SECONDS))
    yield rules(folder / "CLAUDE.md", place.rules)


TOOL = Tool(
    "claude-code",
    "Claude Code",
    changes,
    frozenset({BEGINS}),
    (BEGINS, *ASKS),
    KEEPS,
    transcript("claude-code"),
    as_additional_context,
    ("Sessions that are open take it up when they are started again.",),
)
