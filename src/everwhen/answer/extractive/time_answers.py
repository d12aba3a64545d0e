"""Questions about time: dates from `when`, order and distance from `compare`; lengths are computed, not guessed."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from everwhen.answer.extractive.reply import (
    DraftAnswer,
    cited,
    content,
    day_in_words,
    one_for_each_turn,
    time_in_words,
    whole_days,
    with_quote,
)
from everwhen.answer.extractive.turn_replies import TurnReplies
from everwhen.api.operations.surface import Bank
from everwhen.recall.calendar.evidence import unit_around
from everwhen.recall.calendar.timeline import days_in_words
from everwhen.recall.question import Question, undated
from everwhen.types import Comparison, TimeAnswer
from everwhen_time import Interval, resolve
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

UNIT_DAYS = {
    "day": 1, "night": 1, "week": 7, "weekend": 7, "month": 30.4375, "year": 365.25, "decade": 3652.5,
}  # fmt: skip
SIDES: tuple[Literal["past", "future"], ...] = ("past", "future")
TOLD = 0.75  # the confidence from which words say which of two times they mean
_AGAIN = re.compile(r"\bagain\W*$", re.IGNORECASE)  # who asks so knew it, and forgot
SURE = 0.5  # the confidence from which the calendar alone says yes or no


def date(bank: Bank, asked: Question, at: datetime, as_of: datetime | None = None) -> DraftAnswer:
    """The date that was asked for, or how long ago it is."""
    found = bank.when(asked.words, at=at, as_of=as_of)
    if found is None:
        return DraftAnswer("when", reason="no date for it was ever told")
    if not asked.clock:
        found = replace(found, interval=whole_days(found.interval, found.zone))
    meant = [found.interval, *_other_meanings(found)]
    has_been = asked.past or asked.form == "ago"
    possible = [one for one in meant if one.start is None or one.start <= at] if has_been else meant
    words = [in_plain_words(one, found.zone) for one in possible or meant]
    text = words[0][:1].upper() + words[0][1:]
    if not possible and not (asked.ahead or asked.planned or _AGAIN.search(asked.words)):
        return replace(_dated(f"Not yet: {words[0]}", found), short=text)
    found = replace(found, interval=(possible or meant)[0])
    if asked.form == "ago":
        text = f"{ago(found, at, asked.unit)} ago ({words[0]})"
    if len(possible) < 2:
        return _dated(text, found)
    either = _dated(f"{text}, or {words[1]}: the words do not say which", found)
    return replace(either, intervals=tuple(possible))


def _other_meanings(found: TimeAnswer) -> list[Interval]:
    """The other August, where neither the words nor a verb say which one is meant, and nothing else said it."""
    if len(found.evidence) != 1 or not found.evidence[0].expression:
        return []
    [evidence], zone = found.evidence, found.zone
    for ref in resolve(evidence.quote, evidence.said_at, zone):
        if ref.text.casefold() == evidence.expression.casefold() and ref.interval == evidence.interval:
            sides = [
                one.interval for side in SIDES for one in resolve(ref.text, evidence.said_at, zone, side)
                if one.interval not in (None, ref.interval) and ref.confidence < TOLD
            ]  # fmt: skip
            return [_at_grain_of(found.interval, one, zone) for one in sides[:1] if one is not None]
    return []


def _at_grain_of(interval: Interval, other: Interval, zone: str) -> Interval:
    """The same unit as an answer has: of "which year" the year."""
    if other.start is None or interval.grain == other.grain:
        return other
    return unit_around(other.start, interval.grain, zone)


def called_off(bank: Bank, found: TurnReplies, as_of: datetime | None) -> DraftAnswer | None:
    """That a plan was called off, where one of the best turns does that to what is asked about."""
    best = {one.turn.id: one for one in found.replies[:2]}
    for event in bank.events(status="negated", as_of=as_of) if best else ():
        reply = best.get(event.told_in) if event.replaces else None
        said = content(f"{event.subject} {event.object} {event.text}")
        if reply is not None and content(found.asked.words) & said:
            text = with_quote("It was called off", reply.quote, reply.turn)
            sure = event.confidence
            return DraftAnswer("when", text, (reply.citation(),), confidence=sure, short="called off")
    return None


def since(bank: Bank, asked: Question, at: datetime) -> DraftAnswer:
    """How long something has lasted: from its beginning to the moment of asking."""
    found = bank.when(asked.words, at=at)
    if found is None or found.interval.start is None:
        return DraftAnswer("when", reason="no beginning of it was ever told")
    began = Interval(found.interval.start, found.interval.end, found.interval.grain)
    text = f"{ago(found, at, asked.unit)} (since {time_in_words(began, found.zone).removeprefix('Since ')})"
    return _dated(text, found)


def between(bank: Bank, asked: Question, at: datetime, _: datetime | None = None) -> DraftAnswer:
    compared, missing = _compare(bank, asked, at)
    if compared is None or compared.gap is None:
        return DraftAnswer("compare", reason=missing or "one of the two has no bounded date")
    gap = compared.gap
    text = in_unit(gap.least, gap.most, asked.unit) if asked.unit else gap.text
    return _compared(compared, text[:1].upper() + text[1:])


def first(bank: Bank, asked: Question, at: datetime, _: datetime | None = None) -> DraftAnswer:
    compared, missing = _compare(bank, asked, at)
    if compared is None:
        return DraftAnswer("compare", reason=missing)
    if compared.order != "before":
        return DraftAnswer("compare", reason="what was told does not say which of the two came first")
    chosen = compared.second if asked.later else compared.first
    return _compared(
        compared, f"{_side_asked(chosen.query, asked)} came {'later' if asked.later else 'first'}"
    )


def on_the_day(bank: Bank, asked: Question, at: datetime) -> DraftAnswer | None:
    """Yes or no to a question that names a time: whether the thing was then, where the calendar has it."""
    named = undated(asked.words, at, bank.zone)
    if named is None:
        return None
    found = bank.when(f"When {named[0][:1].lower()}{named[0][1:]}", at=at)
    if found is None or found.confidence < SURE:
        return None
    was = "Yes" if found.interval.overlaps(named[1]) else "No"
    text = f"{was}, {time_in_words(whole_days(found.interval, found.zone), found.zone)}"
    return _dated(text, found)


def ago(found: TimeAnswer, at: datetime, unit: str) -> str:
    area = zone_of(found.zone)
    start = found.interval.start or at
    end = found.interval.end or start + timedelta(days=1)
    now = at.astimezone(area).date()
    most = max(0, (now - start.astimezone(area).date()).days)
    least = max(0, (now - max(start, end - timedelta(microseconds=1)).astimezone(area).date()).days)
    return in_unit(min(least, most), most, unit) if unit else days_in_words(min(least, most), most)


def in_unit(least: int, most: int, unit: str) -> str:
    """A range of days in the unit that was asked for, rounded."""
    length = UNIT_DAYS.get(unit)
    if length is None:
        return days_in_words(least, most)
    low, high = round(least / length), round(most / length)
    if low == high:
        return f"{low} {unit}{'' if low == 1 else 's'}"
    return f"between {low} and {high} {unit}s"


def _compare(bank: Bank, asked: Question, at: datetime) -> tuple[Comparison | None, str]:
    """The comparison, or which side of it is not known."""
    assert asked.compared is not None
    compared = bank.compare(*asked.compared, at=at)
    unknown = [side.query for side in (compared.first, compared.second) if side.answer is None]
    return (None, f"no date for {unknown[0]} was ever told") if unknown else (compared, "")


def _side_asked(query: str, asked: Question) -> str:
    """The side as the question has it."""
    assert asked.sides is not None
    named = next((side for side in asked.sides if query.endswith(side)), query)
    return named[:1].upper() + named[1:]


def _compared(compared: Comparison, text: str) -> DraftAnswer:
    one, other = compared.first.answer, compared.second.answer
    assert one is not None and other is not None
    dates = "; ".join(
        f"{side.query}: {time_in_words(whole_days(side.answer.interval, side.answer.zone), side.answer.zone)}"
        for side in (compared.first, compared.second)
        if side.answer
    )
    return DraftAnswer(
        "compare",
        f"{text} ({dates}).",
        one_for_each_turn((*cited(one), *cited(other))),
        (one.interval, other.interval),
        min(one.confidence, other.confidence),
        short=text,
    )


def _dated(text: str, found: TimeAnswer) -> DraftAnswer:
    """A date in words, with the first sentence that says it."""
    answer = f"{text}."
    for evidence in found.evidence[:1]:
        answer = (
            f'{text}. {evidence.speaker}, {day_in_words(evidence.said_at, found.zone)}: "{evidence.quote}"'
        )
    return DraftAnswer("when", answer, cited(found), (found.interval,), found.confidence, short=text)
