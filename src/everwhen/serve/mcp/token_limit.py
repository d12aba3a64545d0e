"""Answers as JSON text that stays inside `max_tokens`, counted as the client reads it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from everwhen.errors import UsageError
from everwhen.extraction_wait import still_pending
from everwhen.models.tokens import count_tokens

T = TypeVar("T")
Json = dict[str, Any]

LEAST = 128
"""The smallest `max_tokens`: an answer without any entry fits into it, the interval of `when` included."""
LONGEST_TOKEN = 128
"""Characters of the longest token of cl100k: what is longer than this for each token there is need not be counted."""
SHORTEST = 30
"""Characters that are left of a text at the least, so that dates stay whole."""
UNCUT = frozenset({"id", "turn", "turns", "session", "sources"})
"""Where ids stand, which are given whole or not at all: half an id finds nothing."""
NO_ROOM = "the next entry does not fit; raise max_tokens"


def page(
    name: str,
    found: Sequence[T],
    shown: Callable[[T], Json],
    mark: Callable[[T], str],
    *,
    cursor: str | None,
    limit: int,
    max_tokens: int,
    newest: bool = False,
) -> str:
    """Some of a list under its name, whether there is more, and then the cursor that goes on.

    With `newest` the pages begin at the end of the list; each page is in the order of the list all the same.
    """
    order = list(reversed(found)) if newest else list(found)
    start = 0 if cursor is None else _behind(cursor, [mark(one) for one in order])
    some = order[start : start + limit]

    def body(kept: Sequence[Json]) -> Json:
        more = start + len(kept) < len(order)
        answer: Json = {name: list(reversed(kept)) if newest else list(kept), "more": more}
        if more and kept:
            answer["cursor"] = mark(some[len(kept) - 1])
        elif more:
            answer["note"] = NO_ROOM
        return answer

    return fit([shown(one) for one in some], body, max_tokens)


def fit(items: Sequence[Any], body: Callable[[Sequence[Any]], Any], max_tokens: int) -> str:
    """The text of `body` with as many of the first items as fit. A first one that is too long alone is shortened.

    `pending` says of an answer that did not wait for all turns to be read how many are missing in it.
    """
    body = _telling_what_is_missing(body)
    room, kept = max_tokens - count_tokens(as_text(body([]))), 0
    for item in items:
        part = as_text(item)
        room -= count_tokens(part) if _may_fit(part, max_tokens) else max_tokens
        if room < 0:
            break
        kept += 1
    # Tokens of the parts are only nearly those of the whole, which is what counts.
    for count in range(kept, 0, -1):
        if (text := _fitting(body(items[:count]), max_tokens)) is not None:
            return text
    if items and (text := _with_one(items[0], body, max_tokens)) is not None:
        return text
    return as_text(body([]))


def _telling_what_is_missing(body: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    pending = still_pending()

    def told(kept: Sequence[Any]) -> Any:
        answer = body(kept)
        return answer | {"pending": pending} if pending and isinstance(answer, dict) else answer

    return told


def as_text(value: Any) -> str:
    """JSON without spaces, its letters as they are: the fewest tokens."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def name_of(*parts: Any) -> str:
    """A cursor: what tells an entry from the others, in a few characters."""
    said = json.dumps([str(part) for part in parts])
    return hashlib.blake2b(said.encode(), digest_size=6).hexdigest()


def _behind(cursor: str, marks: Sequence[str]) -> int:
    """The place after the entry that a cursor names. Entries of one name are alike in all, and stand together."""
    if cursor not in marks:
        raise UsageError(
            f"cursor '{cursor[:40]}' is not one that this tool gave for these arguments; leave it out to begin anew"
        )
    return len(marks) - list(reversed(marks)).index(cursor)


def _with_one(item: Any, body: Callable[[Sequence[Any]], Any], max_tokens: int) -> str | None:
    """The longest text with this one item shortened that fits; None where even the shortest does not."""
    low, high, best = SHORTEST, max(SHORTEST, _longest(item)), None
    while low <= high:
        length = (low + high) // 2
        text = _fitting(body([_shortened(item, length)]), max_tokens)
        if text is None:
            high = length - 1
        else:
            low, best = length + 1, text
    return best


def _shortened(item: Any, length: int) -> Any:
    """The same item: texts cut to a length, of each list only the first; `cut` says so."""
    return _cut(item, length) | {"cut": True} if isinstance(item, dict) else item


def _cut(value: Any, length: int) -> Any:
    if isinstance(value, dict):
        return {
            key: (part[:1] if isinstance(part, list) else part) if key in UNCUT else _cut(part, length)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_cut(one, length) for one in value[:1]]
    if isinstance(value, str) and len(value) > length:
        return value[: length - 1] + "…"
    return value


def _longest(value: Any) -> int:
    """Characters of the longest text in an item."""
    if isinstance(value, dict):
        return max((_longest(part) for part in value.values()), default=0)
    return len(value) if isinstance(value, str) else 0


def _fitting(body: Any, max_tokens: int) -> str | None:
    text = as_text(body)
    return text if _may_fit(text, max_tokens) and count_tokens(text) <= max_tokens else None


def _may_fit(text: str, max_tokens: int) -> bool:
    return len(text) <= LONGEST_TOKEN * max_tokens
