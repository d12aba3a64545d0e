"""The Temporal Memory Tree: summaries of what was said, by exchange, session, day, week and month, and a profile on
top."""

from everwhen.tree.base import Consolidator, NodeDraft, Task
from everwhen.tree.consolidate import consolidate, note_turns
from everwhen.tree.levels import Levels, parse_levels, read_levels

__all__ = [
    "Consolidator",
    "Levels",
    "NodeDraft",
    "Task",
    "consolidate",
    "note_turns",
    "parse_levels",
    "read_levels",
]
