"""Codex's transcripts: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`, one event a line.

A line is `{timestamp, type, payload}`. The conversation is in the `response_item` lines; `event_msg` lines say the same
again, for the screen. Until autumn 2025 lines were the bare payloads, without times, under a first line with the
session's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.ingest.importers.agent_transcript import (
    BY_THE_PROGRAM,
    NO_MESSAGES,
    THOUGHTS,
    AgentTranscript,
    is_markup,
    records,
)
from everwhen.ingest.importers.conversation import LeftOut, ReadingOptions
from everwhen.messages.message_parts import as_text
from everwhen.time_arguments import known_zone
from everwhen.types import Message

_RULES = "# AGENTS.md instructions"
_REQUEST = re.compile(
    r"\A# Context from my IDE setup:.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE
)
_ZONE = re.compile(r"<timezone>([\w/+-]{1,64})</timezone>")


@dataclass(slots=True)
class _Session:
    id: str
    started: Any = None
    zone: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The transcript as one conversation and one session."""
    talk = AgentTranscript(options, left_out)
    session = _Session(path.name.split(".", 1)[0])
    for number, line in records(path, left_out):
        enveloped = isinstance(line.get("payload"), Mapping)
        payload: Mapping[str, Any] = line["payload"] if enveloped else line
        if line.get("type") == "session_meta" or (not enveloped and "instructions" in line):
            _begin(session, payload)
            continue
        if enveloped and line.get("type") != "response_item":
            left_out[NO_MESSAGES] += 1
            continue
        raw = {
            # Old lines have no time: they stand where the session began.
            "timestamp": line.get("timestamp") or session.started,
            "session": session.id,
            "id": f"{session.id}:{number}",
            "metadata": session.metadata or None,
        }
        yield from _item(talk, payload, raw, session, f"{path}, line {number}", left_out)
    talk.end()


def _begin(session: _Session, meta: Mapping[str, Any]) -> None:
    session.id = str(meta.get("id") or session.id)
    session.started = meta.get("timestamp")
    git = meta.get("git")
    branch = git.get("branch") if isinstance(git, Mapping) else None
    session.metadata = {
        key: value for key, value in (("cwd", meta.get("cwd")), ("gitBranch", branch)) if value
    }


def _item(
    talk: AgentTranscript,
    item: Mapping[str, Any],
    raw: dict[str, Any],
    session: _Session,
    where: str,
    left_out: LeftOut,
) -> Iterator[Message]:
    kind = str(item.get("type") or "")
    if kind == "message":
        yield from _said(talk, item, raw, session, where, left_out)
    elif kind.endswith("_output"):
        yield from talk.result(
            item.get("call_id"), _unwrapped(item.get("output")), {**raw, "zone": session.zone}, where
        )
    elif kind in ("function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call"):
        asked = item.get("arguments", item.get("input", item.get("action", "")))
        name = item.get("name") or kind.removesuffix("_call")
        talk.call(
            item.get("call_id") or item.get("id"),
            name,
            {"type": "tool_call", "name": name, "arguments": asked},
        )
    elif kind == "reasoning":
        left_out[THOUGHTS] += 1
    else:
        left_out[NO_MESSAGES] += 1


def _said(
    talk: AgentTranscript,
    item: Mapping[str, Any],
    raw: dict[str, Any],
    session: _Session,
    where: str,
    left_out: LeftOut,
) -> Iterator[Message]:
    role = item.get("role")
    talk.note(item.get("content"))
    if role not in ("user", "assistant"):
        left_out[BY_THE_PROGRAM] += 1
        return
    blocks = item.get("content")
    parts = blocks if isinstance(blocks, list) else [blocks]
    texts = [as_text(part) for part in parts]
    if role == "user":
        for text in texts:
            _find_zone(session, text)
        typed = _typed(item, texts)
        if len(typed) < len(texts):
            left_out[BY_THE_PROGRAM] += len(texts) - len(typed)
        texts = [_REQUEST.sub("", text) for text in typed]
    said = "\n".join(text for text in texts if text.strip())
    yield from talk.say({**raw, "role": role, "content": said, "zone": session.zone}, where)


def _typed(item: Mapping[str, Any], texts: list[str]) -> list[str]:
    """The parts of a user's message that the user typed. New files say so of each part; else its form shows it."""
    told = item.get("internal_chat_message_metadata_passthrough")
    kinds = told.get("content_item_kinds") if isinstance(told, Mapping) else None
    if isinstance(kinds, list) and len(kinds) == len(texts):
        return [text for text, kind in zip(texts, kinds, strict=True) if str(kind).startswith("user")]
    return [text for text in texts if not is_markup(text) and not text.startswith(_RULES)]


def _find_zone(session: _Session, text: str) -> None:
    """The zone of the machine stands in what the program tells the model of it."""
    if text.lstrip().startswith("<environment_context>") and (named := _ZONE.search(text)):
        try:
            session.zone = known_zone(named[1])
        except UsageError:
            return


def _unwrapped(output: Any) -> Any:
    """A tool's output; some come as JSON in a string, `{"output": …}` or a list of parts."""
    if isinstance(output, str) and output.lstrip().startswith(("{", "[")):
        try:
            inner = json.loads(output)
        except (ValueError, RecursionError):
            return output
        for key in ("output", "content"):
            if isinstance(inner, Mapping) and isinstance(inner.get(key), str | list):
                return inner[key]
        if isinstance(inner, list) and all(isinstance(one, Mapping) and "type" in one for one in inner):
            return inner
    if isinstance(output, Mapping):
        return output.get("content", output.get("output"))
    return output
