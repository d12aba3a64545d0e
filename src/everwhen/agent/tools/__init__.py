"""The tools over one bank, for our own agent and for anybody else's: typed arguments, errors as data.

base          how a tool is described, checked and called
memory_tools  search_turns, grep_turns, search_events, grep_events, facts_current, facts_history, timeline
dates         date_math
"""

from everwhen.agent.tools.base import Toolbox, ToolContext

__all__ = ["ToolContext", "Toolbox"]
