"""`Memory` and its asynchronous twin: one bank, open in this process.

front        opening and closing, and what cannot travel
bank         the store, the models and the worker of an open bank; what is added to it, and recalled from it
derived      events, entities, links; when, compare, timeline; the memory tree and its map
answers      answers in words, and the tools that give them
maintenance  extraction, forgetting, retention, export, backup, repair
"""

from everwhen.api.memory.front import DEFAULT_EMBEDDER, AsyncMemory, Memory

__all__ = ["DEFAULT_EMBEDDER", "AsyncMemory", "Memory"]
