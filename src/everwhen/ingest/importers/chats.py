"""Chats of one person with an assistant, as ChatGPT and Claude export them: an array, one object for each chat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from everwhen.files.json_values import values
from everwhen.ingest.importers.conversation import expect
from everwhen.types import Message


class Chats:
    """The messages of every chat, read anew each time they are iterated."""

    def __init__(self, path: Path, messages: Callable[[Mapping[str, Any], str], Iterator[Message]]) -> None:
        self.path = path
        self._messages = messages

    def __iter__(self) -> Iterator[Message]:
        for index, chat in enumerate(values(self.path)):
            where = f"{self.path}, chat {index}"
            expect(chat, dict, where, "it")
            yield from self._messages(chat, where)
