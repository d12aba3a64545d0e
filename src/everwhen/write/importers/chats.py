"""Exports of chats and of memories: ChatGPT, Claude, Mem0, and JSON lines of our own.

ChatGPT's and Claude's are both `conversations.json`, a list of chats. Of ChatGPT each is a tree of which one path is
shown; of Claude it has its `chat_messages` in order. Every chat becomes a session of one conversation, because they
are one person's memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.store.files.json_values import count_lines, lines, parsed, shown, values
from everwhen.types import ROLES, Message
from everwhen.types.turns import as_text, caption
from everwhen.write.importers.conversation import (
    NO_OPTIONS,
    Conversation,
    LeftOut,
    ReadingOptions,
    checked,
    expect,
    stable_id,
    streamed,
    zoned,
)

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".txt", ".gz", ".xz", ".bz2")


def read_jsonl(path: Path, options: ReadingOptions = NO_OPTIONS) -> Iterator[Conversation]:
    """The one conversation of a JSONL file, named after it; its lines are read as they are asked for.

    The zone is that of lines which name none: their times without an offset are local there.
    """
    name = options.name or path.name
    while Path(name).suffix in _SUFFIXES:
        name = Path(name).stem
    yield streamed(name, lambda _: jsonl_messages(path, name, options.zone), count_lines(path))


def jsonl_messages(path: Path, session: str, zone: str | None = None) -> Iterator[Message]:
    """The messages of a file; those that name no session are of the one given."""
    seen: dict[str, tuple[int, str]] = {}
    for index, (number, line) in enumerate(lines(path)):
        where = f"{path}, line {number}"
        try:
            raw = parsed(line)
        except json.JSONDecodeError as error:
            raise UsageError(f"{where} is not valid JSON: {error.msg} at column {error.colno}") from error
        except ValueError as error:
            raise UsageError(f"{where} is not usable JSON: {error}") from error
        if not isinstance(raw, dict):
            raise UsageError(f"{where}: a message is an object with 'content', not {shown(raw)}")
        message = checked({**raw, "zone": raw.get("zone") or zone}, where)
        message = replace(message, session=message.session or session)
        stamp = str(raw.get("timestamp"))
        if message.id is None:
            yield replace(message, id=_digest(message, stamp, str(index)))
            continue
        # One id with two texts would lose the second: adding an id again is a no-op.
        digest = _digest(message, stamp)
        first, known = seen.setdefault(message.id, (number, digest))
        if known != digest:
            raise UsageError(
                f"{where}: id {message.id!r} stands on line {first} with other words; make ids unique"
            )
        if first == number:
            yield message


def _digest(message: Message, *file_only: str) -> str:
    # The time as written, not as understood: the same line read with another zone is the same message.
    return stable_id(message.session or "", *file_only, message.role, message.name or "", message.text)


SPOKEN = ("text", "multimodal_text")
"""Content that people read as the chat. Code for tools, thoughts, quotes of pages and settings are not."""
SPOKEN_BY_TOOLS = (*SPOKEN, "execution_output")
_ROLES = ("user", "assistant", "tool")


def _chats(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The chats of a file, each with its place."""
    for index, chat in enumerate(values(path)):
        where = f"{path}, chat {index}"
        yield expect(chat, dict, where, "it"), where


