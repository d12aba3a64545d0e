"""What the retrieval benches share: a fresh bank a conversation, one question asked, figures from runs.

Only the public `Memory` is used. Figures are computed from what is written to `runs`, so that anyone who
scores the file again gets the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any

from everwhen.api.memory import Memory
from everwhen.models.embedder import count_tokens
from everwhen.recall.budget import NO_ROOM, fill
from everwhen.recall.calendar.annotation import as_said
from everwhen.store.banks import open_banks
from everwhen.store.files.home import home_folder
from everwhen.types import Dropped, Message, Recall
from everwhen.types.recall import Recipe
from everwhen_bench import metrics
from everwhen_bench.metrics import Ranking
from everwhen_bench.parses import kept_parses

BUDGETS = (512, 1024, 4096)
"""Tokens of context in which evidence is looked for; the last is the default of `recall`, and is timed."""
RANKS = 50
"""Single turns that a run lists."""
EVERYTHING = 100_000
"""Tokens that leave the order of the candidates uncut."""
NO_CONTEXT: Mapping[str, Sequence[str]] = MappingProxyType({})
INTERVALS = ("recall@5", "recall@10", "ndcg@10")

Progress = Callable[[int], None]
"""Hears how many questions have been asked."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question brought."""

    ranked: list[str]
    context: dict[str, list[str]]
    over_budget: int
    answerable: float
    ms: float
    stages_ms: Mapping[str, float]
    recipe: str
    whole: Recall
    """Everything that was found, uncut."""


@dataclass(slots=True)
class Tally:
    """What is counted beside the runs."""

    recipe: str = ""
    turns: int = 0
    seconds: float = 0.0
    over_budget: int = 0
    stages_ms: dict[str, list[float]] = field(default_factory=dict)

    def count(self, asked: Asked) -> None:
        self.recipe = asked.recipe
        self.over_budget += asked.over_budget
        for stage, ms in asked.stages_ms.items():
            self.stages_ms.setdefault(stage, []).append(ms)


@dataclass(frozen=True, slots=True)
class Scored:
    """One question with the evidence it has, at both levels, and the group that it is reported in."""

    group: str
    turn: Ranking | None
    session: Ranking | None
    context: Mapping[str, Sequence[Hashable]]


@contextmanager
def fresh_bank(
    home: Path | None, name: str, messages: Sequence[Message], tally: Tally, **settings: Any
) -> Iterator[Memory]:
    """A bank that holds the messages and nothing else, and what is extracted from them where `extract` asks for it.

    In a home that the caller named it stays there to be looked at; else it is removed afterwards, and only
    the embedding cache stays, so that the next run is quick.
    """
    folder = home or home_folder() / "bench"
    banks = open_banks(folder)
    banks.drop(name)
    chosen = {"extract": "none", **settings}
    parsing = kept_parses(folder) if chosen["extract"] == "rules" else nullcontext()
    try:
        with parsing, Memory.open(folder, bank=name, **chosen) as memory:
            start = perf_counter()
            memory.add_many(messages)
            tally.seconds += perf_counter() - start
            tally.turns += len(messages)
            memory.flush()
            # The first recall builds the derived indexes: `bench speed` times that, as opening a bank.
            memory.recall("anything", max_tokens=0)
            yield memory
    finally:
        if home is None:
            banks.drop(name)


def ask(
    memory: Memory, question: str, at: datetime | None, said: Mapping[str, str], recipe: Recipe | None = None
) -> Asked:
    """Recall once as an agent would, timed; then for the order alone, which also fills each smaller budget.

    `said` holds the words of every turn by its id: a turn counts as given only where its words are in the
    context. The timed call comes first, so that no later one has warmed it.
    """
    start = perf_counter()
    first = memory.recall(question, at=at, max_tokens=BUDGETS[-1], recipe=recipe)
    ms = (perf_counter() - start) * 1000
    whole = memory.recall(question, at=at, max_tokens=EVERYTHING, recipe=recipe)
    ranked = metrics.unique(turn for one in whole.memories for turn in one.turns)
    context = {}
    over_budget = 0
    for budget in BUDGETS:
        answer = first if budget == BUDGETS[-1] else within(whole, budget)
        text = answer.as_context(cut=0)
        over_budget += count_tokens(text) > budget
        context[str(budget)] = given(answer, answer.as_context(cut=0, dates=False), said)
    return Asked(
        ranked=[str(turn) for turn in ranked[:RANKS]],
        context=context,
        over_budget=over_budget,
        answerable=answerable(first),
        ms=ms,
        stages_ms=first.trace.get("stages_ms", {}),
        recipe=str(first.trace.get("recipe", "default")),
        whole=whole,
    )


