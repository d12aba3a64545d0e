"""What a study does with a question: asks it in several ways, and keeps how much evidence each brings for how much.

Evidence counts twice. `words`: the turns whose words are in what was returned, as everywhere in `bench`. `sources`: the
turns that what was returned rests on; a node of the tree rests on many whose words it does not repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from everwhen.api.memory import Memory
from everwhen.recall.candidates import Gathered, Request, gather
from everwhen.recall.pipeline import decide
from everwhen.store.rows import Filter
from everwhen.types import Recall, Recalled
from everwhen.types.recall import Recipe
from everwhen_bench import metrics
from everwhen_bench.retrieval import EVERYTHING, figure, given, within

BUDGETS = (512, 1024)
DEFAULT_BUDGET = 4096
"""Tokens of a recall that says nothing of its budget: what the mean of tokens is taken under."""
Choice = Callable[[Sequence[Recalled]], Sequence[Recalled]]


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """A question with its evidence."""

    text: str
    at: datetime | None
    gold: frozenset[str]
    said: Mapping[str, str]
    category: str


@dataclass(frozen=True, slots=True)
class Way:
    """One row of a table: how a question is asked, and which of what comes back is looked at."""

    name: str
    recipe: Recipe
    kinds: tuple[str, ...] | None = None
    chosen: Choice | None = None


@dataclass(frozen=True, slots=True)
class Brought:
    """What one way brought for one question."""

    complexity: str
    category: str
    words: Mapping[int, float]
    sources: float
    tokens: int
    memories: int


@dataclass(slots=True)
class Trial:
    """Asks in several ways, and keeps what each brought."""

    ways: Sequence[Way]
    brought: dict[str, list[Brought]] = field(default_factory=dict)

    def ask(self, memory: Memory, question: TrialQuestion, held: dict[Any, Gathered] | None = None) -> None:
        """One question, in every way; `held` keeps what was found for it, for the ways that search alike."""
        held = {} if held is None else held
        for way in self.ways:
            found = recall_from(memory, question, way, held)
            if way.chosen is not None:
                found = replace(found, memories=tuple(way.chosen(found.memories)))
            self.keep(way.name, found, question)

    def keep(self, name: str, found: Recall, question: TrialQuestion) -> None:
        words = {}
        for budget in BUDGETS:
            answer = within(found, budget)
            there = given(answer, answer.as_context(cut=0, dates=False), question.said)
            words[budget] = len(question.gold.intersection(there)) / len(question.gold)
        whole = within(found, DEFAULT_BUDGET)
        sources = {turn for one in whole.memories for turn in one.turns}
        self.brought.setdefault(name, []).append(
            Brought(
                str(found.trace["plan"]["complexity"]),
                question.category,
                words,
                len(question.gold & sources) / len(question.gold),
                whole.tokens,
                len(whole.memories),
            )
        )

    def rows(self, against: str | None = None) -> dict[str, Any]:
        """Each way's figures; with `against`, the paired differences to another way and their intervals."""
        base = self.brought[against] if against else None
        return {
            name: self._row(rows, None if name == against else base) for name, rows in self.brought.items()
        }

    def grouped(self, of: str, against: str) -> dict[str, Any]:
        """The rows of each group of questions: `of` is `complexity` or `category`, as `against` has it."""
        labels = [getattr(one, of) for one in self.brought[against]]
        return {
            label: {
                name: self._row(
                    _of(rows, labels, label),
                    None if name == against else _of(self.brought[against], labels, label),
                )
                for name, rows in self.brought.items()
            }
            for label in sorted(set(labels))
        }

    def _row(self, rows: Sequence[Brought], base: Sequence[Brought] | None) -> dict[str, Any]:
        out: dict[str, Any] = {"questions": len(rows)}
        for budget in BUDGETS:
            values = [one.words[budget] for one in rows]
            out[f"evidence@{budget}"] = figure(metrics.mean(values))
            if base is not None:
                differences = [now - one.words[budget] for now, one in zip(values, base, strict=True)]
                out[f"change@{budget}"] = figure(metrics.mean(differences))
                out[f"interval@{budget}"] = [figure(side) for side in metrics.paired_bootstrap(differences)]
        out["sources"] = figure(metrics.mean([one.sources for one in rows]))
        out["tokens"] = figure(metrics.mean([one.tokens for one in rows]))
        out["memories"] = figure(metrics.mean([one.memories for one in rows]))
        return out


def recall_from(memory: Memory, question: TrialQuestion, way: Way, held: dict[Any, Gathered]) -> Recall:
    """What `memory.recall` gives for a way, with the search done once for all that search alike."""
    store, recipe = memory._bank.store, way.recipe
    kinds = frozenset(way.kinds or recipe.kinds)
    request = Request(
        question.text,
        max_tokens=EVERYTHING,
        at=question.at,
        where=Filter(kinds=kinds),
        recipe=recipe,
        nodes=way.kinds is None or "node" in way.kinds,
    )
    searched = (recipe.candidates, recipe.channels, recipe.speaker, recipe.rerank and recipe.fusion, kinds)
    if searched not in held:
        held[searched] = gather(store, memory._bank.plain_embedder, request, {})
    return decide(store, held[searched], request, {})


def _of(rows: Sequence[Brought], labels: Sequence[str], label: str) -> list[Brought]:
    return [one for one, own in zip(rows, labels, strict=True) if own == label]
