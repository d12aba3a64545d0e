"""VS Code: `mcp.json` (MCP) and `prompts/everwhen.instructions.md` (rules) in the user's profile folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from everwhen.coding_agents.changes import Change, member, whole
from everwhen.coding_agents.tools.base import NAME, RULES_WITHOUT_HOOKS, Place, Tool

FRONT = '---\napplyTo: "**"\ndescription: "When to look things up in the memory, and to add to it"\n---\n\n'


def changes(place: Place) -> Iterator[Change]:
    folder = _profile(place)
    yield member(folder / "mcp.json", ("servers", NAME), {"type": "stdio", **place.mcp})
    yield whole(folder / "prompts" / "everwhen.instructions.md", FRONT + RULES_WITHOUT_HOOKS)


def _profile(place: Place) -> Path:
    if sys.platform == "darwin":
        base = place.user / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = place.folder("APPDATA", "AppData", "Roaming")
    else:
        base = place.folder("XDG_CONFIG_HOME", ".config")
    return base / "Code" / "User"


TOOL = Tool("vscode", "VS Code", changes)
