"""Transcripts of coding agents, Claude Code and Codex: one JSON object a line, calls of tools, memories in prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.store.files.json_values import lines, parsed
from everwhen.types import Message
from everwhen.types.times import known_zone
from everwhen.types.turns import SILENT_PARTS, as_text
from everwhen.write.foreign_text import Echoes, bounded, given_back
from everwhen.write.importers.conversation import LeftOut, ReadingOptions, checked, stable_id

NO_MESSAGES = "lines that are no messages (settings, titles, snapshots)"
BY_THE_PROGRAM = "messages that the program wrote itself (instructions, reminders, commands)"
THOUGHTS = "thoughts of the model"
GIVEN_BACK = "answers and repetitions of what a recall had given back"
NO_RESULT = "calls of tools without a result"
MOST_CALLS = 1000
"""Calls that wait for their result: a file can hold any number of calls that never ended."""

# Tags of programs have names of several words; those of HTML, which people do paste, have one.
_MARKUP = re.compile(
    r"<([a-z]+[_-][\w-]*|skill|instructions)(?:\s[^<>]*)?>.*?</\1>\s*", re.DOTALL | re.IGNORECASE
)


def is_markup(text: str) -> bool:
    """Whether a text is nothing but `<some-tag>…</some-tag>`: programs wrap their notes so, and nobody types it."""
    return bool(text.strip()) and not _MARKUP.sub("", text.strip()).strip()


class AgentTranscript:
    """Makes messages of one transcript: bounded, without what a recall gave back, tools with what they were asked."""

    def __init__(self, path: Path, options: ReadingOptions, left_out: LeftOut) -> None:
        self._path = path
        self._zone = options.zone
        self.left_out = left_out
        self._echoes = Echoes(options.echo_words)
        self._calls: dict[str, tuple[str, str]] = {}

    def records(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        """The objects of the file, each with its place; at the end, what never came to an end is counted.

        A line that is no JSON is left out: a program that is writing leaves its last line unfinished, and one that
        crashed leaves one in the middle. A file that begins with one is another kind of file.
        """
        first = True
        for number, line in lines(self._path):
            where = f"{self._path}, line {number}"
            try:
                one = parsed(line)
            except ValueError as error:
                if first:
                    what = error.msg if isinstance(error, json.JSONDecodeError) else error
                    raise UsageError(f"{where} is not valid JSON: {what}") from error
                self.left_out["lines that are not complete"] += 1
                continue
            first = False
            if isinstance(one, Mapping):
                yield one, where
            else:
                self.left_out[NO_MESSAGES] += 1
        if self._calls:
            self.left_out[NO_RESULT] += len(self._calls)

    def note(self, content: Any) -> None:
        """Look for memories in what the program put into the prompt; it is no message itself."""
        if self._echoes.words:
            self._echoes.give_back(given_back(as_text(content)))

    def say(self, raw: Mapping[str, Any], where: str) -> Iterator[Message]:
        """One message, where something new is left of it. A zone that the caller named comes first."""
        if not str(raw["content"]).strip():
            return
        whole = bounded(checked({**raw, "zone": self._zone or raw.get("zone")}, where))
        left = self._echoes.cut(whole)
        if left is None:
            self.left_out[GIVEN_BACK] += 1
        else:
            yield left

    def call(self, id_: Any, name: Any, call: Mapping[str, Any]) -> None:
        """Keep what a tool was asked until its result comes."""
        self._calls[str(id_)] = (str(name or "tool"), as_text(call))
        if len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]
            self.left_out[NO_RESULT] += 1

    def result(self, id_: Any, output: Any, raw: Mapping[str, Any], where: str) -> Iterator[Message]:
        """A tool's result as a message of the tool, with the call in front."""
        name, call = self._calls.pop(str(id_), ("tool", ""))
        words = as_text(output)
        if self._echoes.words and (shown := given_back(words)):
            self._echoes.give_back(shown)
            self.left_out[GIVEN_BACK] += 1
            return
        yield from self.say(
            {**raw, "role": "tool", "name": name, "content": f"{call}\n{words}".strip()}, where
        )


FLAGS = {
    "isSidechain": "messages between an agent and its helpers",
    "isCompactSummary": "summaries of what the transcript holds itself",
    "isMeta": BY_THE_PROGRAM,
    "isApiErrorMessage": BY_THE_PROGRAM,
}
"""Lines that nobody said to anybody, by the flag that they bear."""
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]")


