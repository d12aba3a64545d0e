"""Recipes: which stages a recall has and with which numbers. Frozen; a stage can be left out by name."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

from everwhen.errors import UsageError
from everwhen.settings import LevelBudgets, Settings

Complexity: TypeAlias = Literal["simple", "hybrid", "complex"]
"""How much a question needs: one fact, several put together, or a judgement (TiMem's)."""
Gating: TypeAlias = Literal["none", "careful", "strict"]
CHANNELS = ("semantic", "keyword", "graph", "temporal")
STAGES = (
    "fusion", "rerank", "read", "latest", "satf", "tree", "expand", "gate", "facts", "dates", "context",
    "speaker",
)  # fmt: skip
SATF_NUMBERS = ("satf_anchors", "satf_sigma", "satf_alpha", "satf_gamma")

_DEFAULT = Settings()


@dataclass(frozen=True, slots=True)
class Recipe:
    """The stages of a recall and their numbers. `MID.without("keyword")` is what an ablation uses.

    `candidates` is what each channel brings. `fusion` is `linear` (fitted weights over features), `rrf`, or `lambda`
    (TiMem's); `context` and `speaker` are groups of the features. `satf` and `tree` are off by default: see
    docs/retrieval.md and docs/tree.md for what they do. A number that is also a setting is described there.
    """

    name: str = "mid"
    candidates: int = _DEFAULT.candidates["mid"]
    channels: tuple[str, ...] = ("semantic", "keyword", "temporal")
    min_similarity: float = _DEFAULT.min_similarity
    fusion: Literal["linear", "rrf", "lambda"] = "linear"
    rrf_k: int = _DEFAULT.rrf_k
    rerank: bool = True
    rerank_weight: float = _DEFAULT.rerank_weight
    read: int = _DEFAULT.read
    """The first candidates that the reader reads beside the question."""
    context: bool = True
    speaker: bool = True
    latest: bool = True
    satf: bool = _DEFAULT.satf
    satf_anchors: int | None = None
    """This number of SATF's and the next three: None is what is set for the bank."""
    satf_sigma: float | Literal["adaptive"] | None = None
    satf_alpha: float | None = None
    satf_gamma: float | None = None
    expand: int = 0
    """Turns before and after each memory that come along where there is room."""
    tree: bool = False
    """Take the 20 best turns as leaves, and the nodes of the tree above them along (`recall/papers/hierarchy.py`)."""
    tree_lambda: float = _DEFAULT.tree_lambda
    tree_leaves: int = _DEFAULT.tree_leaves
    tree_budgets: tuple[LevelBudgets, LevelBudgets, LevelBudgets] = _DEFAULT.tree_budgets
    scope: Complexity | None = None
    """A complexity for every question, whatever the planner would say: for studies."""
    gate: Gating = "none"
    """What is left out because it hardly helps: nothing, what costs no evidence (`careful`), or all but a few
    (`strict`: 3 to 8 for a simple question, more for a harder one). docs/tree.md says what each does."""
    facts: bool = True
    dates: bool = True
    """Resolve the times that turns speak of (`recall/calendar/annotation.py`): what their `occurred` and `shown` are
    from."""
    graph_seeds: int = _DEFAULT.graph_seeds
    graph_seed_similarity: float = _DEFAULT.graph_seed_similarity
    graph_similarity: float = _DEFAULT.graph_similarity
    graph_decay: float = _DEFAULT.graph_decay
    graph_stop: float = _DEFAULT.graph_stop
    graph_share: int = 4
    """The graph visits one unit for so many candidates: it reads the database for each step, and on LoCoMo dev the
    fusion ranks what it adds no differently (recall@10 without the channel: 0.000 less). TEMPR has 1."""
    graph_cosine: bool = True
    """Rank what the graph finds by activation times its cosine to the question; else by activation alone (TEMPR)."""
    min_edge: float = _DEFAULT.min_edge
    entity_fan_out: int = _DEFAULT.entity_fan_out
    temporal_similarity: float = _DEFAULT.temporal_similarity
    temporal_decay: float = _DEFAULT.temporal_decay
    temporal_cosine: bool = True
    """Rank what the temporal channel finds by closeness to the asked time times cosine; else as TEMPR does, by its
    closeness alone."""
    kinds: tuple[str, ...] = ("turn", "fact")
    """What is recalled where no kinds are asked for; TEMPR has narratives, too."""
    by_rank: bool = False
    """Fill `max_tokens` in the order of relevance until something does not fit (TEMPR); else by value for a token."""
    time_by_llm: bool = _DEFAULT.time_by_llm

    @property
    def needs_complexity(self) -> bool:
        """Whether a stage acts on what the planner says: only then a language model is asked for it."""
        return self.scope is None and (self.tree or self.gate != "none")

    def with_satf(self, settings: Settings) -> Recipe:
        """The same recipe with SATF's numbers as they are set, where it has none of its own."""
        names = [name for name in SATF_NUMBERS if getattr(self, name) is None]
        return replace(self, **{name: getattr(settings, name) for name in names}) if names else self

    @classmethod
    def of(cls, settings: Settings, name: str, candidates: int) -> Recipe:
        """The default recipe with the numbers that are set; `low` compares no words, reads and dates nothing."""
        own = {one.name for one in fields(cls)} - {"candidates"}
        numbers = {one.name: getattr(settings, one.name) for one in fields(settings) if one.name in own}
        found = cls(name, candidates, tree=settings.tree_recall, dates=settings.show_dates, **numbers)
        if settings.graph_recall:
            found = replace(found, channels=CHANNELS)
        return replace(found, rerank=False, read=0, dates=False) if name == "low" else found

    def without(self, stage: str) -> Recipe:
        """The same recipe with one stage left out."""
        name = f"{self.name}-{stage}"
        if stage in self.channels:
            return replace(self, name=name, channels=tuple(one for one in self.channels if one != stage))
        if stage in STAGES:
            off: Any = {"fusion": "rrf", "gate": "none", "expand": 0, "read": 0}.get(stage, False)
            return replace(self, name=name, **{stage: off})
        raise UsageError(
            f"recipe '{self.name}' has no stage '{stage}'; it has: {', '.join((*self.channels, *STAGES))}"
        )


MID = Recipe()
FOUR_WAY = replace(MID, name="four-way", channels=CHANNELS)
"""The default with the graph, which brings nothing that the fusion ranks higher (benchmarks/history/retrieval.md)."""

TEMPR = Recipe(
    name="tempr",
    candidates=100,
    channels=CHANNELS,
    min_similarity=0.3,
    fusion="rrf",
    rrf_k=60,
    speaker=False,
    graph_seed_similarity=0.5,
    graph_similarity=-1.0,
    graph_share=1,
    graph_cosine=False,
    entity_fan_out=1000,
    temporal_similarity=0.4,
    temporal_cosine=False,
    kinds=("turn", "fact", "narrative"),
    by_rank=True,
    time_by_llm=True,
)
"""TEMPR as its paper has it: turns, facts and narratives; four channels, each question asked once, RRF with k = 60, and
a cross-encoder's order where one is set; the budget filled in that order. A model (`recall_llm`), where one is set,
reads the time that is asked about. The graph visits as many units as there are candidates, whatever their own cosine to
the question, and ranks them by activation. The thresholds are the paper's, chosen for another embedder: floors only,
so that no small memory is left with nothing. The fan-out is ours: the paper has no bound. docs/retrieval.md has its
figures."""

TIMEM = Recipe(
    name="timem",
    candidates=100,
    channels=("semantic", "keyword"),
    fusion="lambda",
    read=0,
    speaker=False,
    tree=True,
    gate="strict",
    facts=False,
)
"""TiMem's recall: leaves by eq. 7 (meaning, and the planner's keywords), the nodes above them inside the budgets of the
question's complexity, and a gate that keeps what helps. A model plans and gates where `recall_llm` is set; with
`order="level"` they come by level and nearness in time (eq. 11). Its parts are measured in
benchmarks/history/tree.md."""

RECIPES = {recipe.name: recipe for recipe in (MID, TEMPR, TIMEM)}
"""By name, as the command line takes them."""


def for_budget(budget: str | int, settings: Settings) -> Recipe:
    """The default recipe with the thinking budget asked for: a name or a number of candidates a channel."""
    if isinstance(budget, str):
        if budget not in settings.candidates:
            choices = ", ".join(settings.candidates)
            raise UsageError(f"unknown budget {budget!r}; use {choices}, or a number of candidates")
        count = settings.candidates[budget]
    elif isinstance(budget, bool) or not isinstance(budget, int):
        raise UsageError(f"budget must be a whole number, not {budget!r}")
    else:
        count = budget
    if count < 1:
        raise UsageError(f"budget must be at least 1, got {count}")
    return Recipe.of(settings, str(budget), count)
