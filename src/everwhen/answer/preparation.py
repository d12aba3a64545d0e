"""What is asked before the dialogue: guidance, how often something happened, and what the user has yet to decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from everwhen.answer.answer_budget import RequestLimits
from everwhen.answer.checking import FinalAnswer, ModelCitation
from everwhen.answer.extractive.count_answers import number_in
from everwhen.answer.view import BankView, Label, event_line, framed
from everwhen.api.operations.surface import Bank
from everwhen.models.llm.base import LLM, Reply
from everwhen.models.prompts import load
from everwhen.recall.question import parse
from everwhen.types import Conflict, Event, Proposal
from everwhen.types.facts import in_words
from everwhen.write.changes.learned_facts import UNNAMED
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

MOST_POINTS = 5
LONGEST_POINT = 300
"""Characters of one point."""


class Points(BaseModel):
    """What to look for: one to five points, made for this question (Chronos calls it dynamic prompting)."""

    points: list[str] = Field(description="One to five points, each one short sentence.")


def guidance(llm: LLM, question: str, at: datetime, zone: str, room: RequestLimits) -> Reply[list[str]]:
    """The points for a question asked at a moment. Made from the question alone: no memory is read."""
    day = at.astimezone(zone_of(zone))
    prompt = f"Asked on {day:%A %Y-%m-%d}:\n{question}"
    reply = llm.complete(
        prompt, Points, instructions=load("guidance", llm), max_tokens=room.answer, within=room.seconds
    )
    points = [" ".join(point.split())[:LONGEST_POINT] for point in reply.output.points]
    return Reply([point for point in points if point][:MOST_POINTS], reply.usage, reply.repaired)


MOST_EVENTS = 120
"""Events that a model is shown: those of the time that is asked about, the nearest to the question of more."""
_TIMES = re.compile(r"(?i)\b(?:twice|\w+ times)\b")


class Counted(BaseModel):
    """The events that count ("How many times did I exercise?", Chronos): a model says which, the arithmetic is ours."""

    times: list[list[int]] = Field(description="For each time that it happened, the lines that tell it.")
    confidence: float = Field(0.5, ge=0, le=1, description="How sure you are.")


def countable_events(view: BankView, question: str) -> list[Event]:
    """The events that may count, for a question for how often something happened; for any other none."""
    asked = parse(question, view.at, view.zone)
    if asked.kind != "count" or asked.noun != "times" or "search_events" not in view.recipe.tools:
        return []
    real = ("happened", "ongoing", *(("planned",) if asked.planned else ()))
    window = asked.time.interval if asked.time else None
    found = view.search_events(question, window, MOST_EVENTS, near=False)
    return sorted((one for one in found if one.status in real), key=lambda one: one.said_at or view.at)


def counting_prompt(question: str, found: Sequence[Event], label: Label) -> str:
    lines = (f"[{number}] {event_line(event, label)}" for number, event in enumerate(found, start=1))
    return f"<question>\n{question}\n</question>\n{framed('events', lines)}"


def count_by_model(llm: LLM, prompt: str, room: RequestLimits) -> Reply[Counted]:
    instructions = load("count", llm)
    return llm.complete(
        prompt, Counted, instructions=instructions, max_tokens=room.answer, within=room.seconds
    )


def counted_answer(found: Sequence[Event], chosen: Counted, zone: str) -> FinalAnswer | None:
    """The answer: each event once, and as often as its own words say ("twice"). None where nothing counts."""
    left = dict(enumerate(found, start=1))
    times = [events for group in chosen.times if (events := [left.pop(one) for one in group if one in left])]
    if not times:
        return None
    number = sum(max(map(_said_times, events)) for events in times)
    first = [events[0] for events in times]
    named = "; ".join(f"{one.title} ({in_plain_words(one.occurred, zone)})" for one in first if one.occurred)
    cited = [ModelCitation(turn=event.told_in, quote="") for events in times for event in events]
    text = f"{number} {'time' if number == 1 else 'times'}: {named}."
    return FinalAnswer(text=text, citations=cited, known=True, confidence=chosen.confidence)


def _said_times(event: Event) -> int:
    number = number_in(said.group()) if (said := _TIMES.search(event.text)) else None
    return int(number.value) if number else 1


MOST_QUESTIONS = 2
"""Questions beside one answer."""


def review_questions(bank: Bank, question: str, speakers: Iterable[str]) -> tuple[str, ...]:
    """About whom the question names; who asks about themselves is one of the `speakers` of what was found."""
    own = {one.casefold() for one in (UNNAMED, *speakers)} if parse(question).first_person else set()
    said = set(re.findall(r"\w+", question.casefold()))

    def bears(waiting: Conflict | Proposal) -> bool:
        subject = (waiting.fact if isinstance(waiting, Proposal) else waiting).subject.casefold()
        return subject in own or bool(said.intersection(re.findall(r"\w+", subject)))

    return tuple(_asked(one) for one in bank.facts.review() if bears(one))[:MOST_QUESTIONS]


def _asked(waiting: Conflict | Proposal) -> str:
    if isinstance(waiting, Conflict):
        sides = " or ".join(in_words(one.subject, one.predicate, one.object) for one in waiting.sides)
        return f"What is right: {sides}? ({waiting.id})"
    fact = waiting.fact
    statement = in_words(fact.subject, fact.predicate, fact.object)
    ended = f" until {fact.valid_to:%Y-%m-%d}, and not since" if fact.valid_to is not None else ""
    return f"Is it so that {statement}{ended}? Not believed yet: {waiting.why}. ({waiting.id})"