def claude_code_messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The transcript as one conversation; its sessions are those of Claude Code."""
    talk = AgentTranscript(path, options, left_out)
    for record, where in talk.records():
        line, attached = record, record.get("attachment")
        queued = (
            attached if isinstance(attached, Mapping) and attached.get("type") == "queued_command" else {}
        )
        if queued and queued.get("commandMode", "prompt") == "prompt":
            # What a user typed while the agent was at work is an attachment; it is a message all the same.
            line = {**line, "type": "user", "message": {"role": "user", "content": queued.get("prompt")}}
        message = line.get("message")
        if line.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
            talk.note(attached.get("content") if isinstance(attached, Mapping) else line.get("content"))
            left_out[NO_MESSAGES] += 1
            continue
        content = message.get("content")
        if flag := next((flag for flag in FLAGS if line.get(flag)), None):
            talk.note(content)
            left_out[FLAGS[flag]] += 1
            continue
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        yield from _messages_of(talk, line, [one for one in blocks if isinstance(one, Mapping)], where)


def _messages_of(
    talk: AgentTranscript, line: Mapping[str, Any], blocks: list[Mapping[str, Any]], where: str
) -> Iterator[Message]:
    """The messages of one line: a tool's results one by one, and the words."""
    session = line.get("sessionId") or "claude-code"
    id_ = str(line.get("uuid") or stable_id(str(session), where.rsplit(" ", 1)[-1]))
    raw = {
        "role": line["type"],
        "timestamp": line.get("timestamp"),
        "session": session,
        "metadata": {key: line[key] for key in ("cwd", "gitBranch") if line.get(key)} or None,
    }
    words: list[str] = []
    results = 0
    for block in blocks:
        kind = block.get("type")
        if kind == "tool_use":
            talk.call(block.get("id"), block.get("name"), block)
        elif kind == "tool_result":
            results += 1
            tool = {**raw, "id": f"{id_}/{results}"}
            yield from talk.result(block.get("tool_use_id"), block.get("content"), tool, where)
        elif kind in SILENT_PARTS:
            talk.left_out[THOUGHTS] += 1
        else:
            words.append(as_text(block))
    said = "\n".join(word for word in words if word.strip())
    if not said.strip():
        return
    talk.note(said)
    said = _REMINDER.sub("", said).strip()
    if line["type"] == "user" and (results or not said or is_markup(said) or _INTERRUPTED.fullmatch(said)):
        talk.left_out[BY_THE_PROGRAM] += 1
        return
    yield from talk.say({**raw, "id": id_, "content": said}, where)


_RULES = "# AGENTS.md instructions"
_REQUEST = re.compile(
    r"\A# Context from my IDE setup:.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE
)
_ZONE = re.compile(r"<timezone>([\w/+-]{1,64})</timezone>")


def codex_messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The transcript as one conversation and one session."""
    return _Rollout(path.name.split(".", 1)[0], AgentTranscript(path, options, left_out)).read()


@dataclass(slots=True)
class _Rollout:
    """What is known of a session while its file is read."""

    id: str
    talk: AgentTranscript
    started: Any = None
    zone: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def read(self) -> Iterator[Message]:
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
            yield from self._item_messages(item, raw, where)
        elif kind.endswith("_output"):
            zoned_raw = {**raw, "zone": self.zone}
            yield from self.talk.result(item.get("call_id"), _unwrapped(item.get("output")), zoned_raw, where)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "mcp_tool_call"):
            asked = item.get("arguments", item.get("input", item.get("action", "")))
            name = item.get("name") or kind.removesuffix("_call")
            call = {"type": "tool_call", "name": name, "arguments": asked}
            self.talk.call(item.get("call_id") or item.get("id"), name, call)
        else:
            self.talk.left_out[THOUGHTS if kind == "reasoning" else NO_MESSAGES] += 1

    def _item_messages(self, item: Mapping[str, Any], raw: dict[str, Any], where: str) -> Iterator[Message]:
        role, blocks = item.get("role"), item.get("content")
        self.talk.note(blocks)
        if role not in ("user", "assistant"):
            self.talk.left_out[BY_THE_PROGRAM] += 1
            return
        texts = [as_text(part) for part in (blocks if isinstance(blocks, list) else [blocks])]
        if role == "user":
            for text in texts:  # the zone of the machine stands in what the program writes to the model
                if text.lstrip().startswith("<environment_context>") and (named := _ZONE.search(text)):
                    with suppress(UsageError):
                        self.zone = known_zone(named[1])
            typed = _typed(item, texts)
            if len(typed) < len(texts):
                self.talk.left_out[BY_THE_PROGRAM] += len(texts) - len(typed)
            texts = [_REQUEST.sub("", text) for text in typed]
        said = "\n".join(text for text in texts if text.strip())
        yield from self.talk.say({**raw, "role": role, "content": said, "zone": self.zone}, where)


def _typed(item: Mapping[str, Any], texts: list[str]) -> list[str]:
    """The parts of a user's message that the user typed. New files say so of each part; else its form shows it."""
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, Mapping) else None
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