def within(whole: Recall, budget: int) -> Recall:
    """What the same recall gives under a budget, without asking again: the budget is its last stage, and dates take
    part in it."""
    kept, left, tokens = fill(whole.memories, budget, list(map(as_said, whole.memories)))
    dropped = [Dropped(one.id, NO_ROOM, one.score) for one in left]
    return replace(whole, memories=tuple(kept), tokens=tokens, dropped=(*whole.dropped, *dropped))


def answerable(recall: Recall) -> float:
    """The engine's confidence that the memory holds an answer; until it has one, the best cosine."""
    given = recall.trace.get("answerable")
    if given is not None:
        return float(given)
    return max((one.why.scores.get("semantic", 0.0) for one in recall.memories), default=0.0)


def summary(
    scored: Sequence[Scored],
    runs: Sequence[Mapping[str, Any]],
    tally: Tally,
    *,
    unanswerable: Callable[[Mapping[str, Any]], bool],
    groups: str,
) -> dict[str, Any]:
    """The figures of a bench, all but those that only one of them has."""
    turns = [one.turn for one in scored if one.turn]
    sessions = [one.session for one in scored if one.session]
    times = [run["ms"] for run in runs]
    positive = [run["answerable"] for run in runs if not unanswerable(run)]
    negative = [run["answerable"] for run in runs if unanswerable(run)]
    return {
        "recipe": tally.recipe,
        "questions": len(scored),
        "turn": _rounded(metrics.summary(turns)),
        "session": _rounded(metrics.summary(sessions)),
        "interval_95": {
            "turn": {key: _interval(turns, key) for key in INTERVALS},
            "session": {key: _interval(sessions, key) for key in INTERVALS},
        },
        "tokens": {str(budget): _within(scored, str(budget)) for budget in BUDGETS},
        "over_budget": tally.over_budget,
        groups: {name: _group(rows) for name, rows in _grouped(scored).items()},
        "when": None,
        "abstention": {"auroc": figure(metrics.auroc(positive, negative)), "n": len(negative)},
        "latency_ms": {f"recall_p{q}": figure(metrics.percentile(times, q)) for q in (50, 95, 99)},
        "stages_ms": {
            name: figure(metrics.percentile(stage, 50)) for name, stage in sorted(tally.stages_ms.items())
        },
        "ingest": {"turns": tally.turns, "seconds": round(tally.seconds, 3)},
        "ablations": {},
    }


def given(recall: Recall, text: str, said: Mapping[str, str]) -> list[str]:
    """The turns whose words are in a context."""
    squeezed = _squeezed(text)
    turns = metrics.unique(turn for one in recall.memories for turn in one.turns)
    return [str(turn) for turn in turns if _squeezed(said[str(turn)]) in squeezed]


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _within(scored: Sequence[Scored], budget: str) -> float | None:
    """Evidence recall inside a budget: the context's turns, whatever their order."""
    found = [
        metrics.recall_at(one.context[budget], one.turn.gold, max(1, len(one.context[budget])))
        for one in scored
        if one.turn
    ]
    return figure(metrics.mean(found))


def _grouped(scored: Iterable[Scored]) -> dict[str, list[Scored]]:
    groups: dict[str, list[Scored]] = {}
    for one in scored:
        groups.setdefault(one.group, []).append(one)
    return dict(sorted(groups.items()))


def _group(rows: Sequence[Scored]) -> dict[str, Any]:
    return {
        "questions": len(rows),
        "turn": _rounded(metrics.summary([one.turn for one in rows if one.turn])),
        "session": _rounded(metrics.summary([one.session for one in rows if one.session])),
    }


def _interval(rankings: Sequence[Ranking], key: str) -> list[float | None]:
    return [figure(side) for side in metrics.bootstrap(metrics.scores(rankings, key))]


def _rounded(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {key: figure(value) for key, value in figures.items()}


def figure(value: float | None) -> float | None:
    """Four digits; what is not a number is null, since JSON has no word for it."""
    return None if value is None or math.isnan(value) else round(value, 4)
