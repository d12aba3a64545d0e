"""Extraction by rules: a dependency parse and the time grammar, no LLM."""

from everwhen.ingest.extract.rules.extractor import RuleExtractor

__all__ = ["RuleExtractor"]
