"""The Temporal Memory Tree: what was said, condensed from exchanges to sessions, days, weeks and a profile."""

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
