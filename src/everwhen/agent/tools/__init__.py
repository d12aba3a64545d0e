"""The tools over one bank, for our own agent and for anybody else's: typed arguments, errors as data.

base      how a tool is described, checked and called
turns     search_turns, grep_turns
events    search_events, grep_events
facts     facts_current, facts_history
timeline  timeline
dates     date_math
"""

from everwhen.agent.tools.base import Toolbox, ToolCallLike, ToolContext

__all__ = ["ToolCallLike", "ToolContext", "Toolbox"]
