"""`Memory` and its asynchronous twin: one bank, open in this process.

front        opening and closing; each method is an operation that one of the parts does
bank         what the parts share: the store, the models, the worker that extracts
turns        what was said
recalling    the memories that answer a question
events       what happened, entities, links; when, compare, timeline
tree         the memory tree and its map
answers      answers in words, and the tools that give them
maintenance  extraction, forgetting, retention, export, backup, repair
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everwhen.api.memory.front import DEFAULT_EMBEDDER, Memory

if TYPE_CHECKING:
    from everwhen.api.memory.asynchronous import AsyncMemory

__all__ = ["DEFAULT_EMBEDDER", "AsyncMemory", "Memory"]


def __getattr__(name: str) -> Any:
    """The asynchronous twin brings asyncio with it, which a command does not need."""
    if name == "AsyncMemory":
        from everwhen.api.memory.asynchronous import AsyncMemory

        return AsyncMemory
    raise AttributeError(f"module 'everwhen.api.memory' has no attribute '{name}'")
