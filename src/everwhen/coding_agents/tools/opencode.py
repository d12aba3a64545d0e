"""opencode: `~/.config/opencode/opencode.json` (MCP), `plugins/everwhen.js` (hooks), `AGENTS.md` (rules)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from everwhen.coding_agents.changes import Change, member, rules, whole
from everwhen.coding_agents.tools.base import NAME, Event, Place, Tool
from everwhen.ingest.importers import ReadingOptions
from everwhen.messages import message
from everwhen.types import Message


def changes(place: Place) -> Iterator[Change]:
    folder = place.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    names = ("opencode.jsonc", "opencode.json")
    settings = next((folder / name for name in names if (folder / name).exists()), folder / names[1])
    yield member(settings, ("mcp", NAME), {"type": "local", "command": place.server, "enabled": True})
    if place.hooks:
        plugin = Path(__file__).with_name("opencode_plugin.js").read_text(encoding="utf-8")
        words = json.dumps(place.hook_words(TOOL.name, "")[:-1])
        yield whole(folder / "plugins" / "everwhen.js", plugin.replace('["HOOK"]', words))
    yield rules(folder / "AGENTS.md", place.rules)


def said(event: Event, _: ReadingOptions) -> Iterator[Message]:
    """The messages of a session as the plugin sends them."""
    messages = event.get("messages")
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, Mapping) and str(one.get("text") or "").strip():
            yield message(
                {
                    "role": one.get("role"),
                    "content": one["text"],
                    "id": one.get("id"),
                    "session": event.get("session_id"),
                    "timestamp": datetime.fromtimestamp(float(one["at"]) / 1000, UTC),
                    "metadata": {"cwd": event["cwd"]} if event.get("cwd") else None,
                }
            )


TOOL = Tool(
    "opencode",
    "opencode",
    changes,
    asks=("chat.message",),
    keeps=("session.idle", "experimental.session.compacting"),
    said=said,
)
