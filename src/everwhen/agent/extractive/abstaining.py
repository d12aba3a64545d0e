"""Whether the memory holds an answer: a few signs of what was read, and a logistic over them.

    p(answerable) = 1 / (1 + exp(-(w0 + sum over signs s of w(s) * s)))

The weights are in `weights.json` with where they come from; `scripts/fit_extractive.py` fits them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from everwhen.agent.extractive import typed
from everwhen.agent.extractive.evidence import Found

FIRST = 5
"""The best turns that are held against each other."""
TOLD = 0.5
"""The share of the question's words that the turn must have in which somebody is told of."""
SIGNS = (
    "recalled",
    "unheard",
    "cover",
    "cover_theirs",
    "swapped",
    "theirs_first",
    "similar",
    "typed",
)
NAMELESS = ("unheard", "cover", "sentence", "similar", "typed")
"""The signs that are left where the question names nobody who speaks: nothing can be held against whose words they
are, and the recall's own confidence, which counts on it, is left out as well."""


def signs(found: Found) -> dict[str, float]:
    """What speaks for an answer and against one.

    recalled       the recall's own confidence, as log odds
    unheard        the share of the question's words that nobody ever said
    cover          the share of them that the best turn has, with the turn before it
    cover_theirs   the same of the turns by or about those whom the question names
    swapped        how much more of them somebody else's turns have
    theirs_first   whether the best turn is by those whom the question names
    similar        the best cosine
    sentence       the share of the question's words that the best single sentence has
    typed          whether a good sentence has what is of the kind asked for
    """
    sure = min(max(found.answerable, 0.001), 0.999)
    first = [one for one in found.sentences if one.place <= FIRST]
    best = max((one.around for one in first), default=0.0)
    theirs = max((one.around for one in first if one.mine), default=0.0) if found.names else best
    about = max((one.around for one in first if one.theirs), default=0.0)
    others = max((one.around for one in first if not one.mine), default=0.0) if found.names else best
    cosines = [memory.why.scores.get("semantic", 0.0) for memory in found.recall.memories[:FIRST]]
    top = [one for one in first if one.place == 1]
    return {
        "recalled": math.log(sure / (1 - sure)),
        "unheard": found.terms.unheard,
        "cover": best,
        "cover_theirs": about,
        "swapped": others - theirs,
        "theirs_first": float(any(one.mine for one in top)) if found.names else 0.5,
        "similar": max(cosines, default=0.0),
        "sentence": max((one.cover for one in first), default=0.0),
        "typed": _typed(found),
    }


def probability(found: Found, weights: Mapping[str, float] | None = None) -> float:
    """The chance that the memory holds an answer."""
    used = weights or fitted()["named" if _whose_counts(found) else "nameless"]
    given = signs(found)
    z = used["constant"] + math.fsum(
        weight * given[name] for name, weight in used.items() if name != "constant"
    )
    return 1.0 / (1.0 + math.exp(-z))


def _whose_counts(found: Found) -> bool:
    """Whether it counts who spoke: the question names a speaker or says "I", and nobody else tells of them by name.

    LoCoMo, where two people speak of themselves, has no such telling; where a user tells an assistant of others, there
    is hardly anything else.
    """
    if not found.names:
        return found.first_person
    return not any(
        one.told_of and not one.mine and one.place <= FIRST and one.cover > 0 and one.turn_cover >= TOLD
        for one in found.sentences
    )


def threshold(kind: str) -> float:
    """The chance below which nothing is answered, for a kind of question."""
    given: Mapping[str, float] = fitted()["threshold"]
    return float(given.get(kind, given["other"]))


def _typed(found: Found) -> float:
    if not typed.expected(found.asked):
        return 0.5
    good = [one for one in found.sentences if one.place <= 3 and (one.theirs or not found.names)]
    return float(any(typed.spans(found.asked, one) for one in good))


@lru_cache(maxsize=1)
def fitted() -> Mapping[str, Any]:
    """The fitted numbers, with where they come from."""
    found: Mapping[str, Any] = json.loads(Path(__file__).with_name("weights.json").read_text("utf-8"))
    return found
