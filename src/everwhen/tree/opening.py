"""From the setting `consolidate` to a consolidator."""

from __future__ import annotations

from functools import lru_cache

from everwhen.errors import UsageError
from everwhen.tree.base import Consolidator


def check_consolidator(name: str) -> str:
    """The name itself; anything unknown is refused before there is something to consolidate."""
    if name == "extractive" or (name.startswith("llm:") and len(name) > len("llm:")):
        return name
    raise UsageError(
        f"unknown consolidation '{name}'; use extractive or llm:<model> (such as llm:openai:gpt-4o-mini)"
    )


@lru_cache(maxsize=8)
def open_consolidator(name: str) -> Consolidator:
    """One consolidator a name for all banks of a process. Its model is loaded at first use."""
    check_consolidator(name)
    from everwhen.tree.extractive import Extractive

    if name == "extractive":
        return Extractive()
    from everwhen.tree.llm import open_llm_consolidator

    return open_llm_consolidator(name.removeprefix("llm:"))
