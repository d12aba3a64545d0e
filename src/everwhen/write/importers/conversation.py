"""What an importer yields: a name, messages with an id and a session of their own, and what was left out and why."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias, get_args

from everwhen.errors import UsageError
from everwhen.settings import ECHO_WORDS
from everwhen.store.files.json_values import shown
from everwhen.types import Message
from everwhen.types.times import iso_instant
from everwhen.types.turns import message

DateOrder: TypeAlias = Literal["dmy", "mdy", "ymd"]
DATE_ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)


class LeftOut(Counter[str]):
    """How often something was left out, by what it is in the plural ("thoughts of the model").

    `notes` counts what was taken in, and what the reader had to assume of it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.notes: Counter[str] = Counter()

    def clear(self) -> None:
        super().clear()
        self.notes.clear()


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """What a file may not say itself."""

    zone: str | None = None
    """Where times without an offset are local."""
    date_order: DateOrder | None = None
    """Of dates such as 03/04/25."""
    at: datetime | None = None
    """When notes without a date were written."""
    name: str | None = None
    """The file's name, where it lies under another one."""
    echo_words: int = ECHO_WORDS
    """Words in a row that make a repetition of what a recall gave back; 0 lets everything through."""


NO_OPTIONS = ReadingOptions()


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file. `total` counts its messages where that is known before reading them.

    `left_out` counts while the messages are read, and again from nothing when they are read again.
    """

    name: str
    messages: Iterable[Message]
    total: int | None = None
    left_out: LeftOut = field(default_factory=LeftOut)


def streamed(
    name: str, read: Callable[[LeftOut], Iterator[Message]], total: int | None = None
) -> Conversation:
    """A conversation whose messages are read anew each time they are iterated."""
    left_out = LeftOut()
    return Conversation(name, _Streamed(read, left_out), total, left_out)


class _Streamed:
    def __init__(self, read: Callable[[LeftOut], Iterator[Message]], left_out: LeftOut) -> None:
        self._read, self._left_out = read, left_out

    def __iter__(self) -> Iterator[Message]:
        self._left_out.clear()
        return self._read(self._left_out)


def stable_id(*parts: str) -> str:
    """The same id for the same parts, at every import."""
    return hashlib.blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()


def zoned(stamp: Any, zone: str | None, where: str) -> Any:
    """The time, or a UsageError where it is local and nobody said of which place."""
    if zone is None and isinstance(stamp, str):
        try:
            naive = iso_instant(stamp.strip()).tzinfo is None
        except ValueError:
            naive = False  # what is wrong with it is said where it is read
        if naive:
            raise UsageError(
                f"{where}: {shown(stamp)} names no zone; say which, such as --zone Europe/Lisbon"
            )
    return stamp


def checked(raw: Mapping[str, Any], where: str) -> Message:
    """`message(raw)`, with the place in the file in front of what is wrong."""
    try:
        return message(raw)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def expect(value: Any, kind: type, where: str, what: str) -> Any:
    """The value, or a UsageError that says where something else stands."""
    if not isinstance(value, kind):
        names: dict[type, str] = {dict: "an object", list: "a list", str: "text"}
        raise UsageError(f"{where}: {what} should be {names.get(kind, kind.__name__)}, and is {shown(value)}")
    return value
