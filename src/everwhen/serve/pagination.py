"""Lists in pages: `{"items": […], "next_cursor": "…"}`, the cursor being opaque and null at the end."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field, StringConstraints

from everwhen.serve.problems import Problem
from everwhen.serve.server_settings import ServerSettings
from everwhen.types import Turn

T = TypeVar("T")

LARGEST = 1000
"""Entries of a page."""
LONGEST_CURSOR = 1000
_GOES_ON = "Where to go on: the `next_cursor` of the page before."
Cursor = Annotated[str | None, Query(max_length=LONGEST_CURSOR, description=_GOES_ON)]
Limit = Annotated[int | None, Query(ge=1, le=LARGEST, description="Entries a page.")]
CursorIn = Annotated[
    Annotated[str, StringConstraints(max_length=LONGEST_CURSOR)] | None, Field(description=_GOES_ON)
]
"""The same in a body."""


class Page(BaseModel, Generic[T]):
    """Some entries of a list, and where to go on."""

    items: list[T]
    next_cursor: str | None = None


def page(items: Sequence[T], cursor: str | None, limit: int | None, serving: ServerSettings) -> Page[T]:
    """A page of a list that was computed whole. The cursor is a place, and the name of what stood before it.

    When something came or went in the meantime the name finds the place again.
    """
    size = limit or serving.page
    start = 0
    if cursor is not None:
        place, name = _decoded(cursor, int, str)
        start = _place(items, place, name)
    end = start + size
    chosen = list(items[start:end])
    following = _encoded(end, _name(items[end - 1])) if end < len(items) else None
    return Page.model_construct(items=chosen, next_cursor=following)


def page_of_turns(
    turns: Iterator[Turn], after: tuple[datetime, int] | None, limit: int | None, serving: ServerSettings
) -> Page[Turn]:
    """A page of turns, read no further than needed. `turns` begin at the instant of the cursor."""
    size = limit or serving.page
    chosen: list[Turn] = []
    for turn in turns:
        if after is not None and (turn.said_at, turn.seq) <= after:
            continue
        if len(chosen) == size:
            following = _encoded(chosen[-1].said_at.isoformat(), chosen[-1].seq)
            return Page.model_construct(items=chosen, next_cursor=following)
        chosen.append(turn)
    return Page.model_construct(items=chosen, next_cursor=None)


def after_turn(cursor: str | None) -> tuple[datetime, int] | None:
    """The turn that a cursor stands behind: its instant and its number."""
    if cursor is None:
        return None
    instant, seq = _decoded(cursor, str, int)
    try:
        return datetime.fromisoformat(instant), seq
    except ValueError:
        raise _wrong() from None


def _place(items: Sequence[Any], place: int, name: str) -> int:
    if 0 < place <= len(items) and _name(items[place - 1]) == name:
        return place
    for index, item in enumerate(items):
        if _name(item) == name:
            return index + 1
    return max(0, min(place, len(items)))


def _name(item: Any) -> str:
    """What tells an entry from the others, in a few characters."""
    named = next((getattr(item, field) for field in ("id", "name") if hasattr(item, field)), item)
    return hashlib.blake2b(str(named).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _encoded(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def _decoded(cursor: str, first: type, second: type) -> tuple[Any, Any]:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        raise _wrong() from None
    if not isinstance(parts, list) or [type(one) for one in parts] != [first, second]:
        raise _wrong()
    return parts[0], parts[1]


def _wrong() -> Problem:
    return Problem(422, "cursor: this is no cursor of this list; leave it out to begin anew", "UsageError")
