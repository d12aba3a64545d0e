"""The studies of the memory tree on LoCoMo: every question, of one bank with its whole tree, in every way.

What is asked: scopes and gates, levels, leaves, lengths of a segment, and the planner at fixed budgets. No LLM.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from everwhen.bench.locomo import ADVERSARIAL, asked_at, evidence
from everwhen.bench.retrieval import Progress, Tally, fresh_bank
from everwhen.bench.studies import levels, planner, planning, scopes, segments
from everwhen.bench.studies.trial import Question, Trial
from everwhen.ingest.importers.locomo import conversation, samples

NAMES = ("scopes", "levels", "leaves", "planning", "segments")
FLAT = "flat"


def run(
    path: Path,
    *,
    limit: int | None = None,
    home: Path | None = None,
    progress: Progress | None = None,
    only: str | None = None,
) -> dict[str, Any]:
    """All the tables, or one of them (`only`)."""
    ways = {
        "scopes": scopes.ways(),
        "levels": levels.ways(),
        "leaves": levels.leaves(),
        "planning": planning.ways(),
    }
    trials = {name: Trial(ways.get(name, ())) for name in NAMES if only in (None, name)}
    asked = 0
    labelled: list[tuple[str, Any]] = []
    for sample in islice(samples(path), limit):
        messages = list(conversation(sample).messages)
        said = {str(message.id): message.text for message in messages}
        name = f"study-{sample['sample_id']}"
        with ExitStack() as stack:
            memory = stack.enter_context(
                fresh_bank(home, name, messages, Tally(), extract="rules", count_access=False)
            )
            memory.consolidate("end")
            cuts = segments.cut(stack, home, name, messages) if "segments" in trials else []
            for one in sample.get("qa") or []:
                gold = evidence(one.get("evidence") or (), said)
                if one["category"] == ADVERSARIAL or not gold:
                    continue
                question = Question(
                    str(one["question"]), asked_at(messages), frozenset(gold), said, str(one["category"])
                )
                labelled.append((question.text, planner.MEANT[one["category"]]))
                for trial in trials.values():
                    trial.ask(memory, question)
                if cuts:
                    segments.ask(trials["segments"], cuts, question)
                asked += 1
                if progress:
                    progress(asked)
    out: dict[str, Any] = {
        "study": "tree",
        "data": path.name,
        "questions": asked,
        "planner": planner.confusion(labelled),
    }
    for name, trial in trials.items():
        out[name] = {"rows": trial.rows()}
        if name == "planning" and trial.brought:
            out[name] |= {
                "rows": trial.rows(FLAT),
                "by_complexity": trial.grouped("complexity", FLAT),
                "by_category": trial.grouped("category", FLAT),
            }
    return out
