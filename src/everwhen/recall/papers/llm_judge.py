"""Planning and gating by a language model instead of rules (TiMem; TEMPR for the time that is asked about).

Sources: the second and third of the five documents (docs/five-documents.md). Settings: `recall_llm`, `time_by_llm`. If
the model fails, the rules decide. What it is worth: docs/tree.md, measured by
`benchmarks/everwhen_bench/studies/tree.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from everwhen.models.llm.base import LLM, LLMError
from everwhen.models.prompts import load
from everwhen.recall.names import KEYWORDS, Plan, surely_named, without_names
from everwhen.types import Dropped, Recalled
from everwhen.types.recall import Complexity, day_of, header, line_of
from everwhen.types.turns import inside
from everwhen.write.extract.llm_findings import claimed
from everwhen_time import Constraint, Interval
from everwhen_time.zones import zone_of

DATE = r"^(?:\d{4}(?:-\d\d){0,2})?$"
"""A year, a month or a day, or nothing."""


class PlanAnswer(BaseModel):
    """The complexity of a question, the words to search for, and the time that it is about."""

    complexity: Literal["simple", "hybrid", "complex"]
    keywords: list[str] = Field(default_factory=list, max_length=8)
    since: str = Field("", pattern=DATE)
    until: str = Field("", pattern=DATE)


class GateAnswer(BaseModel):
    """The numbers of the memories that help."""

    keep: list[int] = Field(max_length=200)


SHOWN = 60
"""The best memories that a model is shown; what stands below them is dropped with the others."""
LONGEST = 600
"""Characters of a memory that it is shown."""


def plan_by_llm(
    llm: LLM,
    asked: Plan,
    at: datetime,
    zone: str,
    *,
    names: frozenset[str] = frozenset(),
    reads_time: bool = False,
) -> Plan:
    """The plan with the complexity and keywords of a model, and the time with `reads_time`; if it fails, the plan of
    the rules, with a note. Keywords hold none of the `names`."""
    try:
        answer: PlanAnswer = llm.complete(
            f"<question>\n{inside(asked.query)}\n</question>\n"
            f"It is asked on {at.astimezone(zone_of(zone)):%A %Y-%m-%d}.",
            PlanAnswer,
            instructions=load("plan", llm),
        ).output
        time = _time(answer, asked.question.time, at, zone) if reads_time else asked.question.time
    except (LLMError, ValueError) as error:
        return replace(asked, note=f"{error}; rules were used instead")
    named = {word for person in asked.people for word in person.split()}
    words = without_names(answer.keywords, names.union(named, surely_named(asked.query)))
    return replace(
        asked,
        question=replace(asked.question, complexity=answer.complexity, cues=(f"by {llm.name}",), time=time),
        keywords=tuple(words[:KEYWORDS]) or asked.keywords,
    )


def _time(answer: PlanAnswer, ruled: Constraint | None, at: datetime, zone: str) -> Constraint | None:
    """What rules say of the time, with the window of a model; raises `ValueError` where that is none."""
    sides = [claimed(side, at, zone) if side else None for side in (answer.since, answer.until)]
    found = [side for side in sides if isinstance(side, Interval)]
    if len(found) < bool(answer.since) + bool(answer.until):
        raise ValueError(f"the model gave no time with '{answer.since}' to '{answer.until}'")
    if not found:
        bare = None if ruled is None else replace(ruled, interval=None, intervals=(), hard=False)
        return None if bare == Constraint() else bare
    first, last = found[0] if answer.since else None, found[-1] if answer.until else None
    window = Interval(first.start if first else None, last.end if last else None, found[0].grain)
    return replace(ruled or Constraint(), interval=window, intervals=(window,))


def gate_by_llm(
    llm: LLM, query: str, ranked: Sequence[Recalled], complexity: Complexity
) -> tuple[list[Recalled], list[Dropped]] | str:
    """The memories that a model keeps, in their order, and the others; or why it did not decide."""
    if not ranked:
        return [], []
    shown = ranked[:SHOWN]
    memories = "\n".join(
        f"[{number}] {header(day_of(one)).strip()} {line_of(one, one.text[:LONGEST]).strip()}"
        for number, one in enumerate(shown, start=1)
    )
    asked = (
        f"<question>\n{inside(query)}\n</question>\nIt is {complexity}.\n<memories>\n{memories}\n</memories>\n"
        f"Numbers from 1 to {len(shown)}."
    )
    try:
        answer: GateAnswer = llm.complete(asked, GateAnswer, instructions=load("gate", llm)).output
    except LLMError as error:
        return f"{error}; the rule was used instead"
    chosen = {number - 1 for number in answer.keep if 1 <= number <= len(shown)}
    kept = [one for place, one in enumerate(ranked) if place in chosen]
    dropped = [
        Dropped(one.id, f"{llm.name} sees no help in it", one.score)
        for place, one in enumerate(ranked)
        if place not in chosen
    ]
    return kept, dropped
