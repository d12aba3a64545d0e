"""From the setting `extract` to an extractor."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from everwhen.errors import UsageError
from everwhen.ingest.extract.base import Extractor


def check_extractor(name: str) -> str:
    """The name itself; anything unknown is refused before there is something to extract."""
    if name in ("rules", "none") or (name.startswith("llm:") and len(name) > len("llm:")):
        return name
    raise UsageError(
        f"unknown extractor '{name}'; use rules, llm:<model> (such as llm:openai:gpt-4o-mini) or none"
    )


@lru_cache(maxsize=8)
def open_extractor(name: str) -> Extractor | None:
    """One extractor a name for all banks of a process; None for `none`. Its model is loaded at first use."""
    check_extractor(name)
    if name == "none":
        return None
    if name == "rules":
        from everwhen.ingest.extract.rules import RuleExtractor

        return RuleExtractor()
    module: Any = import_module("everwhen.ingest.extract.llm")
    opened: Extractor = module.open_llm_extractor(name.removeprefix("llm:"))
    return opened
