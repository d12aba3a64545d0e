"""The front door: `Memory` and its asynchronous twin. Each method is a few lines that call a room below.

front    opening, adding, recall, upkeep
graph    extraction, events, entities, links
times    when, compare, timeline
asking   answers in words, and the tools that give them
"""

from everwhen.memory.asynchronous import AsyncMemory
from everwhen.memory.front import DEFAULT_EMBEDDER, Memory

__all__ = ["DEFAULT_EMBEDDER", "AsyncMemory", "Memory"]
