"""`facts_current` and `facts_history`: what is true, and from when to when."""

from __future__ import annotations

from pydantic import Field

from everwhen.agent.rendering import fact_line
from everwhen.agent.tools.base import MOST, Arguments, DateFilter, MemoryTool, ToolContext, result_lines
from everwhen.errors import UsageError


class FactsCurrent(Arguments):
    """Arguments of `facts_current`."""

    subject: str = Field("", description="Of whom or what, by name. Empty: of everybody.")
    predicate: str = Field("", description="Such as lives_in, works_at, prefers, owns. Empty: all.")
    top_k: int = Field(30, ge=1, le=MOST, description="How many facts.")


class FactsHistory(DateFilter):
    """Arguments of `facts_history`."""

    subject: str = Field(min_length=1, description="Of whom or what, by name.")
    predicate: str = Field("", description="Such as lives_in, works_at, prefers, owns. Empty: all.")
    top_k: int = Field(30, ge=1, le=MOST, description="How many facts.")


def _current(kit: ToolContext, given: FactsCurrent) -> str:
    facts = kit.view.facts(given.subject or None, given.predicate or None)
    lines = [fact_line(fact, kit.label, kit.view.zone) for fact in facts[: given.top_k]]
    return result_lines("facts", lines, kit.view.recipe.longest, len(facts))


def _history(kit: ToolContext, given: FactsHistory) -> str:
    if not given.subject:
        raise UsageError("facts_history needs a subject; facts_current lists who there is")
    window = given.window(kit)
    facts = [
        fact
        for fact in kit.view.history(given.subject, given.predicate or None)
        if window is None or fact.valid.overlaps(window)
    ]
    lines = [fact_line(fact, kit.label, kit.view.zone) for fact in facts[: given.top_k]]
    return result_lines("facts", lines, kit.view.recipe.longest, len(facts))


facts_current = MemoryTool(
    "facts_current",
    "What holds now of a person or thing: where somebody lives, works, what they own or prefer. The newest value.",
    FactsCurrent,
    _current,
)
facts_history = MemoryTool(
    "facts_history",
    "What held over time, with from and until: for what was so before, and for what changed.",
    FactsHistory,
    _history,
    "since and until keep what held in between.",
)
