"""Codex's transcripts: `~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl`, one event a line.

A line is `{timestamp, type, payload}`. The conversation is in the `response_item` lines; `event_msg` lines say the same
again, for the screen. Until autumn 2025 lines were the bare payloads, without times, under a first line with the
session's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.types import Message
from everwhen.types.messages.message_parts import as_text
from everwhen.types.time_arguments import known_zone
from everwhen.write.importers.agent_transcript import (
    BY_THE_PROGRAM,
    NO_MESSAGES,
    THOUGHTS,
    AgentTranscript,
    is_markup,
)
from everwhen.write.importers.conversation import LeftOut, ReadingOptions

_RULES = "# AGENTS.md instructions"
_REQUEST = re.compile(
    r"\A# Context from my IDE setup:.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE
)
_ZONE = re.compile(r"<timezone>([\w/+-]{1,64})</timezone>")


def messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The transcript as one conversation and one session."""
    return _Rollout(path.name.split(".", 1)[0], AgentTranscript(path, options, left_out)).messages()


@dataclass(slots=True)
class _Rollout:
    """What is known of a session while its file is read."""

    id: str
    talk: AgentTranscript
    started: Any = None
    zone: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def messages(self) -> Iterator[Message]:
        for line, where in self.talk.records():
            enveloped = isinstance(line.get("payload"), Mapping)
            payload: Mapping[str, Any] = line["payload"] if enveloped else line
            if line.get("type") == "session_meta" or (not enveloped and "instructions" in line):
                self._begin(payload)
            elif enveloped and line.get("type") != "response_item":
                self.talk.left_out[NO_MESSAGES] += 1
            else:
                # Old lines have no time: they stand where the session began.
                raw = {
                    "timestamp": line.get("timestamp") or self.started,
                    "session": self.id,
                    "id": f"{self.id}:{where.rsplit(' ', 1)[-1]}",
                    "metadata": self.metadata or None,
                }
                yield from self._item(payload, raw, where)

    def _begin(self, meta: Mapping[str, Any]) -> None:
        self.id = str(meta.get("id") or self.id)
        self.started = meta.get("timestamp")
        git = meta.get("git")
        branch = git.get("branch") if isinstance(git, Mapping) else None
        known = {"cwd": meta.get("cwd"), "gitBranch": branch}
        self.metadata = {key: value for key, value in known.items() if value}

    def _item(self, item: Mapping[str, Any], raw: dict[str, Any], where: str) -> Iterator[Message]:
        kind = str(item.get("type") or "")
        if kind == "message":
            yield from self._said(item, raw, where)
        elif kind.endswith("_output"):
            told = {**raw, "zone": self.zone}
            yield from self.talk.result(item.get("call_id"), _unwrapped(item.get("output")), told, where)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call"):
            asked = item.get("arguments", item.get("input", item.get("action", "")))
            name = item.get("name") or kind.removesuffix("_call")
            call = {"type": "tool_call", "name": name, "arguments": asked}
            self.talk.call(item.get("call_id") or item.get("id"), name, call)
        else:
            self.talk.left_out[THOUGHTS if kind == "reasoning" else NO_MESSAGES] += 1

    def _said(self, item: Mapping[str, Any], raw: dict[str, Any], where: str) -> Iterator[Message]:
        role, blocks = item.get("role"), item.get("content")
        self.talk.note(blocks)
        if role not in ("user", "assistant"):
            self.talk.left_out[BY_THE_PROGRAM] += 1
            return
        texts = [as_text(part) for part in (blocks if isinstance(blocks, list) else [blocks])]
        if role == "user":
            for text in texts:
                self._find_zone(text)
            typed = _typed(item, texts)
            if len(typed) < len(texts):
                self.talk.left_out[BY_THE_PROGRAM] += len(texts) - len(typed)
            texts = [_REQUEST.sub("", text) for text in typed]
        said = "\n".join(text for text in texts if text.strip())
        yield from self.talk.say({**raw, "role": role, "content": said, "zone": self.zone}, where)

    def _find_zone(self, text: str) -> None:
        """The zone of the machine stands in what the program tells the model of it."""
        if text.lstrip().startswith("<environment_context>") and (named := _ZONE.search(text)):
            with suppress(UsageError):
                self.zone = known_zone(named[1])


def _typed(item: Mapping[str, Any], texts: list[str]) -> list[str]:
    """The parts of a user's message that the user typed. New files say so of each part; else its form shows it."""
    told = item.get("internal_chat_message_metadata_passthrough")
    kinds = told.get("content_item_kinds") if isinstance(told, Mapping) else None
    if isinstance(kinds, list) and len(kinds) == len(texts):
        return [text for text, kind in zip(texts, kinds, strict=True) if str(kind).startswith("user")]
    return [text for text in texts if not is_markup(text) and not text.startswith(_RULES)]


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
