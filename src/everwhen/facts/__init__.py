"""Facts: what is true from when to when, when it was learned, and how far it can still be trusted."""

from everwhen.facts.book import AsyncFacts, Facts, Words
from everwhen.facts.learn import ExtractedFact, forget_sources, learn

__all__ = ["AsyncFacts", "ExtractedFact", "Facts", "Words", "forget_sources", "learn"]
