"""How what was found is shown to a model: short objects, dates in words, JSON that stays inside `max_tokens`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from everwhen.api.extraction_wait import still_pending
from everwhen.errors import UsageError
from everwhen.models.embedder import count_tokens
from everwhen.types import (
    Conflict,
    Entry,
    Fact,
    Proposal,
    Recall,
    Recalled,
    Receipt,
    Statement,
    TimeAnswer,
    Turn,
)  # fmt: skip
from everwhen.types.jsonable import jsonable
from everwhen_time import Interval
from everwhen_time.interval import in_plain_words

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


def fit(items: Sequence[Any], shape: Callable[[Sequence[Any]], Any], max_tokens: int) -> str:
    """The text of `shape` with as many of the first items as fit. A first one that is too long alone is shortened.

    `pending` says of an answer that did not wait for all turns to be read how many are missing in it.
    """
    pending = still_pending()

    def body(kept: Sequence[Any]) -> Any:
        answer = shape(kept)
        return answer | {"pending": pending} if pending and isinstance(answer, dict) else answer

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


def as_text(value: Any) -> str:
    """JSON without spaces, its letters as they are: the fewest tokens."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def name_of(*parts: Any) -> str:
    """A cursor: what distinguishes an entry, in a few characters."""
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


def _when(interval: Interval | None, zone: str) -> str | None:
    return None if interval is None else in_plain_words(interval, zone)


def _fields(one: object, names: str) -> Json:
    """Some fields of an object, in this order; a float has three places."""
    shown = {name: jsonable(getattr(one, name)) for name in names.split()}
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in shown.items()}


def show_recalled(found: Recall, max_tokens: int) -> str:
    """Those of the best score that fit, in the order in which they were found."""
    best = sorted(range(len(found)), key=lambda place: -found.memories[place].score)
    left = any(one.reason == "no room in max_tokens" for one in found.dropped)
    answerable = found.trace.get("answerable")

    def body(kept: Sequence[Json]) -> Json:
        shown = sorted(zip(best, kept, strict=False), key=lambda one: one[0])
        more = left or len(kept) < len(found)
        answer = {
            "memories": [one for _, one in shown],
            "answerable": None if answerable is None else round(answerable, 3),
            "more": more,
        }
        return answer | {"note": NO_ROOM} if more and not kept else answer

    return fit([show_memory(found.memories[place]) for place in best], body, max_tokens)


def show_time(found: TimeAnswer | None, max_tokens: int) -> str:
    if found is None:
        return fit([], lambda _: {"known": False}, max_tokens)
    answer = {
        "known": True,
        "when": _when(found.interval, found.zone),
        "interval": found.interval.to_json(),
        "confidence": round(found.confidence, 3),
    }
    evidence = [_fields(one, "turn quote speaker said_at") for one in found.evidence]
    return fit(evidence, lambda kept: answer | {"evidence": kept}, max_tokens)


def show_memory(one: Recalled) -> Json:
    """A memory as a prompt shows it; `turns` where it is no turn itself, `occurred` where something in it is dated."""
    shown = {
        "id": one.id,
        "kind": one.kind,
        "text": one.shown or one.text,
        "speaker": one.speaker,
        "said_at": jsonable(one.said_at),
        "score": round(one.score, 3),
    }
    if one.occurred is not None:
        shown["occurred"] = _when(one.occurred, one.zone)
    if one.turns != (one.id,):
        shown["turns"] = list(one.turns)
    return shown


def by_id(one: Turn | Recalled) -> str:
    return name_of(one.id)


def by_version(fact: Fact) -> str:
    return name_of(fact.id, fact.version)


def by_place(entry: Entry) -> str:
    return name_of(entry.kind, *entry.ids, entry.interval.start, entry.interval.end, entry.text)


def show_turn(turn: Turn | Recalled) -> Json:
    """A turn word for word; one that was searched for has `occurred` where something in it is dated."""
    shown = _fields(turn, "id speaker text said_at session")
    if isinstance(turn, Recalled) and turn.occurred is not None:
        shown["occurred"] = _when(turn.occurred, turn.zone)
    return shown


def show_receipt(receipt: Receipt, turns: Sequence[str], token: str) -> Json:
    """Some of the turns by their ids, and how many of all; with the token that forgets them, after a dry run."""
    counted = ("sessions", "events", "narratives", "nodes", "facts", "entities", "rebuilt")
    return {
        "dry_run": receipt.dry_run,
        **({"token": token} if token else {}),
        "turns": list(turns),
        "counts": {"turns": len(receipt.turns)} | {name: len(getattr(receipt, name)) for name in counted},
        "notes": list(receipt.notes),
    }


def show_statement(said: Statement) -> Json:
    return _fields(said, "text speaker first last support ended turns")


def show_entry(entry: Entry) -> Json:
    return {
        "when": _when(entry.interval, entry.zone),
        "text": entry.text,
        "kind": entry.kind,
        "status": entry.status or None,
        "turns": list(entry.turns),
    }


def show_waiting(one: Conflict | Proposal) -> Json:
    sides = one.sides if isinstance(one, Conflict) else (one.fact, one.changes)
    return {
        "id": one.id,
        "why": one.why,
        "decide": "which id is right" if isinstance(one, Conflict) else "confirm or reject the first",
        "facts": [show_fact(side) for side in sides if side is not None],
    }


def show_fact(fact: Fact) -> Json:
    return _fields(fact, "id subject predicate object valid status confidence recorded_at sources")
