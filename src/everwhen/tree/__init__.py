"""The Temporal Memory Tree: summaries of what was said, by exchange, session, day, week and month, and a profile on
top."""

from everwhen.tree.base import Consolidator, Draft, Task
from everwhen.tree.consolidate import consolidate, note_turns, uproot
from everwhen.tree.levels import Levels, parse_levels, read_levels

__all__ = [
    "Consolidator",
    "Draft",
    "Levels",
    "Task",
    "consolidate",
    "note_turns",
    "parse_levels",
    "read_levels",
    "uproot",
]
