"""How a recall is put together: frozen recipes, each stage of which can be left out by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from everwhen.errors import UsageError

CHANNELS = ("semantic", "keyword")


@dataclass(frozen=True, slots=True)
class Recipe:
    """The stages of a recall and their numbers. `MID.without("keyword")` is what an ablation uses."""

    name: str = "mid"
    candidates: int = 100
    channels: tuple[str, ...] = CHANNELS
    min_similarity: float = 0.2
    rrf_k: int = 10
    facts: bool = True

    def without(self, stage: str) -> Recipe:
        """The same recipe with one stage left out."""
        if stage == "facts":
            return replace(self, name=f"{self.name}-{stage}", facts=False)
        if stage not in self.channels:
            raise UsageError(
                f"recipe '{self.name}' has no stage '{stage}'; it has: {', '.join((*self.channels, 'facts'))}"
            )
        kept = tuple(channel for channel in self.channels if channel != stage)
        return replace(self, name=f"{self.name}-{stage}", channels=kept)


MID = Recipe()
