"""Chats of one person with an assistant, as ChatGPT and Claude export them: an array, one object for each chat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from everwhen.files.json_values import values
from everwhen.ingest.importers.conversation import Conversation, LeftOut, expect, streamed
from everwhen.types import Message


def chats(
    name: str, path: Path, messages: Callable[[Mapping[str, Any], str, LeftOut], Iterator[Message]]
) -> Conversation:
    """The messages of every chat, as one conversation."""

    def read(left_out: LeftOut) -> Iterator[Message]:
        for index, chat in enumerate(values(path)):
            where = f"{path}, chat {index}"
            expect(chat, dict, where, "it")
            yield from messages(chat, where, left_out)

    return streamed(name, read)
