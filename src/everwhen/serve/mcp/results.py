"""How what was found is shown to a model: short objects, dates in words where they are read."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.jsonable import jsonable
from everwhen.recall import Recall
from everwhen.serve.mcp.token_limit import NO_ROOM, Json, fit, name_of
from everwhen.types import Entry, Event, Fact, Recalled, Receipt, Statement, TimeAnswer, Turn
from everwhen.when import Interval, describe


def _when(interval: Interval | None, zone: str) -> str | None:
    return None if interval is None else describe(interval, zone)


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
    """When something was, and who said so."""
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
    told = {
        "id": one.id,
        "kind": one.kind,
        "text": one.shown or one.text,
        "speaker": one.speaker,
        "said_at": jsonable(one.said_at),
        "score": round(one.score, 3),
    }
    if one.occurred is not None:
        told["occurred"] = _when(one.occurred, one.zone)
    if one.turns != (one.id,):
        told["turns"] = list(one.turns)
    return told


def by_id(one: Turn | Recalled | Event) -> str:
    return name_of(one.id)


def by_version(fact: Fact) -> str:
    return name_of(fact.id, fact.version)


def by_place(entry: Entry) -> str:
    return name_of(entry.kind, *entry.ids, entry.interval.start, entry.interval.end, entry.text)


def show_turn(turn: Turn | Recalled) -> Json:
    """A turn word for word; one that was searched for has `occurred` where something in it is dated."""
    told = _fields(turn, "id speaker text said_at session")
    if isinstance(turn, Recalled) and turn.occurred is not None:
        told["occurred"] = _when(turn.occurred, turn.zone)
    return told


def show_receipt(receipt: Receipt, turns: Sequence[str]) -> Json:
    """Some of the turns by their ids, and how many of all."""
    counted = ("sessions", "events", "narratives", "nodes", "facts", "entities", "rebuilt")
    return {
        "dry_run": receipt.dry_run,
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


def show_event(event: Event) -> Json:
    when = _when(event.occurred, event.zone)
    return {"when": when} | _fields(event, "subject verb object text status confidence turns")


def show_fact(fact: Fact) -> Json:
    return _fields(fact, "id subject predicate object valid status confidence recorded_at sources")
