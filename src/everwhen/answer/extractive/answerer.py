"""One question, from its words to an answer with citations or a refusal that says what was searched.

Dates, distances and order come from the calendar; everything else is read in the recalled turns. How often an answer
of some strength is right was measured (`weights.json`, by `training/fit_extractive.py`): that is its confidence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from everwhen.answer.extractive import count_answers, time_answers, valid_replies
from everwhen.answer.extractive.reply import (
    EMPTY,
    HEARSAY,
    QUOTE,
    DraftAnswer,
    TurnReply,
    content,
    day_in_words,
    ended_in_words,
    fitted,
    only_said_by,
    set_by_user,
    with_quote,
)
from everwhen.answer.extractive.turn_replies import (
    TurnReplies,
    ask_again,
    find_replies,
    missing_name,
)
from everwhen.api.operations.surface import Bank
from everwhen.facts.bitemporal import RIGHTS
from everwhen.models.comparison import Reader
from everwhen.recall.question import Question, parse, undated
from everwhen.types import Answer, Citation, Fact
from everwhen.types.recall import Recipe
from everwhen_time.sentences import sentence_at

WEIGHED = ("relevance", "answers", "span", "recalled")  # the signs that count
NUMBERS = ("count", "amount", "since", "lasting")
_ORDINAL = re.compile(r"(?:^|\s)(\d+)(?:st|nd|rd|th)$")
NAMES = 3.0  # logits that the one of two offered gains which a sentence names alone
_SOMEBODY = re.compile(  # "someone from the council" says a little
    r"(?:someone|somebody)(?:\s+else)?(?!['’\w])(?!\s+(?:from|of|in|at|with|called|named|who|i|we|my|our)\b)",
    re.IGNORECASE,
)
SHORTEST_SHOWN = 120  # characters of the nearest thing that a refusal shows
NOT_TOLD = "nothing that was said answers it"


def ask(
    bank: Bank,
    question: str,
    *,
    at: datetime,
    as_of: datetime | None = None,
    reader: Reader | None = None,
    recipe: Recipe | None = None,
) -> Answer:
    """Answer from what was said, without a model; `trace["how"]` says which way.

    Without a reader the best turn is quoted. `recipe` is how turns are recalled; it need not read them.
    """
    asked = parse(question)
    dated = {"when": time_answers.date, "between": time_answers.between, "first": time_answers.first}.get(
        asked.kind
    )
    draft = _known_by(dated(bank, asked, at, as_of), as_of) if dated else DraftAnswer("reading")

    def search(question: Question) -> TurnReplies:
        return find_replies(bank, reader, question, at=at, as_of=as_of, recipe=recipe)

    found = None if draft.text else search(asked)
    heard: str | None = None
    if found is not None and dated is None:
        counts = asked.kind in NUMBERS and found.pieces_read
        name = missing_name(question, [one[1] for one in found.pieces_read]) if counts else ""
        summed = DraftAnswer("reading", reason=f"{name} was not named") if name else None
        if asked.parts and not name:
            summed = count_answers.total(
                asked, lambda part: search(replace(asked, words=part, each="")), chance
            )
        unsure = chance(found) < fitted()["least"]
        held = valid_replies.ValidReplies(found)
        if reader:
            held = valid_replies.valid_replies(bank, reader, found, at, unsure, as_of)
        if held.set_by_user is not None:
            summed = _user_set_answer(held.set_by_user, asked, bank.zone)
        elif held.fact is not None:
            sure = held.fact.confidence if held.sure else min(chance(found), held.fact.confidence)
            summed = read_reply(held.found, held.found.replies[0], sure)
        draft = _known_by(summed or _read(bank, reader, held.found, at), as_of)
        confirmed = held.fact is not None and RIGHTS[held.fact.origin] >= RIGHTS["speaker"]
        if draft.text and held.set_by_user is None and not confirmed:
            cited = {one.turn for one in draft.citations}
            heard = only_said_by([one for one in found.replies if one.turn.id in cited], found.person)
        over = held.ended or held.until
        if over and (asked.kind == "yes or no" or (draft.confidence or 0.0) < fitted()["least"]):
            return _ended(bank, found, over, asked)
    elif found is not None and draft.late and found.replies:  # the calendar knows it only from later turns
        draft = read_reply(found, found.replies[0], chance(found))
    elif found is not None and asked.kind == "when":
        draft = time_answers.called_off(bank, found, as_of) or draft
    trace: dict[str, Any] = {
        "method": "extractive",
        "kind": asked.kind,
        "how": draft.how,
        "short": draft.short,
    }
    if found is not None:
        trace["signs"] = {name: round(value, 3) for name, value in found.signs().items()}
        trace["searched"] = {"turns": [one.turn.id for one in found.replies]}
    if found is not None and (not draft.text or (draft.confidence or 0.0) < fitted()["least"]):
        nothing = not (found.replies or found.unread) and not bank.stats().turns
        reason = count_answers.NOT_COUNTED if asked.each and draft.reason in ("", NOT_TOLD) else draft.reason
        refused = EMPTY if nothing else _refusal(found, reason or NOT_TOLD)
        return Answer(refused, abstained=True, trace=trace)
    sure = draft.confidence if draft.confidence is not None else 1.0
    if heard is not None:
        trace["only_said_by"] = heard
        draft, sure = replace(draft, text=f"{draft.text} ({heard}; nobody else did)"), sure * HEARSAY
    sure = round(sure, 3)
    return Answer(draft.text, draft.citations, draft.intervals, confidence=sure, trace=trace)


def _ended(bank: Bank, found: TurnReplies, over: Fact | TurnReply, asked: Question) -> Answer:
    """That what was asked for has ended, with the turn that says so: no to a question of yes or no, else a refusal."""
    if isinstance(over, TurnReply):
        turn, quote, sure, what = over.turn, over.quote, float(over.reading.statuses.max()), "it has ended"
    else:
        turn, sure, what = bank.turn(over.sources[-1]), over.confidence, ended_in_words(over, bank.zone)
        quote = sentence_at(turn.text, 0, 1, longest=QUOTE)
    is_no = asked.kind == "yes or no"
    text = with_quote(f"{'No' if is_no else 'Not known'}: {what}", quote, turn)
    trace = {
        "method": "extractive", "kind": asked.kind, "how": "reading" if isinstance(over, TurnReply) else "facts",
        "short": "No" if is_no else "",
        "searched": {"turns": list(dict.fromkeys(one[0].id for one in found.pieces_read))},
    }  # fmt: skip
    if not is_no:
        return Answer(text, abstained=True, trace=trace | {"ended_by": turn.id})
    cited = (Citation(turn.id, quote, turn.said_at, turn.speaker, turn.zone),)
    return Answer(text, cited, confidence=round(sure, 3), trace=trace)


def _user_set_answer(fact: Fact, asked: Question, zone: str) -> DraftAnswer:
    """What somebody set; there is no turn to quote. A question of yes or no it denies where it names another value."""
    short = fact.object
    if asked.kind == "yes or no":
        short = "Yes" if content(fact.object) <= content(asked.words) else "No"
    text = set_by_user(short, fact, zone)
    return DraftAnswer("facts", text, confidence=fact.confidence, short=short)


def _known_by(draft: DraftAnswer, as_of: datetime | None) -> DraftAnswer:
    """A draft, unless it rests on what was said only later: the calendar knows of no `as_of`."""
    if as_of is None or all(one.said_at <= as_of for one in draft.citations):
        return draft
    return DraftAnswer(draft.how, reason="nothing of it had been said by then", late=True)


def _read(bank: Bank, reader: Reader | None, found: TurnReplies, at: datetime) -> DraftAnswer:
    """What the best reply says; a length from the calendar and a count of things where nobody said a number."""
    asked, sure = found.asked, chance(found)
    best = found.replies[0] if found.replies else None
    numbered = count_answers.said(found)
    if asked.kind == "since" and (numbered is None or numbered[0] is not best):
        return time_answers.since(bank, asked, at)
    if asked.kind == "yes or no" and (dated := time_answers.on_the_day(bank, asked, at)) is not None:
        return dated
    if best is None and found.unread:
        return _quoted(found)
    if reader is not None and asked.each and (numbered is None or asked.total):
        things = ask_again(reader, found, asked.each)
        named = undated(asked.words, at, bank.zone)
        counted = count_answers.count(found, things, chance(things), named[1] if named else None)
        if counted.text or numbered is None:
            return counted
    if asked.kind == "count" and numbered is not None:
        return read_reply(found, numbered[0], chance(found.led_by(numbered[0])))
    if best is None:
        return DraftAnswer("reading", reason=NOT_TOLD, confidence=sure)
    if asked.kind == "who" and _SOMEBODY.match(best.words):
        return DraftAnswer("reading", reason=f"it was only said that it was {best.words.split()[0].lower()}")
    if asked.offered and reader is not None:
        return _chosen(reader, found)
    return read_reply(found, best, sure)


def _chosen(reader: Reader, found: TurnReplies) -> DraftAnswer:
    """Of two that are offered the one that is said to be so; a sentence that names only one of them speaks for it."""
    sides = [(name, ask_again(reader, found, question)) for name, question in found.asked.offered]
    names = [name for name, _ in sides]
    rated = []
    for name, side in sides:
        for one in side.replies:
            alone = [each for each in names if _says(one.quote, each)] == [name]
            rated.append((one.agrees + (NAMES if alone else 0), one, name, side))
    agrees, reply, name, side = max(rated, key=lambda one: one[0])
    if agrees < 0:
        return DraftAnswer("choice", reason="neither of the two was told", confidence=0.0)
    text = with_quote(name[:1].upper() + name[1:], reply.quote, reply.turn)
    return DraftAnswer("choice", text, (reply.citation(),), confidence=chance(side.led_by(reply)), short=name)


def _says(sentence: str, name: str) -> bool:
    """Whether a sentence has every word of a name, or a form of it: "increased" says "increase"."""
    said = re.findall(r"\w+", sentence.casefold())
    return all(any(one.startswith(word) for one in said) for word in re.findall(r"\w+", name.casefold()))


def _quoted(found: TurnReplies) -> DraftAnswer:
    """Without a reader: the beginning of the best turn, as sure as recall is that it answers."""
    turn = found.unread[0]
    quote = sentence_at(turn.text, 0, 1, longest=QUOTE)
    cited = Citation(turn.id, quote, turn.said_at, turn.speaker, turn.zone)
    return DraftAnswer("best turn", with_quote("", quote, turn), (cited,), confidence=found.answerable)


def read_reply(found: TurnReplies, best: TurnReply, sure: float) -> DraftAnswer:
    """A reply in words: the answer, and the sentence that has it. Where it is not sure which words answer, the
    sentences speak for themselves, and the likeliest words are only the short answer."""
    is_span = best.kind == "span" and found.asked.kind != "yes or no"
    short = best.words if is_span else "Yes" if best.yes else "No"
    if found.asked.kind == "count" and (ordinal := _ORDINAL.search(short)):  # "my 5th" speaks of five
        short = ordinal.group(1)
    leads = short[:1].upper() + short[1:] if best.points or not is_span else ""
    text = with_quote(leads, best.quote, best.turn)
    return DraftAnswer("reading", text, (best.citation(),), confidence=sure, short=short)


def chance(found: TurnReplies) -> float:
    """How often an answer with these signs is right."""
    weights: Mapping[str, float] = fitted()["weights"]
    signs = found.signs()
    odds = weights["constant"] + math.fsum(weights[name] * signs[name] for name in WEIGHED)
    return 1.0 / (1.0 + math.exp(-odds))


def _refusal(found: TurnReplies, reason: str) -> str:
    """What was searched, why it is no answer, and the nearest thing."""
    turns = [one.turn for one in found.replies] or list(found.unread)
    looked = f"{len(turns)} turn{'s' * (len(turns) != 1)}" if turns else "the memory"
    text = f"Not known: {reason}. Looked through {looked}"
    if not turns:
        return f"{text}; nothing comes near."
    quote = found.replies[0].quote if found.replies else turns[0].text
    quote = quote if len(quote) <= SHORTEST_SHOWN else f"{quote[: SHORTEST_SHOWN - 1]}…"
    return f'{text}; the nearest is {turns[0].speaker}, {day_in_words(turns[0].said_at, turns[0].zone)}: "{quote}"'
