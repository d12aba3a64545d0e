"""From the setting `extract` to an extractor."""

from __future__ import annotations

from functools import lru_cache

from everwhen.models.reader import open_reader
from everwhen.settings import Settings
from everwhen.write.extract.base import Extractor


def open_extractor(settings: Settings) -> Extractor | None:
    """The extractor that is set; None for `none`. Its model is loaded at first use, and shared by all banks."""
    name = settings.extract
    if name == "none":
        return None
    if name == "rules":
        return _rules(settings.reader)
    from everwhen.models.llm import llm_of
    from everwhen.write.extract.llm import LLMExtractor

    return LLMExtractor(llm_of(settings, name.removeprefix("llm:")), _rules(settings.reader))


@lru_cache(maxsize=2)
def _rules(reader: str) -> Extractor:
    from everwhen.write.extract.rule_extractor import RuleExtractor

    return RuleExtractor(open_reader(reader))
