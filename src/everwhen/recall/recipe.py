"""How a recall is put together: frozen recipes, each stage of which can be left out by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from everwhen.errors import UsageError

CHANNELS = ("semantic", "keyword", "graph", "temporal")
STAGES = ("fusion", "rerank", "latest", "satf", "expand", "gate", "facts", "context", "speaker")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The stages of a recall and their numbers. `MID.without("keyword")` is what an ablation uses.

    `candidates` is what each channel brings. `fusion` is `linear` (fitted weights over features) or `rrf`; `context`
    and `speaker` are groups of its features. `satf` is off by default: see docs/retrieval.md for what it does.
    """

    name: str = "mid"
    candidates: int = 100
    channels: tuple[str, ...] = CHANNELS
    min_similarity: float = 0.05
    fusion: Literal["linear", "rrf"] = "linear"
    rrf_k: int = 10
    rerank: bool = True
    context: bool = True
    speaker: bool = True
    latest: bool = True
    satf: bool = False
    satf_sigma: float | Literal["adaptive"] = 15.0
    satf_alpha: float = 10.0
    satf_gamma: float = 0.0
    expand: int = 0
    """Turns before and after each memory that come along where there is room."""
    gate: float = 0.0
    """What scores less than this share of the best is left out; 0 leaves out nothing."""
    facts: bool = True

    def without(self, stage: str) -> Recipe:
        """The same recipe with one stage left out."""
        name = f"{self.name}-{stage}"
        if stage in self.channels:
            return replace(self, name=name, channels=tuple(one for one in self.channels if one != stage))
        match stage:
            case "fusion":
                return replace(self, name=name, fusion="rrf")
            case "rerank" | "latest" | "context" | "speaker" | "satf" | "facts":
                return replace(self, name=name, **{stage: False})  # type: ignore[arg-type]
            case "expand":
                return replace(self, name=name, expand=0)
            case "gate":
                return replace(self, name=name, gate=0.0)
        raise UsageError(
            f"recipe '{self.name}' has no stage '{stage}'; it has: {', '.join((*self.channels, *STAGES))}"
        )


MID = Recipe()
