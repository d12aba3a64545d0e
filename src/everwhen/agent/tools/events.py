"""`search_events` and `grep_events`: what happened."""

from __future__ import annotations

from pydantic import Field

from everwhen.agent.rendering import event_line
from everwhen.agent.tools.base import MOST, DateFilter, MemoryTool, ToolContext, result_lines


class SearchEvents(DateFilter):
    """Arguments of `search_events`."""

    query: str = Field(min_length=1, description="What the events are about.")
    top_k: int = Field(20, ge=1, le=MOST, description="How many events.")


class GrepEvents(DateFilter):
    """Arguments of `grep_events`."""

    pattern: str = Field(min_length=1, description="Words as they stand, whatever the case.")
    regex: bool = Field(False, description="The pattern is a regular expression.")
    top_k: int = Field(20, ge=1, le=MOST, description="How many events.")


def _search(kit: ToolContext, given: SearchEvents) -> str:
    events = kit.view.search_events(given.query, given.window(kit), given.top_k)
    return result_lines("events", [event_line(event, kit.label) for event in events], kit.view.recipe.longest)


def _grep(kit: ToolContext, given: GrepEvents) -> str:
    hits = kit.view.grep_events(given.pattern, given.regex, given.window(kit), given.top_k)
    return result_lines("events", [event_line(hit.event, kit.label) for hit in hits], kit.view.recipe.longest)


search_events = MemoryTool(
    "search_events",
    "Search the event calendar: who did what, with the date on which it happened. told_only: no date was said, the "
    "date is that of telling.",
    SearchEvents,
    _search,
    "since and until bound when it happened, not when it was told.",
)
grep_events = MemoryTool(
    "grep_events",
    "Every event whose sentence, or another wording of it, contains exact words.",
    GrepEvents,
    _grep,
    "since and until bound when it happened.",
)
