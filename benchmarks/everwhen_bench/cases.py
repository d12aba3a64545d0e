"""The questions of LoCoMo and LongMemEval in one form, for whatever is held beside the engine or studied in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from everwhen.api.memory import Memory
from everwhen.errors import UsageError
from everwhen.store.files.json_values import values
from everwhen.types import Message
from everwhen.write.importers.benchmarks import (
    locomo_conversation,
    locomo_samples,
    longmemeval_questions,
    longmemeval_time,
    placed_messages,
)
from everwhen_bench import locomo, longmemeval
from everwhen_bench.ablation import Score
from everwhen_bench.retrieval import Tally, fresh_bank

Bench = Literal["locomo", "longmemeval"]


@dataclass(frozen=True, slots=True)
class CaseQuestion:
    """A question that has evidence, when it is asked, and how a ranking of turns is held against the evidence."""

    name: str
    text: str
    at: datetime | None
    score: Score


@dataclass(frozen=True, slots=True)
class Case:
    """What is remembered, and what is asked of it."""

    name: str
    messages: Sequence[Message]
    questions: Sequence[CaseQuestion]


def bench_of(path: Path) -> Bench:
    """Which of the two data sets a file is, by what its first entry holds."""
    first = next(iter(values(path)), None)
    if isinstance(first, dict) and "conversation" in first:
        return "locomo"
    if isinstance(first, dict) and "haystack_sessions" in first:
        return "longmemeval"
    raise UsageError(f"{path} is neither LoCoMo nor LongMemEval in their native formats")


def cases(path: Path, limit: int | None = None) -> Iterator[Case]:
    """Every conversation, at most `limit`, with the questions whose evidence exists; the others have no recall."""
    read = _locomo if bench_of(path) == "locomo" else _longmemeval
    return islice(read(path), limit)


@contextmanager
def opened(case: Case, home: Path | None = None, **settings: Any) -> Iterator[Memory]:
    """A bank that holds the case and nothing else; it is removed afterwards, the cache of vectors stays."""
    with fresh_bank(home, f"bench-study-{case.name}", case.messages, Tally(), **settings) as memory:
        yield memory


def _locomo(path: Path) -> Iterator[Case]:
    for sample in locomo_samples(path):
        messages = list(locomo_conversation(sample).messages)
        sessions = {str(message.id): str(message.session) for message in messages}
        at = locomo.asked_at(messages)
        asked = []
        for index, question in enumerate(sample.get("qa") or []):
            gold = locomo.evidence(question.get("evidence") or (), sessions)
            if gold and question["category"] != locomo.ADVERSARIAL:
                score = partial(locomo.scored_turns, question, gold, sessions)
                asked.append(CaseQuestion(str(index), str(question["question"]), at, score))
        yield Case(sample["sample_id"], messages, asked)


def _longmemeval(path: Path) -> Iterator[Case]:
    for question in longmemeval_questions(path):
        name = question["question_id"]
        if name.endswith(longmemeval.ABSTENTION):
            continue
        rows = list(placed_messages(question))
        places = {str(message.id): place for message, place in rows}
        score = partial(longmemeval.scored_turns, question, places)
        one = CaseQuestion(
            name, str(question["question"]), longmemeval_time(question["question_date"]), score
        )
        yield Case(name, [message for message, _ in rows], [one])
