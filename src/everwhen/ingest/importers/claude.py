"""Claude's export: `conversations.json`, a list of chats with `chat_messages` in order.

Every chat becomes a session of one conversation, because they are one person's memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from everwhen.ingest.importers.conversation import LeftOut, checked, expect
from everwhen.messages.message_parts import caption
from everwhen.types import Message


def messages(chat: Mapping[str, Any], where: str, left_out: LeftOut) -> Iterator[Message]:
    """The messages of a chat."""
    title = chat.get("name")
    session = chat.get("uuid") or f"{title}@{chat.get('created_at')}"
    said_at = chat.get("created_at")
    for index, message in enumerate(expect(chat.get("chat_messages"), list, where, "'chat_messages'")):
        expect(message, dict, where, f"message {index}")
        said_at = message.get("created_at") or said_at
        words = _words(message)
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


def _words(message: Mapping[str, Any]) -> str:
    """The text blocks, else the flat text (it has placeholders for other blocks); files by their name."""
    blocks = message.get("content")
    said = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, Mapping) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    if not any(text.strip() for text in said):
        said = [message["text"]] if isinstance(message.get("text"), str) else []
    for key in ("attachments", "files"):
        listed = message.get(key)
        said += [
            caption(file)
            for file in (listed if isinstance(listed, list) else [])
            if isinstance(file, Mapping)
        ]
    return "\n".join(text for text in said if text.strip())
