"""The coding agents: where the settings of each are, what its events say, and how it is answered."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from everwhen.coding_agents.changes import Change, hooks, member, rules, table, whole
from everwhen.coding_agents.tools.base import (
    HOOK_SECONDS,
    NAME,
    RULES_WITHOUT_HOOKS,
    Event,
    Place,
    Tool,
    as_additional_context,
    entries,
    transcript,
)
from everwhen.ingest.importers import ReadingOptions
from everwhen.ingest.importers.conversation import stable_id
from everwhen.messages import message
from everwhen.types import Message

__all__ = ["TOOLS", "Place", "Tool"]

BEGINS = "SessionStart"
"""At Claude Code, Codex and Gemini CLI."""
ASKS = ("UserPromptSubmit",)
KEEPS = ("Stop", "PreCompact", "SessionEnd")
"""At Claude Code and Codex."""
GEMINI_ASKS, GEMINI_KEEPS = ("BeforeAgent",), ("AfterAgent",)
CODEX_SECONDS = 3
"""More is not allowed at the end of a session."""
CODEX_SERVER_SECONDS = 30
VSCODE_FRONT = (
    '---\napplyTo: "**"\ndescription: "When to look things up in the memory, and to add to it"\n---\n\n'
)


def claude_code(place: Place) -> Iterator[Change]:
    """`~/.claude/settings.json` (hooks), `~/.claude.json` (MCP), `~/.claude/CLAUDE.md` (rules)."""
    folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
    state = folder if "CLAUDE_CONFIG_DIR" in place.environment else place.user
    yield member(state / ".claude.json", ("mcpServers", NAME), {"type": "stdio", **place.mcp})
    if place.hooks:
        told = entries(place, "claude-code", BEGINS, ASKS, KEEPS, HOOK_SECONDS)
        yield hooks(folder / "settings.json", told)
    yield rules(folder / "CLAUDE.md", place.rules)


def codex(place: Place) -> Iterator[Change]:
    """`~/.codex/config.toml` (MCP), `~/.codex/hooks.json` (hooks), `~/.codex/AGENTS.md` (rules)."""
    folder = place.folder("CODEX_HOME", ".codex")
    server = {**place.mcp, "startup_timeout_sec": CODEX_SERVER_SECONDS}
    yield table(folder / "config.toml", f"mcp_servers.{NAME}", server)
    if place.hooks:
        yield hooks(folder / "hooks.json", entries(place, "codex", BEGINS, ASKS, KEEPS, CODEX_SECONDS))
    yield rules(folder / "AGENTS.md", place.rules)


def gemini_cli(place: Place) -> Iterator[Change]:
    """`~/.gemini/settings.json` (MCP and hooks), `~/.gemini/GEMINI.md` (rules)."""
    folder = place.folder("GEMINI_CLI_HOME") / ".gemini"
    yield member(folder / "settings.json", ("mcpServers", NAME), place.mcp)
    if place.hooks:
        told = entries(place, "gemini-cli", BEGINS, GEMINI_ASKS, GEMINI_KEEPS, HOOK_SECONDS * 1000)
        yield hooks(folder / "settings.json", told)
    yield rules(folder / "GEMINI.md", place.rules)


def gemini_cli_said(event: Event, _: ReadingOptions) -> Iterator[Message]:
    """The turn that ends: nothing is left to keep when history is compressed or the session ends."""
    session, at = str(event.get("session_id")), str(event.get("timestamp"))
    for role, key in (("user", "prompt"), ("assistant", "prompt_response")):
        words = event.get(key)
        if isinstance(words, str) and words.strip():
            yield _message(event, session, role, words, stable_id("gemini-cli", session, at, role), at)


def opencode(place: Place) -> Iterator[Change]:
    """`~/.config/opencode/opencode.json` (MCP), `plugins/everwhen.js` (hooks), `AGENTS.md` (rules)."""
    folder = place.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    names = ("opencode.jsonc", "opencode.json")
    settings = next((folder / name for name in names if (folder / name).exists()), folder / names[1])
    yield member(settings, ("mcp", NAME), {"type": "local", "command": place.server, "enabled": True})
    if place.hooks:
        plugin = Path(__file__).with_name("opencode_plugin.js").read_text(encoding="utf-8")
        words = json.dumps(place.hook_words("opencode", "")[:-1])
        yield whole(folder / "plugins" / "everwhen.js", plugin.replace('["HOOK"]', words))
    yield rules(folder / "AGENTS.md", place.rules)


def opencode_said(event: Event, _: ReadingOptions) -> Iterator[Message]:
    """The messages of a session as the plugin sends them."""
    messages = event.get("messages")
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, Mapping) and str(one.get("text") or "").strip():
            at = datetime.fromtimestamp(float(one["at"]) / 1000, UTC)
            yield _message(event, event.get("session_id"), one.get("role"), one["text"], one.get("id"), at)


def _message(event: Event, session: object, role: object, words: str, id_: object, at: object) -> Message:
    cwd = {"cwd": event["cwd"]} if event.get("cwd") else None
    told = {"role": role, "content": words, "id": id_, "session": session, "timestamp": at, "metadata": cwd}
    return message(told)


def cursor(place: Place) -> Iterator[Change]:
    """`~/.cursor/mcp.json` (MCP). Its rules for all projects are in its own settings, and not in a file."""
    yield member(place.user / ".cursor" / "mcp.json", ("mcpServers", NAME), place.mcp)


def vscode(place: Place) -> Iterator[Change]:
    """`mcp.json` (MCP) and `prompts/everwhen.instructions.md` (rules) in the user's profile folder."""
    if sys.platform == "darwin":
        base = place.user / "Library" / "Application Support"
    elif sys.platform == "win32":
        base = place.folder("APPDATA", "AppData", "Roaming")
    else:
        base = place.folder("XDG_CONFIG_HOME", ".config")
    folder = base / "Code" / "User"
    yield member(folder / "mcp.json", ("servers", NAME), {"type": "stdio", **place.mcp})
    yield whole(folder / "prompts" / "everwhen.instructions.md", VSCODE_FRONT + RULES_WITHOUT_HOOKS)


_ALL = (
    Tool(
        "claude-code",
        "Claude Code",
        claude_code,
        frozenset({BEGINS}),
        (BEGINS, *ASKS),
        KEEPS,
        transcript("claude-code"),
        as_additional_context,
        ("Sessions that are open take it up when they are started again.",),
    ),
    Tool(
        "codex",
        "Codex",
        codex,
        frozenset({BEGINS}),
        (BEGINS, *ASKS),
        KEEPS,
        transcript("codex"),
        as_additional_context,
        ("Codex runs hooks that you have looked at: open it, enter /hooks, and trust those of everwhen.",),
    ),
    Tool(
        "gemini-cli",
        "Gemini CLI",
        gemini_cli,
        frozenset({BEGINS}),
        (BEGINS, *GEMINI_ASKS),
        GEMINI_KEEPS,
        gemini_cli_said,
        as_additional_context,
    ),
    Tool(
        "opencode",
        "opencode",
        opencode,
        asks=("chat.message",),
        keeps=("session.idle", "experimental.session.compacting"),
        said=opencode_said,
    ),
    Tool(
        "cursor",
        "Cursor",
        cursor,
        notes=(f"Paste this into Cursor Settings > Rules > User Rules:\n\n{RULES_WITHOUT_HOOKS}",),
    ),
    Tool("vscode", "VS Code", vscode),
)
TOOLS: Mapping[str, Tool] = {one.name: one for one in _ALL}
