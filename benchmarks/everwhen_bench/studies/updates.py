"""Do facts that take part help or hurt where a fact has changed? Knowledge updates of LongMemEval, with and without."""

from __future__ import annotations

from typing import Any

from everwhen.types.recall import MID
from everwhen.write.importers.benchmarks import longmemeval_questions, longmemeval_time, placed_messages
from everwhen_bench import metrics
from everwhen_bench.longmemeval import ABSTENTION, UPDATE, newest_before
from everwhen_bench.retrieval import EVERYTHING, Tally, fresh_bank
from everwhen_bench.studies import Request, Result

WAYS: dict[str, dict[str, Any]] = {
    "facts take part": {},
    "turns alone": {"recipe": MID.without("facts"), "kinds": ["turn"]},
}


def run(request: Request) -> Result:
    """Each question of its own haystack, with what the rules extract from it."""
    runs: list[dict[str, Any]] = []
    for question in longmemeval_questions(request.data):
        name = str(question["question_id"])
        if question["question_type"] != UPDATE or name.endswith(ABSTENTION):
            continue
        if request.limit is not None and len(runs) >= request.limit:
            break
        rows = list(placed_messages(question))
        sessions = {str(message.id): place.session for message, place in rows}
        wanted = {str(session) for session in question["answer_session_ids"]}
        one: dict[str, Any] = {"question_id": name}
        messages = [message for message, _ in rows]
        with fresh_bank(None, f"study-updates-{name}", messages, Tally(), extract="rules") as memory:
            for way, how in WAYS.items():
                found = memory.recall(
                    str(question["question"]),
                    at=longmemeval_time(question["question_date"]),
                    max_tokens=EVERYTHING,
                    **how,
                )
                ranked = metrics.unique(sessions[turn] for memory_ in found for turn in memory_.turns)
                one[way] = {
                    "newest_first": newest_before(question, ranked, rows),
                    "ndcg@10": metrics.ndcg_at(ranked, wanted, 10),
                }
        runs.append(one)
        if request.progress:
            request.progress(len(runs))
    return {"tables": [_table(runs)], "figures": {"runs": runs}}


def _table(runs: list[dict[str, Any]]) -> Any:
    count = len(runs)
    return {
        "title": f"knowledge updates, {count} longmemeval_questions",
        "heads": ("", "newest evidence first", "session NDCG@10"),
        "rows": [
            (
                way,
                f"{sum(one[way]['newest_first'] for one in runs)} of {count}",
                sum(one[way]["ndcg@10"] for one in runs) / max(1, count),
            )
            for way in WAYS
        ],
    }
