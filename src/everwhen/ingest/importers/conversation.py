"""What an importer yields: a name and messages, each with an id and a session of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from everwhen.errors import UsageError
from everwhen.files.json_values import shown
from everwhen.messages import message
from everwhen.types import Message


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of a file. `total` counts its messages where that is known before reading them."""

    name: str
    messages: Iterable[Message]
    total: int | None = None


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
