"""A later reply that replaces an earlier one: "I charge 45 from September" after "I charge 40"."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

from everwhen.answer.extractive.fitted_weights import fitted
from everwhen.answer.extractive.reply import TurnReply, content, told_at, weight
from everwhen.models.reader import Reader

NEAR = 10.0  # how far a reply may stand behind the best one and still replace it because it is newer
SURE = 7.0  # beyond it no sign counts for more
LAST = 1.0  # log odds, set by hand, that a later reply gains where the question asks for the last
NO_OTHER = -8.0  # the weight of no reply at all


def newest_first(
    reader: Reader, question: str, replies: list[TurnReply], lean: float = 0.0
) -> list[TurnReply]:
    """A later reply that replaces the best one comes first, and so on; `lean` is added to its log odds. That it was
    told at all is as sure as the surest of those that it replaces."""
    best, replaced = replies[0], list[TurnReply]()
    while True:
        others = [one for one in replies if one not in replaced]
        later = [
            one
            for one in replies
            if told_at(one) > told_at(best)
            and weight(replies[0]) - weight(one) < NEAR
            and _odds(replacing_signs(best, one, others, SURE)) + lean > 0  # else the reader need not see it
        ]
        if not later:
            break
        renews = reader.renews(question, [(best.passage, one.passage) for one in later])
        odds = [
            _odds(replacing_signs(best, one, others, float(logit))) + lean
            for one, logit in zip(later, renews, strict=True)
        ]
        if max(odds) <= 0:
            break
        replaced.append(best)
        best = later[odds.index(max(odds))]
    rest = [one for one in replies if one is not best]
    surest = max([best, *replaced], key=weight)
    return [best if surest is best else replace(best, shown_by=surest.reading), *rest]


def replacing_signs(
    best: TurnReply, reply: TurnReply, among: Iterable[TurnReply], renews: float
) -> dict[str, float]:
    """What it is computed from that a later reply replaces the best one: the reader's logit for it, how far the reply
    stands above all others, whether both give a number or neither does, whether the same person says both, how far
    apart, and how many words the two turns share."""
    others = max((weight(one) for one in among if one is not best and one is not reply), default=NO_OTHER)
    numbers = [any(map(str.isdigit, one.words)) for one in (best, reply)]
    return {
        "renews": min(max(renews, -SURE), SURE),
        "above": min(max(weight(reply) - others, -SURE), SURE),
        "alike": float(numbers[0] == numbers[1]),
        "numbers": float(all(numbers)),
        "same_speaker": float(best.turn.speaker == reply.turn.speaker),
        "same_session": float(best.turn.session == reply.turn.session),
        "days": math.log1p((reply.turn.said_at - best.turn.said_at) / timedelta(days=1)),
        "shared": math.log1p(len(content(best.turn.text) & content(reply.turn.text))),
    }


def _odds(signs: Mapping[str, float]) -> float:
    weights: Mapping[str, float] = fitted()["replaces"]
    return weights["constant"] + math.fsum(weights[name] * value for name, value in signs.items())
