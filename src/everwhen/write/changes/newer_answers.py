"""Of several turns that answer a question, the newer one that replaces an older one: "I charge 45" after "I charge 40".

The fact store does this for extracted facts; here the reader compares the turns themselves, when a question is asked.
Recall ranks whole turns, and the reader's logit alone decides. An answer without a model chooses among words of turns;
there a curve decides over that logit and what else is known of the two (`training/fit_newer_reply.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import Passage, Reader
from everwhen.types import Turn

MAY_ANSWER = -2.0
"""The reader's logit from which a turn may answer: one in eight."""
AMONG = 8
"""The best candidates, of which one may replace the best answer. The reader has read the first three; what corrects
one of them often shares no word with the question, and stands behind these."""
RENEWS = -3.5
"""The logit of reader-2 from which one turn replaces another, chosen on `benchmarks/fit/newer.json`: with -4
LongMemEval's sessions are ranked worse."""
STEP = 1e-3
"""By how much what replaces comes before, so that of several the last one said comes first."""

NEAR = 10.0
"""How far a reply may stand behind the best one and still replace it because it is newer."""
SURE = 7.0
"""Beyond it no sign counts for more."""
NO_OTHER = -8.0
"""The weight of no reply at all."""

Renews = Callable[[Sequence[tuple[int, int]]], NDArray[np.float32]]
"""Of places of an earlier and a later candidate, the logit that the later one replaces what the earlier one says."""


def newer_first(
    fused: NDArray[np.float32],
    said: Sequence[tuple[datetime, int] | None],
    answers: Container[int],
    left_out: NDArray[np.bool_],
    renews: Renews,
) -> NDArray[np.float32]:
    """What is added to the fused scores so that a turn that replaces an answer comes before it.

    Every later turn is held against the best answer, and those that replace it come before it, the newest first. `said`
    is when each candidate was said (None: it is no turn), `answers` the places of those that may answer, and those
    `left_out` replace nothing: what an assistant says later changes nothing in the life of whom it talks with.
    """
    gained = np.zeros(len(fused), np.float32)
    order = [place for place in np.argsort(-fused, kind="stable").tolist() if said[place] is not None][:AMONG]
    best = next((place for place in order if place in answers), None)
    if best is None:
        return gained
    times = {place: time for place in order if (time := said[place]) is not None}
    later = [
        place
        for place in sorted(times, key=times.__getitem__)
        if times[place] > times[best] and fused[place] <= fused[best] and not left_out[place]
    ]
    height = float(fused[best])
    logits = renews([(best, place) for place in later]).tolist() if later else []
    for place, logit in zip(later, logits, strict=True):
        if logit > RENEWS:
            height += STEP
            gained[place] = height - float(fused[place])
    return gained


@dataclass(frozen=True, slots=True)
class StatedReply:
    """What a turn replies to a question, and what is known of it when replies are compared."""

    turn: Turn
    passage: Passage
    words: str
    weight: float
    """How much speaks for it, in logits."""
    content: frozenset[str]
    """The words of the turn that carry meaning."""

    @property
    def said(self) -> tuple[datetime, int]:
        return self.turn.said_at, self.turn.seq


def newest_reply(
    reader: Reader,
    question: str,
    replies: Sequence[StatedReply],
    weights: Mapping[str, float],
    lean: float = 0.0,
) -> tuple[int, int]:
    """The place of the reply that replaces all others, the best one first, and of the surest of those it stands for.

    `weights` are those of the curve, `lean` is added to its log odds. That something was said at all is as sure as the
    surest of the replies that are replaced.
    """

    def odds(signs: Mapping[str, float]) -> float:
        return weights["constant"] + math.fsum(weights[name] * value for name, value in signs.items()) + lean

    best, replaced = 0, list[int]()
    while True:
        others = [one for place, one in enumerate(replies) if place not in replaced]
        later = [
            place
            for place, one in enumerate(replies)
            if one.said > replies[best].said
            and replies[0].weight - one.weight < NEAR
            and odds(replacing_signs(replies[best], one, others, SURE)) > 0  # else the reader need not see it
        ]
        if not later:
            break
        pairs = [(replies[best].passage, replies[place].passage) for place in later]
        logits = reader.renews(question, pairs)
        found = [
            odds(replacing_signs(replies[best], replies[place], others, float(logit)))
            for place, logit in zip(later, logits, strict=True)
        ]
        if max(found) <= 0:
            break
        replaced.append(best)
        best = later[found.index(max(found))]
    return best, max([best, *replaced], key=lambda place: replies[place].weight)


def replacing_signs(
    best: StatedReply, reply: StatedReply, among: Iterable[StatedReply], renews: float
) -> dict[str, float]:
    """What it is computed from that a later reply replaces the best one: the reader's logit for it, how far the reply
    stands above all others, whether both give a number or neither does, whether the same person says both, how far
    apart, and how many words the two turns share."""
    others = max((one.weight for one in among if one is not best and one is not reply), default=NO_OTHER)
    numbers = [any(map(str.isdigit, one.words)) for one in (best, reply)]
    return {
        "renews": min(max(renews, -SURE), SURE),
        "above": min(max(reply.weight - others, -SURE), SURE),
        "alike": float(numbers[0] == numbers[1]),
        "numbers": float(all(numbers)),
        "same_speaker": float(best.turn.speaker == reply.turn.speaker),
        "same_session": float(best.turn.session == reply.turn.session),
        "days": math.log1p((reply.turn.said_at - best.turn.said_at) / timedelta(days=1)),
        "shared": math.log1p(len(best.content & reply.content)),
    }
