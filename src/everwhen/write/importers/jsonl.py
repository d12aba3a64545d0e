"""JSONL: one message a line, `{role, content, name?, timestamp?, id?, session?, zone?, metadata?, media?}`.

A line without a session belongs to one named after the file; a line without an id gets a hash of the session,
its place among the messages and what it says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from everwhen.errors import UsageError
from everwhen.store.files.json_values import count_lines, lines, parsed, shown
from everwhen.types import Message
from everwhen.write.importers.conversation import (
    NOTHING_TOLD,
    Conversation,
    ReadingOptions,
    checked,
    stable_id,
    streamed,
)

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".txt", ".gz", ".xz", ".bz2")


def read(path: Path, options: ReadingOptions = NOTHING_TOLD) -> Iterator[Conversation]:
    """The one conversation of a JSONL file, named after it; its lines are read as they are asked for.

    The zone is that of lines which name none: their times without an offset are local there.
    """
    name = options.name or path.name
    while Path(name).suffix in _SUFFIXES:
        name = Path(name).stem
    yield streamed(name, lambda _: messages(path, name, options.zone), count_lines(path))


def messages(path: Path, session: str, zone: str | None = None) -> Iterator[Message]:
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
