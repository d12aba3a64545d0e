"""`Memory` and its asynchronous twin: one bank, open in this process.

front        opening and closing; each method is an operation that one of the parts does
bank         what the parts share: the store, the models, the worker that extracts
turns        what was said
recalling    the memories that answer a question
events       what happened, entities, links
dates        when, compare, timeline
tree         the memory tree and its map
answers      answers in words, and the tools that give them
maintenance  extraction, forgetting, retention, export, backup, repair
"""

from everwhen.memory.asynchronous import AsyncMemory
from everwhen.memory.front import DEFAULT_EMBEDDER, Memory

__all__ = ["DEFAULT_EMBEDDER", "AsyncMemory", "Memory"]
