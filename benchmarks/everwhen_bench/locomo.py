"""LoCoMo: which turns of a long locomo_conversation come back for a question, and is it known when none can.

Categories 1 to 4 have evidence and are scored by recall; category 5 asks for what was never said, and only
the confidence that an answer exists is scored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen.types import Message, TimeAnswer
from everwhen.types.recall import Recipe
from everwhen.write.importers.benchmarks import locomo_conversation, locomo_samples
from everwhen_bench.ablation import Ablation, Score
from everwhen_bench.extraction import is_right
from everwhen_bench.metrics import Ranking, risk_coverage, unique
from everwhen_bench.retrieval import NO_CONTEXT, Asked, Progress, Scored, Tally, ask, fresh_bank, summary
from everwhen_time import Interval

ADVERSARIAL = 5
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def run(
    path: Path,
    *,
    when: Path | None = None,
    limit: int | None = None,
    home: Path | None = None,
    progress: Progress | None = None,
    recipe: Recipe | None = None,
    ablate: bool = False,
) -> dict[str, Any]:
    """Ask every question of the first `limit` conversations; the summary and the `runs` behind it.

    `ablate` asks them again with each part of the recall changed in turn.
    """
    when_cases = _when_cases(when) if when else {}
    tally = Tally()
    runs: list[dict[str, Any]] = []
    scored: list[Scored] = []
    without_evidence = 0
    ablation = Ablation(extracted=True) if ablate else None
    for sample in islice(locomo_samples(path), limit):
        name, questions = sample["sample_id"], sample.get("qa") or []
        messages = list(locomo_conversation(sample).messages)
        said = {str(message.id): message.text for message in messages}
        sessions = {str(message.id): str(message.session) for message in messages}
        # A date is read from the event calendar, and the graph and the facts are made of what was extracted.
        extract = "rules" if when_cases or ablate else "none"
        again: list[tuple[str, Score]] = []
        at = asked_at(messages)
        with fresh_bank(home, f"bench-locomo-{name}", messages, tally, extract=extract) as memory:
            for index, question in enumerate(questions):
                asked = ask(memory, str(question["question"]), at, said, recipe)
                tally.count(asked)
                dated = memory.when(str(question["question"]), at=at) if (name, index) in when_cases else None
                runs.append(_run(name, index, question, asked, dated))
                if question["category"] != ADVERSARIAL:
                    gold = evidence(question.get("evidence") or (), said)
                    without_evidence += not gold
                    if gold:
                        score = partial(scored_turns, question, gold, sessions)
                        scored.append(score(asked.ranked, asked.context))
                        if ablation:
                            again.append((str(question["question"]), score))
                            ablation.ask(memory, str(question["question"]), at, said, score, asked.whole)
                if progress:
                    progress(len(runs))
        if ablation and again:
            settings = {"extract": extract, "date_in_embedding": True}
            with fresh_bank(home, f"bench-locomo-{name}-dated", messages, Tally(), **settings) as memory:
                for text, scoring in again:
                    ablation.ask_dated(memory, text, at, scoring)
    figures = summary(scored, runs, tally, unanswerable=_unanswerable, groups="by_category")
    figures["left_out"] = {"no_evidence": without_evidence, "adversarial": sum(map(_unanswerable, runs))}
    figures["when"] = _when(when_cases, runs) if when else None
    figures["ablations"] = ablation.table() if ablation else {}
    return {"bench": "locomo", "data": path.name, **figures, "runs": runs}


def evidence(raw: Sequence[str], known: Collection[str]) -> list[str]:
    """The evidence ids that exist in the locomo_conversation, each once.

    What is meant without doubt is put right ("D8:6; D9:17", "D:11:26", "D30:05"); what stands for nothing
    ("D", a turn that is not there) is dropped, since no engine can find it.
    """
    named = [f"D{int(session)}:{int(turn)}" for text in raw for session, turn in _EVIDENCE.findall(str(text))]
    return [str(one) for one in unique(named) if one in known]


def asked_at(messages: Sequence[Message]) -> datetime | None:
    """The moment of asking: right after the last word."""
    times = [message.said_at for message in messages if message.said_at]
    return max(times) + timedelta(minutes=1) if times else None


def _run(
    name: str, index: int, question: Mapping[str, Any], asked: Asked, dated: TimeAnswer | None
) -> dict[str, Any]:
    return {
        "sample_id": name,
        "qa_index": index,
        "category": question["category"],
        "ranked": asked.ranked,
        "context": asked.context,
        "when": _answer(dated),
        "answerable": asked.answerable,
        "ms": round(asked.ms, 3),
    }


def scored_turns(
    question: Mapping[str, Any],
    gold: Sequence[str],
    sessions: Mapping[str, str],
    ranked: Sequence[str],
    context: Mapping[str, Sequence[str]] = NO_CONTEXT,
) -> Scored:
    """A ranking of turns held against a question's evidence, by turn and by session."""
    return Scored(
        group=str(question["category"]),
        turn=Ranking(ranked, set(gold)),
        session=Ranking(unique(sessions[turn] for turn in ranked), {sessions[turn] for turn in gold}),
        context=context,
    )


def _unanswerable(run: Mapping[str, Any]) -> bool:
    return bool(run["category"] == ADVERSARIAL)


def _answer(dated: TimeAnswer | None) -> dict[str, Any] | None:
    if dated is None:
        return None
    sides = dated.interval.to_json()
    return {"start": sides["start"], "end": sides["end"], "confidence": dated.confidence}


def _when_cases(path: Path) -> dict[tuple[str, int], tuple[datetime, datetime]]:
    """The gold interval of each dated question."""
    try:
        return {
            (case["sample_id"], case["qa_index"]): (_midnight(case["start"]), _midnight(case["end"]))
            for case in json.loads(path.read_text("utf-8"))
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{path} is not a list of when questions with sample_id, qa_index, start and end: {error}"
        ) from error


def _when(
    cases: Mapping[tuple[str, int], tuple[datetime, datetime]], runs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """How many of the dated questions are answered, and how many rightly; an abstention counts as wrong in `accuracy`
    and is left out of `precision`."""
    asked = [run for run in runs if (run["sample_id"], run["qa_index"]) in cases]
    answers = []
    for run in asked:
        if run["when"] is not None:
            start, end = cases[run["sample_id"], run["qa_index"]]
            answers.append((run["when"]["confidence"], is_right(Interval.from_json(run["when"]), start, end)))
    right = sum(correct for _, correct in answers)
    return {
        "n": len(asked),
        "answered": len(answers),
        "accuracy": round(right / len(asked), 4) if asked else None,
        "precision": round(right / len(answers), 4) if answers else None,
        "risk_coverage": risk_coverage(answers, len(asked)),
    }


def _midnight(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
