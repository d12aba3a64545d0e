"""LongMemEval: which turns and sessions of a haystack of chats come back for a question about them.

Questions whose id ends in `_abs` have no answer there: they are left out of recall, and only the confidence
that an answer exists is scored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from everwhen.types import Message
from everwhen.types.recall import Recipe
from everwhen.write.importers.benchmarks import (
    MessagePlace,
    longmemeval_questions,
    longmemeval_time,
    placed_messages,
)
from everwhen_bench.ablation import Ablation
from everwhen_bench.metrics import Ranking, unique
from everwhen_bench.retrieval import NO_CONTEXT, Asked, Progress, Scored, Tally, ask, fresh_bank, summary

ABSTENTION = "_abs"
UPDATE = "knowledge-update"
"""Questions about something that changed: the newest session that tells of it should come before the older ones."""


def run(
    path: Path,
    *,
    limit: int | None = None,
    home: Path | None = None,
    progress: Progress | None = None,
    recipe: Recipe | None = None,
    ablate: bool = False,
) -> dict[str, Any]:
    """Ask the first `limit` longmemeval_questions, each of its own haystack; the summary and the `runs` behind it.

    `ablate` asks again with each part of the recall changed in turn; nothing is extracted, so graph and facts have
    nothing to lose, and the dated bank is left out: its texts would all have to be embedded again.
    """
    tally = Tally()
    runs: list[dict[str, Any]] = []
    scored: list[Scored] = []
    without_turns = 0
    newest_first: list[bool] = []
    ablation = Ablation(extracted=False) if ablate else None
    for question in islice(longmemeval_questions(path), limit):
        name = question["question_id"]
        rows = list(placed_messages(question))
        messages = [message for message, _ in rows]
        places = {str(message.id): place for message, place in rows}
        said = {str(message.id): message.text for message in messages}
        text, at = str(question["question"]), longmemeval_time(question["question_date"])
        score = partial(scored_turns, question, places)
        with fresh_bank(home, f"bench-longmemeval-{name}", messages, tally) as memory:
            asked = ask(memory, text, at, said, recipe)
            if ablation and not name.endswith(ABSTENTION):
                ablation.ask(memory, text, at, said, score, asked.whole)
        tally.count(asked)
        runs.append(_run(question, asked, places))
        if not name.endswith(ABSTENTION):
            if question.get("question_type") == UPDATE:
                newest_first.append(newest_before(question, [pair[0] for pair in runs[-1]["ranked"]], rows))
            one = score(asked.ranked, asked.context)
            without_turns += one.turn is None
            scored.append(one)
        if progress:
            progress(len(runs))
    figures = summary(scored, runs, tally, unanswerable=_unanswerable, groups="by_type")
    figures["left_out"] = {"no_evidence_turn": without_turns, "abstention": sum(map(_unanswerable, runs))}
    figures["knowledge_update"] = {"newest_first": sum(newest_first), "n": len(newest_first)}
    figures["ablations"] = ablation.table() if ablation else {}
    return {"bench": "longmemeval", "data": path.name, **figures, "runs": runs}


def _run(question: Mapping[str, Any], asked: Asked, places: Mapping[str, MessagePlace]) -> dict[str, Any]:
    return {
        "question_id": question["question_id"],
        "question_type": question.get("question_type"),
        "ranked": _as_in_file(asked.ranked, places),
        "context": {budget: _as_in_file(turns, places) for budget, turns in asked.context.items()},
        "answerable": asked.answerable,
        "ms": round(asked.ms, 3),
    }


def _as_in_file(turns: Iterable[str], places: Mapping[str, MessagePlace]) -> list[list[Any]]:
    return [list(pair) for pair in _pairs(turns, places)]


def _pairs(turns: Iterable[str], places: Mapping[str, MessagePlace]) -> list[tuple[str, int]]:
    """Turns as the file names them; a session that stands there twice is one."""
    return list(dict.fromkeys((places[turn].session, places[turn].turn) for turn in turns))


def scored_turns(
    question: Mapping[str, Any],
    places: Mapping[str, MessagePlace],
    ranked: Sequence[str],
    context: Mapping[str, Sequence[str]] = NO_CONTEXT,
) -> Scored:
    """A ranking of turns held against a question's evidence, by turn and by session."""
    gold = {(place.session, place.turn) for place in places.values() if place.has_answer}
    there = {place.session for place in places.values()}
    wanted = {str(session) for session in question.get("answer_session_ids") or ()} & there
    pairs = _pairs(ranked, places)
    return Scored(
        group=str(question.get("question_type")),
        turn=Ranking(pairs, gold) if gold else None,
        session=Ranking(unique(session for session, _ in pairs), wanted) if wanted else None,
        context={budget: _pairs(turns, places) for budget, turns in context.items()},
    )


def newest_before(
    question: Mapping[str, Any], ranked: Iterable[Hashable], rows: Sequence[tuple[Message, MessagePlace]]
) -> bool:
    """Whether the newest of the evidence sessions is ranked before the others."""
    wanted = {str(session) for session in question.get("answer_session_ids") or ()}
    told = {place.session: message.said_at for message, place in reversed(rows) if place.session in wanted}
    sessions = unique(ranked)
    newest = max(told, key=lambda session: str(told[session]), default=None)
    if newest not in sessions:
        return False
    places = {session: place for place, session in enumerate(sessions)}
    return all(places[newest] < places[one] for one in told if one != newest and one in places)


def _unanswerable(run: Mapping[str, Any]) -> bool:
    return str(run["question_id"]).endswith(ABSTENTION)
