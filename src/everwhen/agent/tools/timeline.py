"""`timeline`: events, facts and conversations in the order of time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from everwhen.agent.rendering import entry_line
from everwhen.agent.tools.base import MOST, DateFilter, MemoryTool, ToolContext, result_lines


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
