"""A dialogue with a model that may call tools, in our own words: what was told, what it said, what tools gave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from everwhen.types import Usage


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model is offered it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model wants to have called; `arguments` is JSON as it came, which may be anything."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave."""

    call: ToolCall
    content: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What we tell the model."""

    text: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said: words, calls of tools, or both. `raw` is the provider's own form, for the next request."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    raw: object | None = None


@dataclass(frozen=True, slots=True)
class ToolResults:
    """What the tools gave for the calls of the line before."""

    results: tuple[ToolResult, ...]


Line: TypeAlias = UserMessage | AssistantMessage | ToolResults

Hear: TypeAlias = Callable[[str, str], None]
"""Called while an answer comes: the name of the tool that is being called ("" for plain words), and all that has come
of its arguments, or of the words, so far."""
