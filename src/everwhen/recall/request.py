"""What is asked of a recall: a question with its constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from everwhen.errors import UsageError
from everwhen.facts.shown_facts import FactScope
from everwhen.models.llm.base import LLM
from everwhen.models.reader import Reader
from everwhen.models.rerank import Reranker, open_reranker
from everwhen.settings import MAX_TOKENS
from everwhen.store.search import Filter
from everwhen.types import HalfLives
from everwhen.types.recipes import MID, Recipe

ORDERS = ("relevance", "time", "level")


@dataclass(frozen=True, slots=True)
class Request:
    """A question with its constraints."""

    query: str
    max_tokens: int = MAX_TOKENS
    at: datetime | None = None
    where: Filter = field(default_factory=Filter)
    order: str = "relevance"
    recipe: Recipe = MID
    moment: FactScope | None = None
    """Which facts are shown: those that hold then. None is what the question itself says, else now."""
    half_lives: HalfLives = field(default_factory=HalfLives)
    min_confidence: float | None = None
    reranker: Reranker = field(default_factory=lambda: open_reranker("maxsim"))
    reader: Reader | None = None
    """What reads the first candidates; None leaves them as they are."""
    nodes: bool = True
    """Whether nodes of the tree may come along where the recipe has `tree`: not where other kinds were asked for."""
    llm: LLM | None = None
    """A language model that plans and gates where the recipe does so; the rules where there is none, or it fails."""
    seek: str | None = None
    """Other words that look for the candidates, as an agent's search does; the query ranks what they find."""
    top_k: int | None = None
    """Memories at the most; None is all that fit."""

    def __post_init__(self) -> None:
        if not self.query.strip():
            raise UsageError("the query is empty; ask for something, such as 'where does Ana live'")
        if self.seek is not None and not self.seek.strip():
            raise UsageError("the words to look for are empty; give some, or leave them out")
        if self.max_tokens < 0:
            raise UsageError(f"max_tokens cannot be negative, got {self.max_tokens}")
        if self.top_k is not None and self.top_k < 1:
            raise UsageError(f"top_k must be at least 1, got {self.top_k}; leave it out for all that fit")
        if self.order not in ORDERS:
            raise UsageError(f"unknown order '{self.order}'; use one of {', '.join(ORDERS)}")

    @property
    def asked_at(self) -> datetime:
        """The moment of asking."""
        return self.at or datetime.now(UTC)
