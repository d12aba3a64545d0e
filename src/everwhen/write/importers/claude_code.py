"""Claude Code's transcripts: `~/.claude/projects/<project>/<session>.jsonl`, one event a line.

A line of the type `user` or `assistant` wraps a message in the shape of Anthropic's API; all other types are the
program's own. A tool's result comes as a message of the user, and is told as the tool's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from everwhen.types import Message
from everwhen.types.messages.message_parts import SILENT_PARTS, as_text
from everwhen.write.importers.agent_transcript import (
    BY_THE_PROGRAM,
    NO_MESSAGES,
    THOUGHTS,
    AgentTranscript,
    is_markup,
)
from everwhen.write.importers.conversation import LeftOut, ReadingOptions, stable_id

FLAGS = {
    "isSidechain": "messages between an agent and its helpers",
    "isCompactSummary": "summaries of what the transcript holds itself",
    "isMeta": BY_THE_PROGRAM,
    "isApiErrorMessage": BY_THE_PROGRAM,
}
"""Lines that nobody said to anybody, by the flag that they bear."""
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_INTERRUPTED = re.compile(r"\[Request interrupted by user[^\]]*\]")


def messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The transcript as one conversation; its sessions are those of Claude Code."""
    talk = AgentTranscript(path, options, left_out)
    for record, where in talk.records():
        line = _as_message(record)
        message = line.get("message")
        if line.get("type") not in ("user", "assistant") or not isinstance(message, Mapping):
            attached = line.get("attachment")
            talk.note(attached.get("content") if isinstance(attached, Mapping) else line.get("content"))
            left_out[NO_MESSAGES] += 1
            continue
        content = message.get("content")
        if flag := next((flag for flag in FLAGS if line.get(flag)), None):
            talk.note(content)
            left_out[FLAGS[flag]] += 1
            continue
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        yield from _said(talk, line, [one for one in blocks if isinstance(one, Mapping)], where)


def _as_message(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a user typed while the agent was at work is an attachment; it is a message all the same."""
    attached = line.get("attachment")
    if not isinstance(attached, Mapping) or attached.get("type") != "queued_command":
        return line
    if attached.get("commandMode", "prompt") != "prompt":
        return line
    return {**line, "type": "user", "message": {"role": "user", "content": attached.get("prompt")}}


def _said(
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
