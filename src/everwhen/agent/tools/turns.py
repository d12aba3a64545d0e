"""`search_turns` and `grep_turns`: what was said."""

from __future__ import annotations

from pydantic import Field

from everwhen.agent.rendering import turn_lines
from everwhen.agent.tools.base import MOST, DateFilter, MemoryTool, ToolContext, result_lines


class SearchTurns(DateFilter):
    """Arguments of `search_turns`."""

    query: str = Field(min_length=1, description="Keywords, or the question in other words.")
    top_k: int = Field(15, ge=1, le=MOST, description="How many turns.")


class GrepTurns(DateFilter):
    """Arguments of `grep_turns`."""

    pattern: str = Field(min_length=1, description="Words as they stand, whatever the case.")
    regex: bool = Field(False, description="The pattern is a regular expression.")
    top_k: int = Field(20, ge=1, le=MOST, description="How many turns.")


def _search(kit: ToolContext, given: SearchTurns) -> str:
    turns, found = kit.view.search(given.query, given.window(kit), given.top_k)
    return result_lines("turns", turn_lines(turns, kit.label, found), kit.view.recipe.longest)


def _grep(kit: ToolContext, given: GrepTurns) -> str:
    hits = kit.view.grep(given.pattern, given.regex, given.window(kit), given.top_k)
    return result_lines("turns", turn_lines([hit.turn for hit in hits], kit.label), kit.view.recipe.longest)


search_turns = MemoryTool(
    "search_turns",
    "Search what was said, by meaning and words. Gives turns with the ones before and after, under their dates.",
    SearchTurns,
    _search,
    "since and until bound when it was said.",
)
grep_turns = MemoryTool(
    "grep_turns",
    "Every turn that contains exact words, in the order of time: for names, numbers and phrases, and to be sure that "
    "nothing is missed.",
    GrepTurns,
    _grep,
    "since and until bound when it was said.",
)
