"""Files of other systems as conversations: one module a format, told apart by what they hold.

Every message comes with an id that depends on the file's content alone, so that importing a file again, after
an interruption or when it has grown, adds only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.files.json_values import first_value
from everwhen.ingest.importers import chatgpt, claude, jsonl, locomo, longmemeval
from everwhen.ingest.importers.conversation import Conversation
from everwhen.types import Message

__all__ = ["FORMATS", "Conversation", "detect", "merged", "read"]

_READERS: Mapping[str, Callable[[Path], Iterator[Conversation]]] = {
    "jsonl": jsonl.read,
    "locomo": locomo.read,
    "longmemeval": longmemeval.read,
    "chatgpt": chatgpt.read,
    "claude": claude.read,
}
FORMATS = ("auto", *_READERS)


def read(path: Path, format: str = "auto", zone: str | None = None) -> Iterator[Conversation]:
    """The conversations of a file, lazily; `format` is one of `FORMATS`.

    `zone` makes JSONL times without an offset local times of it; the other formats say what theirs are.

    Raises UsageError with the place and the fix where the file is not what it should be. What was yielded
    before stays good: the ids make a second attempt continue there.
    """
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; use one of {', '.join(FORMATS)}")
    chosen = detect(path) if format == "auto" else format
    return jsonl.read(path, zone) if chosen == "jsonl" else _READERS[chosen](path)


def detect(path: Path) -> str:
    """The format of a file, by the shape of the first thing in it (its name plays no part)."""
    listed, value = first_value(path)
    if isinstance(value, Mapping):
        for name, marks in _MARKS:
            if any(all(key in value for key in keys) for keys in marks):
                if name == "jsonl" and listed:
                    raise UsageError(
                        f"{path} is one JSON list of messages; import reads one message a line: "
                        f"jq -c '.[]' {path.name} > {path.stem}.jsonl"
                    )
                return name
    raise UsageError(
        f"cannot tell the format of {path}: it holds {_describe(listed, value)}; "
        f"say which with --format {'|'.join(_READERS)}"
    )


def merged(conversations: Iterable[Conversation]) -> Iterator[Message]:
    """All messages for one bank: sessions and ids carry their conversation's name, so that none collide."""
    for conversation in conversations:
        for message in conversation.messages:
            yield replace(
                message,
                id=f"{conversation.name}/{message.id}",
                session=f"{conversation.name}/{message.session}",
            )


# The keys that only this format has, tried in order; messages last, since any object may have a "role".
_MARKS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("locomo", (("conversation", "qa"), ("conversation", "sample_id"))),
    ("longmemeval", (("haystack_sessions",),)),
    ("chatgpt", (("mapping",),)),
    ("claude", (("chat_messages",),)),
    ("jsonl", (("content",), ("media",), ("role",))),
)


def _describe(listed: bool, value: Any) -> str:
    if value is None:
        return "an empty list" if listed else "nothing"
    if isinstance(value, Mapping):
        keys = ", ".join(repr(str(key)[:30]) for key in list(value)[:5])
        return f"{'a list of objects' if listed else 'an object'} with {keys or 'no keys'}"
    return f"{'a list of' if listed else 'one'} {type(value).__name__}"
