"""What the user is asked: what stands in `review()` and bears on a question."""

from __future__ import annotations

import re
from collections.abc import Iterable

from everwhen.api.operations.surface import Bank
from everwhen.recall.question import parse
from everwhen.types import Conflict, Proposal
from everwhen.types.relations import in_words
from everwhen.write.changes.learned_facts import UNNAMED

MOST = 2
"""Questions beside one answer."""


def review_questions(bank: Bank, question: str, speakers: Iterable[str]) -> tuple[str, ...]:
    """About whom the question names; who asks about themselves is one of the `speakers` of what was found."""
    own = {one.casefold() for one in (UNNAMED, *speakers)} if parse(question).first_person else set()
    said = set(re.findall(r"\w+", question.casefold()))

    def bears(waiting: Conflict | Proposal) -> bool:
        subject = (waiting.fact if isinstance(waiting, Proposal) else waiting).subject.casefold()
        return subject in own or bool(said.intersection(re.findall(r"\w+", subject)))

    return tuple(_asked(one) for one in bank.facts.review() if bears(one))[:MOST]


def _asked(waiting: Conflict | Proposal) -> str:
    if isinstance(waiting, Conflict):
        sides = " or ".join(in_words(one.subject, one.predicate, one.object) for one in waiting.sides)
        return f"What is right: {sides}? ({waiting.id})"
    fact = waiting.fact
    told = in_words(fact.subject, fact.predicate, fact.object)
    ended = f" until {fact.valid_to:%Y-%m-%d}, and not since" if fact.valid_to is not None else ""
    return f"Is it so that {told}{ended}? Not believed yet: {waiting.why}. ({waiting.id})"
