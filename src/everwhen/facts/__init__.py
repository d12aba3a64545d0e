"""Facts: what is true from when to when, when it was learned, and how far it can still be trusted."""

from everwhen.facts.fact_words import Words
from everwhen.facts.interface import AsyncFacts, Facts
from everwhen.facts.learn import LearnedFact, learn

__all__ = ["AsyncFacts", "Facts", "LearnedFact", "Words", "learn"]
