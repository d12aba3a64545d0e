"""Files of other systems as conversations: the formats, distinguished by what the files hold.

Every message comes with an id that depends on the file's content alone, so that importing a file again, after an
interruption or when it has grown, adds only what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from everwhen.errors import Refused, UsageError
from everwhen.store.files.json_values import beginning, first_value
from everwhen.types import Message
from everwhen.write.importers.benchmarks import (
    locomo_conversation,
    locomo_samples,
    longmemeval_conversation,
    longmemeval_questions,
)
from everwhen.write.importers.chats import chatgpt_messages, claude_messages, mem0_messages, read_jsonl
from everwhen.write.importers.coding_agents import claude_code_messages, codex_messages
from everwhen.write.importers.conversation import (
    DATE_ORDERS,
    NO_OPTIONS,
    Conversation,
    LeftOut,
    ReadingOptions,
    streamed,
)
from everwhen.write.importers.notes import is_markdown, markdown_messages
from everwhen.write.importers.whatsapp import is_export, read_whatsapp

_ONE: Mapping[str, Callable[[Path, ReadingOptions, LeftOut], Iterator[Message]]] = {
    "chatgpt": chatgpt_messages,
    "claude": claude_messages,
    "claude-code": claude_code_messages,
    "codex": codex_messages,
    "mem0": mem0_messages,
    "markdown": markdown_messages,
}
"""Formats of one conversation, which has the format's name."""
_NAMED: Mapping[str, Callable[[Path, ReadingOptions], Iterator[Conversation]]] = {
    "jsonl": read_jsonl,
    "locomo": lambda path, _: map(locomo_conversation, locomo_samples(path)),
    "longmemeval": lambda path, _: map(longmemeval_conversation, longmemeval_questions(path)),
    "whatsapp": read_whatsapp,
}
"""Formats whose conversations have names of their own."""
_NAMES = (
    "jsonl",
    "locomo",
    "longmemeval",
    "chatgpt",
    "claude",
    "claude-code",
    "codex",
    "mem0",
    "markdown",
    "whatsapp",
)
FORMATS = ("auto", *_NAMES)
SEVERAL = ("locomo", "longmemeval")
"""Formats whose files hold several conversations, which come under names of their own."""
SUFFIXES = (".json", ".jsonl", ".ndjson", ".md", ".markdown", ".txt", ".gz", ".xz", ".bz2", ".zip")
"""Files of a folder that are looked at."""
NOT_NOTES = ("node_modules", "__pycache__", "site-packages")
"""Folders in a folder that hold other people's files."""


class UnknownFormat(UsageError):
    """A file that is none of those that can be distinguished."""


def read(path: Path, format: str = "auto", options: ReadingOptions = NO_OPTIONS) -> Iterator[Conversation]:
    """The conversations of a file, lazily; `format` is one of `FORMATS`.

    Raises UsageError with the place and the fix where the file is not what it should be. What was yielded
    before stays good: the ids make a second attempt continue there.
    """
    check_format(format)
    if options.date_order is not None and options.date_order not in DATE_ORDERS:
        raise UsageError(
            f"unknown order of dates {options.date_order!r}; use one of {', '.join(DATE_ORDERS)}"
        )
    name = detect(path) if format == "auto" else format
    if (messages := _ONE.get(name)) is not None:
        return iter([streamed(name, lambda left_out: messages(path, options, left_out))])
    return _NAMED[name](path, options)


def check_format(format: str) -> None:
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}; use one of {', '.join(FORMATS)}")


def detect(path: Path) -> str:
    """The format of a file, by what stands at its beginning. Its name plays no part, but that `.md` is Markdown."""
    text = beginning(path)
    start = text.lstrip()
    if start and is_export(start.split("\n", 1)[0]):
        return "whatsapp"
    is_json = start[:1] in '{["' or not start
    if path.suffix.lower() in (".md", ".markdown") and not start.startswith("{"):
        return "markdown"
    if not is_json:
        if any(is_markdown(line) for line in text.splitlines()):
            return "markdown"
        raise UnknownFormat(f"cannot tell the format of {path}: it holds plain text; {_CHOICES}")
    listed, value = first_value(path)
    if isinstance(value, Mapping):
        for name, marks in _MARKS.items():
            if any(all(key in value for key in keys.split()) for keys in marks):
                if name == "jsonl" and listed:
                    raise UsageError(
                        f"{path} is one JSON list of messages; import reads one message a line: "
                        f"jq -c '.[]' {path.name} > {path.stem}.jsonl"
                    )
                return name
    raise UnknownFormat(f"cannot tell the format of {path}: it holds {_describe(listed, value)}; {_CHOICES}")


def files_in(folder: Path) -> Iterator[Path]:
    """The files of a folder and its folders that may be read, in the order of their names; hidden ones are not."""
    try:
        found = sorted(folder.iterdir())
    except OSError as error:
        raise Refused(f"{folder} may not be read; change its permissions") from error
    for path in found:
        if path.name.startswith(".") or path.name in NOT_NOTES:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from files_in(path)
        elif path.is_file() and path.suffix.lower() in SUFFIXES:
            yield path


def merged(conversations: Iterable[Conversation]) -> Iterator[Message]:
    """All messages for one bank: sessions and ids carry their conversation's name, so that none collide."""
    for conversation in conversations:
        for message in conversation.messages:
            yield replace(
                message,
                id=f"{conversation.name}/{message.id}",
                session=f"{conversation.name}/{message.session}",
            )


_CHOICES = f"say which with --format {'|'.join(_NAMES)}"

# The keys that only this format has, tried in order; messages last, since any object may have a "role".
_MARKS: Mapping[str, tuple[str, ...]] = {
    "locomo": ("conversation qa", "conversation sample_id"),
    "longmemeval": ("haystack_sessions",),
    "chatgpt": ("mapping",),
    "claude": ("chat_messages",),
    "codex": ("timestamp type payload", "id timestamp instructions"),
    "claude-code": (
        "type sessionId", "type leafUuid", "type parentUuid", "type uuid message", "type messageId snapshot",
    ),
    "mem0": ("memory", "results", "memories", "content state created_at"),
    "jsonl": ("content", "media", "role"),
}  # fmt: skip


def _describe(listed: bool, value: Any) -> str:
    if value is None:
        return "an empty list" if listed else "nothing"
    if isinstance(value, Mapping):
        keys = ", ".join(repr(str(key)[:30]) for key in list(value)[:5])
        return f"{'a list of objects' if listed else 'an object'} with {keys or 'no keys'}"
    return f"{'a list of' if listed else 'one'} {type(value).__name__}"
