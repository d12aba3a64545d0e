"""One file for each coding agent: where its settings are, what its events say, and how it is answered."""

from __future__ import annotations

from collections.abc import Mapping

from everwhen.coding_agents.tools import claude_code, codex, cursor, gemini_cli, opencode, vscode
from everwhen.coding_agents.tools.base import Place, Tool

__all__ = ["TOOLS", "Place", "Tool"]

TOOLS: Mapping[str, Tool] = {
    one.name: one
    for one in (
        claude_code.TOOL,
        codex.TOOL,
        gemini_cli.TOOL,
        opencode.TOOL,
        cursor.TOOL,
        vscode.TOOL,
    )
}
