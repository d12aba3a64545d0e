"""Gemini CLI: `~/.gemini/settings.json` (MCP and hooks), `~/.gemini/GEMINI.md` (rules)."""

from __future__ import annotations

from collections.abc import Iterator

from everwhen.coding_agents.changes import Change, hooks, member, rules
from everwhen.coding_agents.tools.base import (
    HOOK_SECONDS,
    NAME,
    Event,
    Place,
    Tool,
    as_additional_context,
    entries,
)
from everwhen.ingest.importers import ReadingOptions
from everwhen.ingest.importers.conversation import stable_id
from everwhen.messages import message
from everwhen.types import Message

BEGINS = "SessionStart"
ASKS = ("BeforeAgent",)
KEEPS = ("AfterAgent",)


def changes(place: Place) -> Iterator[Change]:
    folder = place.folder("GEMINI_CLI_HOME") / ".gemini"
    yield member(folder / "settings.json", ("mcpServers", NAME), place.mcp)
    if place.hooks:
        yield hooks(
            folder / "settings.json", entries(place, TOOL.name, BEGINS, ASKS, KEEPS, HOOK_SECONDS * 1000)
        )
    yield rules(folder / "GEMINI.md", place.rules)


def said(event: Event, _: ReadingOptions) -> Iterator[Message]:
    """The turn that ends: nothing is left to keep when history is compressed or the session ends."""
    for role, key in (("user", "prompt"), ("assistant", "prompt_response")):
        words = event.get(key)
        if isinstance(words, str) and words.strip():
            session, at = str(event.get("session_id")), str(event.get("timestamp"))
            yield message(
                {
                    "role": role,
                    "content": words,
                    "id": stable_id("gemini-cli", session, at, role),
                    "session": session,
                    "timestamp": at,
                    "metadata": {"cwd": event["cwd"]} if event.get("cwd") else None,
                }
            )


TOOL = Tool(
    "gemini-cli",
    "Gemini CLI",
    changes,
    frozenset({BEGINS}),
    (BEGINS, *ASKS),
    KEEPS,
    said,
    as_additional_context,
)
