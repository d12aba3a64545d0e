"""How long a leaf should be: 1, 2, 4 or 8 exchanges (TiMem, table 8).

A segment is remembered as one message, shown and paid for as a whole, and ranked as TiMem ranks leaves (0.9 of the
cosine, 0.1 of BM25): nothing that was fitted to single turns takes part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from everwhen.api.memory import Memory
from everwhen.types import Message
from everwhen.types.recall import MID
from everwhen_bench.retrieval import EVERYTHING, Tally, fresh_bank
from everwhen_bench.studies._tree.trial import Trial, TrialQuestion

SIZES = (1, 2, 4, 8)
TURNS = 2
"""Turns of an exchange."""
BY_LAMBDA = replace(MID, name="lambda", fusion="lambda")


@dataclass(frozen=True, slots=True)
class Cut:
    """A bank of segments of one size, and the turns of each."""

    size: int
    memory: Memory
    turns: Mapping[str, tuple[str, ...]]


def cut(stack: ExitStack, home: Path | None, name: str, messages: Sequence[Message]) -> list[Cut]:
    """A bank for each size, open as long as the stack is."""
    out = []
    for size in SIZES:
        joined, turns = segments(messages, size)
        bank = fresh_bank(home, f"{name}-{size}", joined, Tally(), count_access=False)
        out.append(Cut(size, stack.enter_context(bank), turns))
    return out


def segments(messages: Sequence[Message], size: int) -> tuple[list[Message], dict[str, tuple[str, ...]]]:
    """Every session cut into stretches of so many exchanges, each a message; and the turns that each holds."""
    joined: list[Message] = []
    turns: dict[str, tuple[str, ...]] = {}
    for _, session in groupby(messages, key=lambda message: message.session):
        said = list(session)
        for start in range(0, len(said), TURNS * size):
            part = said[start : start + TURNS * size]
            text = "\n".join(f"{one.name or one.role}: {one.text}" for one in part)
            joined.append(replace(part[0], text=text, name="segment"))
            turns[str(part[0].id)] = tuple(str(one.id) for one in part)
    return joined, turns


def ask(trial: Trial, cuts: Sequence[Cut], question: TrialQuestion) -> None:
    """One question, of the segments of each size: the 20 best."""
    for one in cuts:
        found = one.memory.recall(
            question.text, at=question.at, max_tokens=EVERYTHING, recipe=BY_LAMBDA, kinds=["turn"]
        )
        shown = [
            replace(memory, turns=tuple(turn for id_ in memory.turns for turn in one.turns[id_]))
            for memory in found.memories[: MID.tree_leaves]
        ]
        trial.keep(
            f"{one.size} exchange{'s' if one.size > 1 else ''}",
            replace(found, memories=tuple(shown)),
            question,
        )