def chatgpt_messages(path: Path, _: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The messages of the paths that the chats of ChatGPT show."""
    for chat, where in _chats(path):
        yield from _chat_of_chatgpt(chat, where, left_out)


def _chat_of_chatgpt(chat: Mapping[str, Any], where: str, left_out: LeftOut) -> Iterator[Message]:
    mapping = expect(chat.get("mapping"), dict, where, "'mapping'")
    title = chat.get("title")
    session = chat.get("conversation_id") or chat.get("id") or f"{title}@{chat.get('create_time')}"
    said_at = chat.get("create_time")
    shown = _path(mapping, chat.get("current_node"))
    messages = {
        key
        for key, node in mapping.items()
        if isinstance(node, Mapping) and isinstance(node.get("message"), Mapping)
    }
    if aside := len(messages.difference(shown)):
        left_out["messages that were edited or answered anew"] += aside
    for key in shown:
        if key not in messages:
            continue
        message = mapping[key]["message"]
        if _hidden(message):
            left_out["messages that the chat does not show (instructions, thoughts, calls of tools)"] += 1
            continue
        # Messages of old exports may lack a time: they stand where the one before them does.
        said_at = message.get("create_time") or said_at
        words = _text_of_chatgpt(message)
        if not words:
            left_out["messages without words"] += 1
            continue
        author = message["author"]
        raw = {
            "role": author["role"],
            "name": author.get("name") if author["role"] == "tool" else None,
            "content": words,
            "timestamp": said_at,
            "id": message.get("id") or key,
            "session": session,
            "metadata": {"title": title} if isinstance(title, str) and title else None,
        }
        yield checked(raw, f"{where}, message {key}")


def _path(mapping: Mapping[str, Any], current: Any) -> list[str]:
    """The keys from the root to the message shown last; edits and regenerations beside it are left out."""
    if not isinstance(current, str) or current not in mapping:
        nodes = {key: node for key, node in mapping.items() if isinstance(node, Mapping)}
        leaves = [key for key, node in nodes.items() if not node.get("children")]
        current = max(leaves, key=lambda key: _time(nodes[key].get("message")), default=None)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(current, str) and current not in seen and isinstance(mapping.get(current), Mapping):
        seen.add(current)
        path.append(current)
        current = mapping[current].get("parent")
    return path[::-1]


def _time(message: Any) -> float:
    time = message.get("create_time") if isinstance(message, Mapping) else None
    return float(time) if isinstance(time, int | float) else 0.0


def _hidden(message: Mapping[str, Any]) -> bool:
    author, content = message.get("author"), message.get("content")
    if (
        not isinstance(author, Mapping)
        or not isinstance(content, Mapping)
        or author.get("role") not in _ROLES
    ):
        return True
    spoken = SPOKEN_BY_TOOLS if author["role"] == "tool" else SPOKEN
    return (
        content.get("content_type") not in spoken
        or message.get("weight") == 0
        or message.get("recipient") not in (None, "all")  # a tool is addressed, not the person
        or bool(_metadata(message).get("is_visually_hidden_from_conversation"))
    )


def _text_of_chatgpt(message: Mapping[str, Any]) -> str:
    content = message["content"]
    listed = enumerate(_objects(_metadata(message).get("attachments")))
    attached = {str(file.get("id") or index): file for index, file in listed}
    parts = content.get("parts") or [content.get("text")]
    pieces = [_part(part, attached) for part in parts] if isinstance(parts, list) else []
    pieces += [caption(file) for file in attached.values()]
    return "\n".join(piece for piece in pieces if piece.strip())


def _part(part: Any, attached: dict[str, Mapping[str, Any]]) -> str:
    """A part's words; a picture takes its prompt, else the name it was attached with."""
    if not isinstance(part, Mapping):
        return as_text(part) if isinstance(part, str) else ""
    if isinstance(part.get("text"), str):
        return str(part["text"])  # a voice message's transcription
    kind = str(part.get("content_type") or "")
    if "image" not in kind:
        return ""  # sound and video stand beside their own transcription
    file = attached.pop(str(part.get("asset_pointer")).rsplit("/", 1)[-1], {})
    made = _metadata(part).get("dalle")
    prompt = made.get("prompt") if isinstance(made, Mapping) else None
    return caption({"type": "image", "caption": prompt, "name": file.get("name")})


def _objects(listed: Any) -> list[Mapping[str, Any]]:
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def _metadata(thing: Mapping[str, Any]) -> Mapping[str, Any]:
    found = thing.get("metadata")
    return found if isinstance(found, Mapping) else {}


# Claude


def claude_messages(path: Path, _: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """The messages of the chats of Claude, in their order."""
    for chat, where in _chats(path):
        yield from _chat_of_claude(chat, where, left_out)


def _chat_of_claude(chat: Mapping[str, Any], where: str, left_out: LeftOut) -> Iterator[Message]:
    title = chat.get("name")
    session = chat.get("uuid") or f"{title}@{chat.get('created_at')}"
    said_at = chat.get("created_at")
    for index, message in enumerate(expect(chat.get("chat_messages"), list, where, "'chat_messages'")):
        expect(message, dict, where, f"message {index}")
        said_at = message.get("created_at") or said_at
        words = _text_of_claude(message)
        if not words:
            left_out["messages without words"] += 1
            continue
        raw = {
            "role": message.get("sender"),
            "content": words,
            "timestamp": said_at,
            "id": message.get("uuid") or f"{session}:{index}",
            "session": session,
            "metadata": {"title": title} if isinstance(title, str) and title else None,
        }
        yield checked(raw, f"{where}, message {index}")


def _text_of_claude(message: Mapping[str, Any]) -> str:
    """The text blocks, else the flat text (it has placeholders for other blocks); files by their name."""
    blocks = [one for one in _objects(message.get("content")) if one.get("type") == "text"]
    said = [one["text"] for one in blocks if isinstance(one.get("text"), str)]
    if not any(text.strip() for text in said):
        said = [message["text"]] if isinstance(message.get("text"), str) else []
    said += [caption(file) for key in ("attachments", "files") for file in _objects(message.get(key))]
    return "\n".join(text for text in said if text.strip())


LISTS = ("results", "memories")
GONE = ("deleted", "archived")
_ANYBODY = ("user", "default", "default_user", "default-user")
_ABOUT = ("categories", "agent_id", "app_id", "run_id", "app", "hash")


def mem0_messages(path: Path, options: ReadingOptions, left_out: LeftOut) -> Iterator[Message]:
    """All memories as one conversation; runs are sessions of it."""
    number = 0
    for value in values(path):
        expect(value, dict, f"{path}, record {number}", "it")
        key = next((key for key in LISTS if isinstance(value.get(key), list)), None)
        for one in value[key] if key else [value]:
            where = f"{path}, memory {number}"
            number += 1
            expect(one, dict, where, "it")
            if _is_kept(one, where, left_out):
                yield checked(_message_of_memory(one, options, where), where)


def _is_kept(one: Mapping[str, Any], where: str, left_out: LeftOut) -> bool:
    if "memory" not in one and "content" not in one:
        raise UsageError(
            f"{where} has no 'memory': an export by a schema of one's own cannot be read; "
            "write down what `get_all` gives instead"
        )
    if one.get("state") in GONE or one.get("deleted_at"):
        left_out["memories that were deleted or archived"] += 1
    elif not str(one.get("memory") or one.get("content") or "").strip():
        left_out["memories without words"] += 1
    else:
        return True
    return False


def _message_of_memory(one: Mapping[str, Any], options: ReadingOptions, where: str) -> dict[str, Any]:
    words = one.get("memory") or one.get("content")
    user, agent = one.get("user_id"), one.get("agent_id")
    given_role = str(one.get("role") or "").lower()
    role = given_role if given_role in ROLES else "assistant" if agent and not user else "user"
    name = one.get("actor_id") or (agent if role == "assistant" else user)
    # The words are those of the last change: at the time of the first writing they may have been others.
    said_at = one.get("updated_at") or one.get("created_at") or options.at
    about = {key: one[key] for key in _ABOUT if one.get(key)}
    return {
        "role": role,
        "name": None if name in _ANYBODY else name,
        "content": words,
        "timestamp": zoned(said_at, options.zone, where),
        "zone": options.zone,
        "id": one.get("id") or stable_id("mem0", str(user), str(words)),
        "session": one.get("run_id") or "mem0",
        "metadata": {**about, **({"created_at": one["created_at"]} if one.get("created_at") else {})} or None,
    }
