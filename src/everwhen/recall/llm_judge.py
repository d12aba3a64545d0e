"""Planning and gating by a language model instead of rules, with the same result types; if the model fails, the rules
decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from everwhen.models.llm.base import LLM, LLMError
from everwhen.models.prompts import load
from everwhen.recall.plan import Plan
from everwhen.recall.question.names import KEYWORDS, surely_named, without_names
from everwhen.types import Dropped, Recalled
from everwhen.types.recall import day_of, header, line
from everwhen.types.recipes import Complexity

if TYPE_CHECKING:
    from everwhen.recall.llm_judge_schema import GateAnswer, PlanAnswer

SHOWN = 60
"""The best memories that a model is shown; what stands below them is dropped with the others."""
LONGEST = 600
"""Characters of a memory that it is shown."""


def plan_by_llm(llm: LLM, asked: Plan, names: frozenset[str] = frozenset()) -> Plan:
    """The plan with the complexity and keywords of a model; if it fails, the plan of the rules, with a note."""
    from everwhen.recall.llm_judge_schema import PlanAnswer

    try:
        answer: PlanAnswer = llm.complete(
            f"<question>\n{asked.query}\n</question>", PlanAnswer, instructions=load("plan", llm)
        ).output
    except LLMError as error:
        return replace(asked, note=f"{error}; rules were used instead")
    named = {word for person in asked.people for word in person.split()}
    words = without_names(answer.keywords, names.union(named, surely_named(asked.query)))
    return replace(
        asked,
        question=replace(asked.question, complexity=answer.complexity, cues=(f"by {llm.name}",)),
        keywords=tuple(words[:KEYWORDS]) or asked.keywords,
    )


def gate_by_llm(
    llm: LLM, query: str, ranked: Sequence[Recalled], complexity: Complexity
) -> tuple[list[Recalled], list[Dropped]] | str:
    """The memories that a model keeps, in their order, and the others; or why it did not decide."""
    from everwhen.recall.llm_judge_schema import GateAnswer

    if not ranked:
        return [], []
    shown = ranked[:SHOWN]
    memories = "\n".join(
        f"[{number}] {header(day_of(one)).strip()} {line(one.speaker, one.text[:LONGEST]).strip()}"
        for number, one in enumerate(shown, start=1)
    )
    asked = (
        f"<question>\n{query}\n</question>\nIt is {complexity}.\n<memories>\n{memories}\n</memories>\n"
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
