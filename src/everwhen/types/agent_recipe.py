"""How an answer is put together: a frozen recipe, each stage of which can be left out by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from everwhen.errors import UsageError

TOOLS = (
    "search_turns", "search_events", "grep_turns", "grep_events", "facts_current", "facts_history", "timeline",
    "date_math",
)  # fmt: skip
GROUPS: Mapping[str, tuple[str, ...]] = {
    "vectors": ("search_turns", "search_events"),
    "grep": ("grep_turns", "grep_events"),
    "events": ("search_events", "grep_events", "timeline"),
    "facts": ("facts_current", "facts_history"),
    "tools": TOOLS,
}
"""Tools that are left out together."""
STAGES = ("guidance", "retrieval", "rerank", "dates")


@dataclass(frozen=True, slots=True)
class AgentRecipe:
    """The stages of an answer and their numbers, which are those of Chronos. `FULL.without("guidance")` is what an
    ablation uses.

    `guidance` says what to look for, `retrieval` brings turns before any tool is called, `rerank` puts what was found
    in the order of the original question, `dates` gives the tools their date filters. `tools` are those on offer.
    """

    name: str = "full"
    guidance: bool = True
    retrieval: bool = True
    rerank: bool = True
    dates: bool = True
    tools: tuple[str, ...] = TOOLS
    candidates: int = 100
    """What each search brings before it is ranked."""
    kept: int = 15
    """Turns that the initial retrieval keeps."""
    around: int = 1
    """Turns before and after each that come along."""
    longest: int = 24_000
    """Characters of memories that are shown at a time (about four to a token), best turns first: as the initial
    retrieval, and as the result of one call."""

    def without(self, stage: str) -> AgentRecipe:
        """The same recipe with one stage, one tool or one group of tools left out."""
        name = f"{self.name}-{stage}"
        if stage in STAGES:
            return replace(self, name=name, **{stage: False})  # type: ignore[arg-type]
        if stage == "around":
            return replace(self, name=name, around=0)
        gone = GROUPS.get(stage, (stage,))
        if set(gone).isdisjoint(self.tools):
            known = ", ".join((*STAGES, "around", *GROUPS, *TOOLS))
            raise UsageError(f"recipe '{self.name}' has no stage or tool '{stage}'; there are: {known}")
        return replace(self, name=name, tools=tuple(one for one in self.tools if one not in gone))


FULL = AgentRecipe()
