"""The tools by name. `dates` has date_math; the others are here: what was said, what happened, what is true."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from everwhen.agent.rendering import entry_line, event_line, fact_line, turn_lines
from everwhen.agent.tools.base import MOST, Arguments, DateFilter, MemoryTool, ToolContext, result_lines
from everwhen.agent.tools.dates import date_math
from everwhen.errors import UsageError

# What was said


class SearchTurns(DateFilter):
    """Arguments of `search_turns`."""

    query: str = Field(min_length=1, description="Keywords, or the question in other words.")
    top_k: int = Field(15, ge=1, le=MOST, description="How many turns.")


class GrepTurns(DateFilter):
    """Arguments of `grep_turns`."""

    pattern: str = Field(min_length=1, description="Words as they stand, whatever the case.")
    regex: bool = Field(False, description="The pattern is a regular expression.")
    top_k: int = Field(20, ge=1, le=MOST, description="How many turns.")


def _search_turns(kit: ToolContext, given: SearchTurns) -> str:
    turns, found = kit.view.search(given.query, given.window(kit), given.top_k)
    return result_lines("turns", turn_lines(turns, kit.label, found), kit.view.recipe.longest)


def _grep_turns(kit: ToolContext, given: GrepTurns) -> str:
    hits = kit.view.grep(given.pattern, given.regex, given.window(kit), given.top_k)
    return result_lines("turns", turn_lines([hit.turn for hit in hits], kit.label), kit.view.recipe.longest)


search_turns = MemoryTool(
    "search_turns",
    "Search what was said, by meaning and words. Gives turns with the ones before and after, under their dates.",
    SearchTurns,
    _search_turns,
    "since and until bound when it was said.",
)
grep_turns = MemoryTool(
    "grep_turns",
    "Every turn that contains exact words, in the order of time: for names, numbers and phrases, and to be sure that "
    "nothing is missed.",
    GrepTurns,
    _grep_turns,
    "since and until bound when it was said.",
)

# What happened


class SearchEvents(DateFilter):
    """Arguments of `search_events`."""

    query: str = Field(min_length=1, description="What the events are about.")
    top_k: int = Field(20, ge=1, le=MOST, description="How many events.")


class GrepEvents(DateFilter):
    """Arguments of `grep_events`."""

    pattern: str = Field(min_length=1, description="Words as they stand, whatever the case.")
    regex: bool = Field(False, description="The pattern is a regular expression.")
    top_k: int = Field(20, ge=1, le=MOST, description="How many events.")


def _search_events(kit: ToolContext, given: SearchEvents) -> str:
    events = kit.view.search_events(given.query, given.window(kit), given.top_k)
    return result_lines("events", [event_line(event, kit.label) for event in events], kit.view.recipe.longest)


def _grep_events(kit: ToolContext, given: GrepEvents) -> str:
    hits = kit.view.grep_events(given.pattern, given.regex, given.window(kit), given.top_k)
    return result_lines("events", [event_line(hit.event, kit.label) for hit in hits], kit.view.recipe.longest)


search_events = MemoryTool(
    "search_events",
    "Search the event calendar: who did what, with the date on which it happened. told_only: no date was said, the "
    "date is that of telling.",
    SearchEvents,
    _search_events,
    "since and until bound when it happened, not when it was told.",
)
grep_events = MemoryTool(
    "grep_events",
    "Every event whose sentence, or another wording of it, contains exact words.",
    GrepEvents,
    _grep_events,
    "since and until bound when it happened.",
)

# What is true, and from when to when


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


def _facts_current(kit: ToolContext, given: FactsCurrent) -> str:
    facts = kit.view.facts(given.subject or None, given.predicate or None)
    lines = [fact_line(fact, kit.label, kit.view.zone) for fact in facts[: given.top_k]]
    return result_lines("facts", lines, kit.view.recipe.longest, len(facts))


def _facts_history(kit: ToolContext, given: FactsHistory) -> str:
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
    _facts_current,
)
facts_history = MemoryTool(
    "facts_history",
    "What held over time, with from and until: for what was so before, and for what changed.",
    FactsHistory,
    _facts_history,
    "since and until keep what held in between.",
)

# All of it in the order of time


class Timeline(DateFilter):
    """Arguments of `timeline`."""

    about: str = Field("", description="What it is about. Empty: everything.")
    kind: Literal["all", "event", "fact", "session"] = Field("all", description="What is listed.")
    top_k: int = Field(MOST, ge=1, le=MOST, description="How many entries.")


def _timeline(kit: ToolContext, given: Timeline) -> str:
    entries = kit.view.timeline(given.about or None, given.window(kit), None)
    if given.kind != "all":
        entries = [entry for entry in entries if entry.kind.startswith(given.kind)]
    lines = [entry_line(entry, kit.label) for entry in entries[: given.top_k]]
    return result_lines("timeline", lines, kit.view.recipe.longest, len(entries))


timeline = MemoryTool(
    "timeline",
    "What happened, what began or ended to be true, and the conversations, oldest first; each event once, however "
    "often it was told. For order, first and last, and how often.",
    Timeline,
    _timeline,
)

BY_NAME = {
    tool.name: tool
    for tool in (
        search_turns,
        grep_turns,
        search_events,
        grep_events,
        facts_current,
        facts_history,
        timeline,
        date_math,
    )
}
