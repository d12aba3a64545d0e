"""How many and how much: a number that was said, the sum of several, or the things that the turns tell of, counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from everwhen.agent.extractive import wording
from everwhen.agent.extractive.drafts import Draft
from everwhen.agent.extractive.kinds import Asked
from everwhen.agent.extractive.numbers import Number, counts, number_in
from everwhen.agent.extractive.reading import Found, Reply

TELLS = 0.0
"""The logit from which a turn tells of one."""
REPLIES = 0.5
"""The chance from which a turn replies."""
NAMED = 4
"""Things that a count names."""
_PARTED = re.compile(r"\s*[,;]\s*(?:and\s+|or\s+)?|\s+(?:and|&|plus)\s+", re.IGNORECASE)
_LEADING = re.compile(r"^(?:(?:an?|the|my|our|his|her|their|new|another|one)\s+)+", re.IGNORECASE)


def number_of(asked: Asked, reply: Reply) -> Number | None:
    """The number that a reply gives to a question for one."""
    if asked.kind != "count":
        return number_in(reply.words)
    return counts(reply.words, reply.passage.text[reply.reading.span[1] :], asked.noun)


def said(found: Found) -> tuple[Reply, Number] | None:
    """The best reply that says a number, and the number."""
    for one in found.replies:
        number = number_of(found.asked, one) if one.answers >= REPLIES else None
        if number is not None:
            return one, number
    return None


def total(asked: Asked, look: Callable[[str], Found], sure: Callable[[Found], float]) -> Draft | None:
    """The sum of what was said of two things; None where not both are told, unless a sum was asked for in so many
    words: then that is said. `sure` tells how often an answer is right."""
    found = [look(question) for question in asked.parts]
    told = [said(one) for one in found]
    if None in told:
        return Draft("sum", reason="not all of it was told") if asked.total else None
    return _summed([one for one in told if one is not None], min(map(sure, found)))


def _summed(told: Sequence[tuple[Reply, Number]], sure: float) -> Draft | None:
    """The sum; None of different measures, or where one sentence was read twice."""
    if len({number.unit for _, number in told}) != 1 or len({one.quote for one, _ in told}) < len(told):
        return None
    whole = Number(sum(number.value for _, number in told), told[0][1].unit)
    return Draft(
        "sum",
        f"{whole}: {' + '.join(str(number) for _, number in told)}, as it was said.",
        wording.unique([one.citation() for one, _ in told]),
        confidence=sure,
        short=str(whole),
    )


def count(found: Found) -> Draft:
    """The distinct things that the turns tell of."""
    told: dict[frozenset[str], tuple[str, Reply]] = {}
    for one in sorted(found.replies, key=lambda one: one.turn.said_at):
        if one.reading.relevance <= TELLS or one.kind != "span":
            continue
        for thing in filter(None, (_LEADING.sub("", part) for part in _PARTED.split(one.words))):
            words = frozenset(re.findall(r"\w+", thing.casefold()))
            is_thing = any(letter.isalpha() for letter in thing) and number_in(thing) is None
            if is_thing and not any(words <= known or known <= words for known in told):
                told[words] = thing, one
    if not told:
        return Draft("count", reason="no number of it was told, and nothing of the kind")
    named = "; ".join(thing for thing, _ in list(told.values())[:NAMED])
    more = "; …" if len(told) > NAMED else ""
    return Draft(
        "counted",
        f"{len(told)}, counted in what was said: {named}{more}.",
        wording.unique([one.citation() for _, one in told.values()]),
        confidence=min(one.answers for _, one in told.values()),
        short=str(len(told)),
    )
