"""How many, where nobody said a number: the turns that tell of one each, counted."""

from __future__ import annotations

from everwhen.agent.extractive import wording
from everwhen.agent.extractive.drafts import Draft
from everwhen.agent.extractive.reading import Found, Reply

TELLS = 0.0
"""The logit from which a turn tells of one."""
NAMED = 4
"""Things that a count names."""
NUMBERS = frozenset(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "dozen", "half",
     "twice", "once", "couple", "hundred", "thousand", "no", "none")
)  # fmt: skip


def count(found: Found) -> Draft:
    """The distinct things that the turns tell of."""
    told: dict[str, Reply] = {}
    for one in found.replies:
        if one.reading.relevance > TELLS and one.kind == "span" and one.words:
            told.setdefault(one.words.casefold(), one)
    if not told:
        return Draft("count", reason="no number of it was told, and nothing of the kind")
    several = sorted(told.values(), key=lambda one: one.turn.said_at)
    named = "; ".join(one.words for one in several[:NAMED])
    more = "; …" if len(several) > NAMED else ""
    return Draft(
        "counted",
        f"{len(several)}, counted in what was said: {named}{more}.",
        wording.unique([one.citation() for one in several]),
        confidence=min(one.answers for one in several),
        short=str(len(several)),
    )
