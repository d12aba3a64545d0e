"""The sentence that answers: by the place of its turn, by whose it is, by its words, by its kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from everwhen.agent.extractive import typed
from everwhen.agent.extractive.evidence import Found, Sentence, split

LONGEST_QUOTE = 180
"""Characters up to which the sentences beside the best one come along: what answers often stands next to it."""
READ, PARSED = 12, 6
"""Turns whose sentences are looked at for the kind of answer, and where that takes a parse."""
WEIGHTS = {"place": 1.0, "cover": 1.0, "typed": 0.6, "theirs": 0.5, "mine": 0.3, "asks": -0.8}
"""Set by hand, not fitted: how it matches counts most, then whether it has the kind of answer, then whose words."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A sentence, what of it is of the kind asked for, and how good it is."""

    sentence: Sentence
    spans: tuple[str, ...]
    points: float

    @property
    def quote(self) -> str:
        """The sentence with its neighbours in the turn, as far as they are short."""
        whole = self.sentence.turn.text
        parts = split(whole)
        if self.sentence.text not in parts:
            return self.sentence.text
        first = last = parts.index(self.sentence.text)
        while True:
            after, before = last + 1 < len(parts), first > 0
            if after and _length(parts, first, last + 1) <= LONGEST_QUOTE:
                last += 1
            elif before and _length(parts, first - 1, last) <= LONGEST_QUOTE:
                first -= 1
            else:
                break
        start = whole.index(parts[first])
        end = whole.index(parts[last], start) + len(parts[last])
        return whole[start:end]


def choose(found: Found) -> list[Chosen]:
    """The sentences of the best turns, the likeliest answer first."""
    wanted = typed.expected(found.asked)
    chosen = []
    for one in found.sentences:
        if one.place > (PARSED if found.asked.kind in ("who", "where") else READ):
            continue
        spans = typed.spans(found.asked, one) if wanted else []
        chosen.append(Chosen(one, tuple(spans), _points(one, bool(spans))))
    return sorted(chosen, key=lambda one: -one.points)


def _points(one: Sentence, fits: bool) -> float:
    return (
        WEIGHTS["place"] / math.sqrt(one.place)
        + WEIGHTS["cover"] * one.cover
        + WEIGHTS["typed"] * fits
        + WEIGHTS["theirs"] * one.theirs
        + WEIGHTS["mine"] * one.mine
        + WEIGHTS["asks"] * one.asks
    )


def _length(parts: Sequence[str], first: int, last: int) -> int:
    return len(" ".join(parts[first : last + 1]))
