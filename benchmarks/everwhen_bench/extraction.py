"""`bench extraction`: does an event from the cited turns carry the time that a question asks for?

For each "when" question of LoCoMo, the events that were extracted from its evidence turns are held against the
gold interval: right when the middle of the event's interval lies in it and its length is at most 1.1 times the
gold length (never less than a day).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

from everwhen.types import Turn
from everwhen.write.extract.base import BATCH_TURNS, OVERLAP_TURNS, Batch, ExtractedEvent, Extractor
from everwhen.write.importers.files import read
from everwhen.write.remember import MessageDefaults, placed
from everwhen_time import Interval

DAY = timedelta(days=1)


@dataclass(slots=True)
class Outcome:
    """One question: what was found in its evidence, and whether it is right."""

    sample_id: str
    qa_index: int
    kind: str
    verdict: str
    expressions: list[str] = field(default_factory=list)


def run(data: Path, when: Path, extractor: Extractor) -> dict[str, Any]:
    """Extract every conversation of the file and score the questions; the summary and one run a question."""
    found: dict[str, dict[str, list[ExtractedEvent]]] = {}
    turns = events = 0
    seconds = 0.0
    for conversation in read(data, "locomo"):
        said = placed(list(conversation.messages), MessageDefaults())
        start = perf_counter()
        extracted = extract_all(extractor, said)
        seconds += perf_counter() - start
        turns, events = turns + len(said), events + len(extracted)
        by_turn: dict[str, list[ExtractedEvent]] = {}
        for event in extracted:
            for id_ in event.turns:
                by_turn.setdefault(id_, []).append(event)
        found[conversation.name] = by_turn
    questions = json.loads(when.read_text(encoding="utf-8"))
    runs = [_judged(question, found.get(question["sample_id"], {})) for question in questions]
    return {
        "extractor": f"{extractor.name}/{extractor.version}",
        "questions": len(runs),
        "accuracy": _share(runs),
        "by_kind": {kind: _share(several) for kind, several in _by_kind(runs).items()},
        "confusion": _confusion(runs),
        "turns": turns,
        "events": events,
        "turns_per_s": round(turns / seconds, 1),
        "runs": [
            {"sample_id": one.sample_id, "qa_index": one.qa_index, "kind": one.kind, "verdict": one.verdict,
             "expressions": one.expressions}
            for one in runs
        ],
    }  # fmt: skip


def extract_all(extractor: Extractor, turns: Sequence[Turn]) -> list[ExtractedEvent]:
    """The events of a conversation, session by session, in batches as the pipeline makes them."""
    sessions: dict[str, list[Turn]] = {}
    for turn in turns:
        sessions.setdefault(turn.session, []).append(turn)
    events: list[ExtractedEvent] = []
    for session, said in sessions.items():
        for first in range(0, len(said), BATCH_TURNS):
            before = said[max(0, first - OVERLAP_TURNS) : first]
            batch = Batch(session, tuple(said[first : first + BATCH_TURNS]), tuple(before))
            events += extractor.extract(batch).events
    return events


def is_right(interval: Interval | None, start: datetime, end: datetime) -> bool:
    """The scoring of a "when" answer."""
    if interval is None or interval.middle is None or interval.length is None:
        return False
    return start <= interval.middle < end and interval.length <= max(1.1 * (end - start), DAY)


def _judged(question: dict[str, Any], by_turn: dict[str, list[ExtractedEvent]]) -> Outcome:
    start, end = (datetime.fromisoformat(question[side]).replace(tzinfo=UTC) for side in ("start", "end"))
    events = [event for id_ in question["evidence"] for event in by_turn.get(id_, [])]
    right = [event for event in events if is_right(event.occurred, start, end)]
    if any(not event.inferred for event in right):
        verdict = "right"
    elif right:
        verdict = "right (the turn's day)"
    elif not events:
        verdict = "no event"
    elif all(event.inferred for event in events):
        verdict = "not dated"
    else:
        verdict = "other time"
    shown = [event.expression or "-" for event in (right or events)]
    return Outcome(question["sample_id"], question["qa_index"], question["kind"], verdict, shown[:8])


def _by_kind(runs: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    kinds = sorted({one.kind for one in runs})
    return {kind: [one for one in runs if one.kind == kind] for kind in kinds}


def _share(runs: Sequence[Outcome]) -> dict[str, Any]:
    right = sum(one.verdict.startswith("right") for one in runs)
    return {"n": len(runs), "right": right, "accuracy": round(right / len(runs), 3) if runs else None}


def _confusion(runs: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """For each kind of expression, how often each verdict."""
    table: dict[str, Counter[str]] = {}
    for one in runs:
        table.setdefault(one.kind, Counter())[one.verdict] += 1
    return {kind: dict(counted) for kind, counted in sorted(table.items())}
