"""The tools over one bank, for our own agent and for anybody else's: typed arguments, errors as data.

base          how a tool is described, checked and called
memory_tools  what was said, what happened, what is true, the timeline, arithmetic with dates
"""

from everwhen.answer.tools.base import Toolbox, ToolContext

__all__ = ["ToolContext", "Toolbox"]
