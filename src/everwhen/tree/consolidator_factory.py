"""Creates the consolidator that the setting `consolidate` names."""

from __future__ import annotations

from everwhen.errors import UsageError
from everwhen.settings import Settings
from everwhen.tree.base import Consolidator


def check_consolidator(name: str) -> str:
    """The name itself; anything unknown is refused before there is something to consolidate."""
    if name == "extractive" or (name.startswith("llm:") and len(name) > len("llm:")):
        return name
    raise UsageError(
        f"unknown consolidation '{name}'; use extractive or llm:<model> (such as llm:openai:gpt-4o-mini)"
    )


def open_consolidator(settings: Settings) -> Consolidator:
    """The consolidator that is set. Its model is loaded at first use, and shared by all banks."""
    name = check_consolidator(settings.consolidate)
    if name == "extractive":
        from everwhen.tree.extractive import Extractive

        return Extractive()
    from everwhen.models.llm import llm_of
    from everwhen.tree.llm import LLMConsolidator

    return LLMConsolidator(
        llm_of(settings, name.removeprefix("llm:"), temperature=settings.consolidation_temperature)
    )
