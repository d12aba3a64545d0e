"""The exports of ChatGPT and of Claude, both `conversations.json`, a list of chats.

Of ChatGPT each is a tree of which one path is shown; of Claude it has its `chat_messages` in order.

Every chat becomes a session of one conversation, because they are one person's memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from everwhen.types import Message
from everwhen.types.messages.message_parts import as_text, caption
from everwhen.write.importers.conversation import LeftOut, checked, expect

SPOKEN = ("text", "multimodal_text")
"""Content that people read as the chat. Code for tools, thoughts, quotes of pages and settings are not."""
SPOKEN_BY_TOOLS = (*SPOKEN, "execution_output")
_ROLES = ("user", "assistant", "tool")


def chatgpt(chat: Mapping[str, Any], where: str, left_out: LeftOut) -> Iterator[Message]:
    """The messages of the path that a chat of ChatGPT shows."""
    mapping = expect(chat.get("mapping"), dict, where, "'mapping'")
    title = chat.get("title")
    session = chat.get("conversation_id") or chat.get("id") or f"{title}@{chat.get('create_time')}"
    said_at = chat.get("create_time")
    shown = _path(mapping, chat.get("current_node"))
    if aside := sum(map(_is_message, mapping.values())) - sum(_is_message(mapping[key]) for key in shown):
        left_out["messages that were edited or answered anew"] += aside
    for key in shown:
        message = mapping[key].get("message")
        if not isinstance(message, Mapping):
            continue
        if _hidden(message):
            left_out["messages that the chat does not show (instructions, thoughts, calls of tools)"] += 1
            continue
        # Messages of old exports may lack a time: they stand where the one before them does.
        said_at = message.get("create_time") or said_at
        words = _words(message)
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
        current = _newest_leaf(mapping)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(current, str) and current not in seen and isinstance(mapping.get(current), Mapping):
        seen.add(current)
        path.append(current)
        current = mapping[current].get("parent")
    return path[::-1]


def _is_message(node: Any) -> bool:
    return isinstance(node, Mapping) and isinstance(node.get("message"), Mapping)


def _newest_leaf(mapping: Mapping[str, Any]) -> str | None:
    leaves = [key for key, node in mapping.items() if isinstance(node, Mapping) and not node.get("children")]
    return max(leaves, key=lambda key: _time(mapping[key].get("message")), default=None)


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


def _words(message: Mapping[str, Any]) -> str:
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


def claude(chat: Mapping[str, Any], where: str, left_out: LeftOut) -> Iterator[Message]:
    title = chat.get("name")
    session = chat.get("uuid") or f"{title}@{chat.get('created_at')}"
    said_at = chat.get("created_at")
    for index, message in enumerate(expect(chat.get("chat_messages"), list, where, "'chat_messages'")):
        expect(message, dict, where, f"message {index}")
        said_at = message.get("created_at") or said_at
        words = _words_of_claude(message)
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


def _words_of_claude(message: Mapping[str, Any]) -> str:
    """The text blocks, else the flat text (it has placeholders for other blocks); files by their name."""
    blocks = [one for one in _objects(message.get("content")) if one.get("type") == "text"]
    said = [one["text"] for one in blocks if isinstance(one.get("text"), str)]
    if not any(text.strip() for text in said):
        said = [message["text"]] if isinstance(message.get("text"), str) else []
    said += [caption(file) for key in ("attachments", "files") for file in _objects(message.get(key))]
    return "\n".join(text for text in said if text.strip())
