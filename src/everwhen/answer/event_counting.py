"""How often something happened ("How many times did I exercise?", Chronos): a model says which events of the calendar
count, and the arithmetic is ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, Field

from everwhen.answer.answer_budget import RequestLimits
from everwhen.answer.answer_checking import FinalAnswer, ModelCitation
from everwhen.answer.bank_view import BankView
from everwhen.answer.extractive.count_answers import number_in
from everwhen.answer.rendering import Label, event_line, framed
from everwhen.models.llm import LLM, Reply
from everwhen.models.prompts import load
from everwhen.recall.question import parse
from everwhen.types import Event
from everwhen_time.interval import in_plain_words

MOST = 120
"""Events that a model is shown: those of the time that is asked about, the nearest to the question of more."""
_TIMES = re.compile(r"(?i)\b(?:twice|\w+ times)\b")


class Counted(BaseModel):
    """The events that count."""

    times: list[list[int]] = Field(description="For each time that it happened, the lines that tell it.")
    confidence: float = Field(0.5, ge=0, le=1, description="How sure you are.")


def candidates(view: BankView, question: str) -> list[Event]:
    """The events that may count, for a question for how often something happened; for any other none."""
    asked = parse(question, view.at, view.zone)
    if asked.kind != "count" or asked.noun != "times" or "search_events" not in view.recipe.tools:
        return []
    real = ("happened", "ongoing", *(("planned",) if asked.planned else ()))
    window = asked.time.interval if asked.time else None
    found = view.search_events(question, window, MOST, near=False)
    return sorted((one for one in found if one.status in real), key=lambda one: one.said_at or view.at)


def shown(question: str, found: Sequence[Event], label: Label) -> str:
    lines = (f"[{number}] {event_line(event, label)}" for number, event in enumerate(found, start=1))
    return f"<question>\n{question}\n</question>\n{framed('events', lines)}"


def count(llm: LLM, prompt: str, room: RequestLimits) -> Reply[Counted]:
    told = load("count", llm)
    return llm.complete(prompt, Counted, instructions=told, max_tokens=room.answer, within=room.seconds)


def total(found: Sequence[Event], chosen: Counted, zone: str) -> FinalAnswer | None:
    """The answer: each event once, and as often as its own words say ("twice"). None where nothing counts."""
    left = dict(enumerate(found, start=1))
    times = [told for group in chosen.times if (told := [left.pop(one) for one in group if one in left])]
    if not times:
        return None
    number = sum(max(map(_said_times, told)) for told in times)
    first = [told[0] for told in times]
    named = "; ".join(f"{one.title} ({in_plain_words(one.occurred, zone)})" for one in first if one.occurred)
    cited = [ModelCitation(turn=event.told_in, quote="") for told in times for event in told]
    text = f"{number} {'time' if number == 1 else 'times'}: {named}."
    return FinalAnswer(text=text, citations=cited, known=True, confidence=chosen.confidence)


def _said_times(event: Event) -> int:
    number = number_in(said.group()) if (said := _TIMES.search(event.text)) else None
    return int(number.value) if number else 1
