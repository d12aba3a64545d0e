"""Consolidation without a model: picks central sentences that do not repeat one another, each with its date.

    weight(t)   = 1 + 0.15 log n_t, n_t the number of sentences that word t stands in; names and numbers twice that
    score(s)    = worth(s) * sum of weight(t) over s's words / sqrt(words of s, at least 4)
    chosen next = argmax score(s) (1 - overlap(s, chosen)), overlap = most shared words with one chosen / fewer words

If a session corrects itself, the later statement wins: a sentence is left out if its fact was replaced by another
fact of the same node. Earlier nodes are not used as input. If they were, a late turn would change all nodes after its
own, and the result would depend on the order of arrival.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING

from everwhen.store.base import STOP_WORDS
from everwhen.store.rows import FactRow
from everwhen.tree.base import NodeDraft, Task
from everwhen.tree.levels import INSTANT
from everwhen.types import Statement
from everwhen.types.facts import in_words
from everwhen.write.foreign_text import FENCED
from everwhen_time import Interval, describe
from everwhen_time.interval import in_plain_words
from everwhen_time.sentences import sentences as sentence_places
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from everwhen_time import TimeRef


# The weights were chosen on LoCoMo dev, by how many of the evidence turns the session nodes quote: 0.65 of them while
# they quote 0.28 of all turns. With log(1 + n_t) as the weight it is 0.58: what is central to a talk is often its chat.
TELLING = 2.0
"""What a name or a number weighs of a plain word."""
RECURRING = 0.15
"""What a word gains by standing in other sentences too."""
ASKED = 0.35
"""What a question is worth of a statement: it shows what somebody wants to know."""
ADDRESSED = 0.6
"""What is said of the one who listens is mostly a compliment, or known from what they say themselves."""
OWN = 1.25
"""What somebody says of themselves is what a memory is for."""
ASSISTANT = 0.6
"""What an assistant says is mostly about what the user has said."""
CAPTION = 0.5
"""A picture's caption is nobody's words."""
LASTING = {"session": 1.0, "pattern": 1.25, "profile": 2.0}
"""What says something of tastes, habits and ties is worth more the longer the window (our choice)."""
SHORTEST = 4
"""Words below which a sentence is not worth more for being short."""
MOST_WEIGHED = 200
"""The best sentences among which repetition is looked for."""
SAME = 0.7
"""The share of common words (Dice's) from which two statements of different children are one, said twice."""
MOST = {"session": 8, "pattern": 8, "profile": 8}
"""Statements of a node (our choice: about 150 tokens)."""
SHARE = {"session": 0.33, "pattern": 0.75, "profile": 0.6}
"""The part of the children's statements (for a session: of its turns) that a short window keeps."""
MOST_FACTS = 12
"""Facts that a profile's window states."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    statement: Statement
    sentence: Sentence
    place: int
    worth: float = 1.0


class Extractive:
    """Implements `Consolidator` without a model."""

    name = "extractive"
    version = "1"
    writes_exchanges = False
    history = 0
    batch_size = 64

    def consolidate(self, tasks: Sequence[Task]) -> list[NodeDraft]:
        return [self._draft(task) for task in tasks]

    def _draft(self, task: Task) -> NodeDraft:
        chosen = select(task)
        if task.kind == "session":
            zones = [task.zones.get(one.turns[0], task.zone) for one in chosen]
            dated = [absolute(one.text, one.first, zone) for one, zone in zip(chosen, zones, strict=True)]
            chosen = [replace(one, text=text) for one, text in zip(chosen, dated, strict=True)]
        if task.kind == "profile":
            known = facts_as_statements(task)[:MOST_FACTS]
            said = {turn for fact in known for turn in fact.turns}
            # A sentence that a fact was learned from says the same once more.
            chosen = [*known, *(one for one in chosen if not known or not said.issuperset(one.turns))]
        return NodeDraft(written(task, chosen), tuple(chosen), self.name, self.version)


def select(task: Task) -> list[Statement]:
    past = [*outdated(task.facts, task.place.end), *task.retracted]
    found = _candidates(task, past) or _candidates(task, [])
    count = sum(len(child.statements) for child in task.children)
    best = _best(found)
    if task.kind != "session":
        best = _best(_merged([one for _, one in best]))
        count = len(best)
    most = min(MOST[task.kind], max(2, math.ceil(count * SHARE[task.kind])))
    chosen = _varied(best, most)
    return [one.statement for one in sorted(chosen, key=lambda one: (one.statement.last, one.place))]


def _candidates(task: Task, past: Sequence[FactRow]) -> list[_Candidate]:
    found: list[_Candidate] = []
    known = [(weighed(fact.object).terms, frozenset(task.sources.get(fact.id, ()))) for fact in past]
    outdated_terms = [(terms, stated_in) for terms, stated_in in known if terms]
    statements = (one for child in task.children for one in child.statements if one.fact is None)
    for statement in statements:
        # A statement of a node is one already; a turn is taken apart.
        for text in sentences(statement.text) if task.kind == "session" else [statement.text]:
            sentence = weighed(text)
            # Said where the fact was learned, and with all the words of its object.
            if any(
                terms <= sentence.terms and stated_in.intersection(statement.turns)
                for terms, stated_in in outdated_terms
            ):
                continue
            worth = _worth(sentence, task, statement.speaker)
            found.append(_Candidate(replace(statement, text=text), sentence, len(found), worth))
    return found


def _worth(sentence: Sentence, task: Task, speaker: str) -> float:
    signs = (
        (sentence.asks, ASKED),
        (sentence.own, OWN),
        (sentence.addressed, ADDRESSED),
        (speaker in task.assistants, ASSISTANT),
        (sentence.text.startswith("["), CAPTION),
        (sentence.lasting, LASTING[task.kind]),
    )
    return math.prod(weight for there, weight in signs if there)


def _best(found: Sequence[_Candidate]) -> list[tuple[float, _Candidate]]:
    """The candidates that score most, best first."""
    weights = _weights(found)
    scored = [(_score(one, weights), one) for one in found]
    return sorted(scored, key=lambda item: (-item[0], item[1].place))[:MOST_WEIGHED]


def outdated(facts: Sequence[FactRow], end: datetime) -> list[FactRow]:
    """Those of a node's facts that another one of them had replaced by its end."""
    return [
        fact
        for fact in facts
        if any(other.slot == fact.slot and fact.valid_from < other.valid_from <= end for other in facts)
    ]


def _merged(found: list[_Candidate]) -> list[_Candidate]:
    """What several children say, once: the newest wording, with the support and the turns of all."""
    kept: list[_Candidate] = []
    for one in sorted(found, key=lambda item: (item.statement.last, item.statement.text), reverse=True):
        same = next((k for k, other in enumerate(kept) if _alike(one, other) >= SAME), None)
        if same is None:
            kept.append(one)
            continue
        newer, older = kept[same].statement, one.statement
        whole = replace(
            newer,
            first=min(newer.first, older.first),
            support=newer.support + older.support,
            turns=tuple(dict.fromkeys((*older.turns, *newer.turns))),
        )
        kept[same] = replace(kept[same], statement=whole)
    return kept[::-1]


def _weights(found: Sequence[_Candidate]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    telling: set[str] = set()
    for one in found:
        counts.update(one.sentence.terms)
        telling |= one.sentence.telling
    return {
        term: (1 + RECURRING * math.log(count)) * (TELLING if term in telling else 1.0)
        for term, count in counts.items()
    }


def _score(one: _Candidate, weights: dict[str, float]) -> float:
    terms = one.sentence.terms
    # In a fixed order: a sum of floats depends on it, and a set's order on the process.
    whole = math.fsum(weights[term] for term in terms)
    return one.worth * math.log2(1 + one.statement.support) * whole / math.sqrt(max(SHORTEST, len(terms)))


def _varied(scored: Sequence[tuple[float, _Candidate]], most: int) -> list[_Candidate]:
    """The best, one after the other, each worth less the more of it is said already."""
    chosen: list[_Candidate] = []
    overlaps = [0.0] * len(scored)
    left = set(range(len(scored)))
    while left and len(chosen) < most:
        best = max(left, key=lambda k: (scored[k][0] * (1 - overlaps[k]), -k))
        if chosen and scored[best][0] * (1 - overlaps[best]) <= 0:
            break
        left.remove(best)
        chosen.append(scored[best][1])
        for k in left:
            overlaps[k] = max(overlaps[k], _overlap(scored[k][1], scored[best][1]))
    return chosen


def _alike(one: _Candidate, other: _Candidate) -> float:
    a, b = one.sentence.terms, other.sentence.terms
    if one.statement.text == other.statement.text:
        return 1.0
    if any(term[0].isdigit() for term in a ^ b):
        return 0.0  # another date or amount is another thing
    return 2 * len(a & b) / max(1, len(a) + len(b))


def _overlap(one: _Candidate, other: _Candidate) -> float:
    a, b = one.sentence.terms, other.sentence.terms
    if not a or not b:
        return 1.0 if one.statement.text == other.statement.text else 0.0
    return len(a & b) / min(len(a), len(b))


def written(task: Task, statements: Sequence[Statement]) -> str:
    """A node's text: what and when it is, then a line for each statement."""
    lines = [header(task)]
    for one in statements:
        if one.fact is not None:
            lines.append(one.text)
        elif task.kind == "session":
            lines.append(f"{one.speaker}: {one.text}")
        else:
            when = day(one.last, zone_of(task.zone))
            lines.append(f"{when}, {one.speaker}: {one.text}{heard(one.support)}")
    return "\n".join(lines)


# Facts as statements

PASSING = ("plans",)
"""Predicates of what is over once it is done: no part of who somebody is."""


def facts_as_statements(task: Task) -> list[Statement]:
    """The facts supported by a window, as statements: most support first, then the newest."""
    past = {fact.id for fact in outdated(task.facts, task.place.end)}
    found = []
    for fact in task.facts:
        turns = tuple(turn for turn in task.sources.get(fact.id, ()) if turn in task.said_at_by_turn)
        if fact.id in past or not turns or fact.predicate in PASSING:
            continue
        turns = tuple(sorted(turns, key=lambda turn: (task.said_at_by_turn[turn], len(turn), turn)))
        first, last = task.said_at_by_turn[turns[0]], task.said_at_by_turn[turns[-1]]
        one = Statement("", fact.subject, first, last, len(turns), turns, fact.id)
        words = in_words(fact.subject, fact.predicate, fact.object)
        found.append(replace(one, text=f"{words} ({dated_support(one, task.zone)})"))
    return sorted(found, key=lambda one: (-one.support, -one.last.timestamp(), one.text))


def dated_support(one: Statement, zone: str) -> str:
    area = zone_of(zone)
    first, last = day(one.first, area), day(one.last, area)
    if one.support == 1 or first == last:
        return first if one.support == 1 else f"{first}, said {one.support} times"
    return f"{first} to {last}, said {one.support} times"


# Sentences of a turn, and the words that give them their weight; nothing here depends on the rest of the bank

LONGEST = 320
"""Characters of a sentence that are kept; a longer one is cut at a word."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Talk about the talk: words that are in most conversations and tell nothing of this one.
_CHAT = """thanks thank hey hi hello yeah yes yep no nope ok okay oh wow great good nice cool awesome amazing really
    sure glad happy sorry please well sounds sound definitely totally absolutely lol haha bye know think got get going
    go one lot thing things way much many even still back new make makes made also maybe right see keep i'm i've i'd
    i'll it's that's don't didn't can't you're you've we're we've they're he's she's there's let's isn't"""
_QUIET = frozenset(f"{STOP_WORDS} {_CHAT}".split())
_OWN = frozenset(["i", "i'm", "i've", "i'd", "i'll", "my", "me", "mine", "we", "we're", "we've", "our", "us"])

_YOUR = frozenset(["you", "your", "yours", "yourself", "you're", "you've", "you'll", "you'd"])
_LASTING = re.compile(
    r"\b(?:(?:i|we|he|she|they|to|really|also|n't) like|likes|loves?|hates?|prefers?|enjoys?|favou?rites?|always"
    r"|usually|every (?:day|morning|evening|night|week|weekend|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|often|believes?|allergic|vegetarian|vegan|works? (?:at|as|for|in)|working (?:at|as|for)|lives? in|living in"
    r"|my (?:wife|husband|partner|brother|sister|son|daughter|mother|mom|mum|father|dad|job|dog|cat))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the words that give it its weight; `telling` are those that are names or numbers."""

    text: str
    terms: frozenset[str]
    telling: frozenset[str]
    asks: bool
    own: bool
    """Whether somebody speaks of themselves."""
    addressed: bool = False
    """Whether it speaks to somebody of themselves."""
    lasting: bool = False
    """Whether it speaks of a taste, a habit, work, a home or a tie (English words)."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, without code (unless it is all there is)."""
    prose = FENCED.sub(" ", text)
    found = [" ".join(prose[start:end].split()) for start, end in sentence_places(prose)]
    return [_clipped(one) for one in found or [" ".join(text.split())]]


def weighed(text: str) -> Sentence:
    terms, telling = set(), set()
    own = addressed = False
    for place, match in enumerate(_WORD.finditer(text)):
        word = match[0]
        plain = _folded(word)
        own = own or plain in _OWN
        addressed = addressed or plain in _YOUR
        if plain in _QUIET:
            continue
        term = _stem(plain)
        terms.add(term)
        if word[0].isdigit() or (place and word[0].isupper()):
            telling.add(term)
    return Sentence(
        text,
        frozenset(terms),
        frozenset(telling),
        asks=text.rstrip("\"'”’)] ").endswith(("?", "？")),
        own=own,
        addressed=addressed,
        lasting=_LASTING.search(text) is not None,
    )


@lru_cache(maxsize=65_536)
def _folded(word: str) -> str:
    return word.replace("’", "'").casefold()


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """The word without the endings that make one word look like two."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _clipped(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    cut = text.rfind(" ", 0, LONGEST)
    return f"{text[: cut if cut > LONGEST // 2 else LONGEST]} …"


# The text around a node's statements: headers, dates, lists of names

MOST_NAMES = 4
_MONTH = re.compile(
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|ember|tember|ober)?\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening)|last night"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)


def day(instant: datetime, zone: tzinfo) -> str:
    local = instant.astimezone(zone)
    return f"{local.day} {local:%B} {local.year}"


def absolute(text: str, at: datetime, zone: str) -> str:
    """The text with the date behind each word that is counted from the day it was said on: "yesterday (7 June 2025)".

    A date without its year stays as it is: which year it is in, a sentence alone does not always tell.
    """
    from everwhen_time import resolve

    for found in sorted(resolve(text, at, zone), key=lambda ref: -ref.span[1]):
        start, end = found.span
        written = text[end : end + 2].lstrip().startswith("(")  # the date behind it, by somebody already
        dated = found.interval is not None and found.kind in ("point", "range") and not written
        if found.interval is not None and dated and _relative(found, text[start:end]):
            text = f"{text[:end]} ({_in_words(found.interval, zone)}){text[end:]}"
    return text


def _relative(found: TimeRef, words: str) -> bool:
    """Whether the words mean another day when they are said on another day."""
    if any(letter.isdigit() for letter in words) or _MONTH.search(words):
        return False
    return found.grain in ("day", "week", "month", "season", "year") or bool(_DAY.search(words))


def _in_words(interval: Interval, zone: str) -> str:
    """The interval in words; a part of a day by its day, and "by Wednesday" by the last day that is meant."""
    length = interval.length
    if interval.start is None and interval.end is not None:
        return day(interval.end - timedelta(microseconds=1), zone_of(zone))
    if interval.start is not None and length is not None and length < timedelta(hours=20):
        return day(interval.start, zone_of(zone))
    return in_plain_words(interval, zone)


def heard(support: int) -> str:
    return "" if support < 2 else f" (said {support} times)"


def header(task: Task) -> str:
    zone = zone_of(task.zone)
    count = len(task.children)
    if task.kind in ("exchange", "session"):
        first, last = task.place.start, task.place.end - INSTANT
        people = joined(dict.fromkeys(name for child in task.children for name in child.speakers))
        when = day(first, zone)
        if day(last, zone) != when:
            when = f"from {when} to {day(last, zone)}"
        return f"Conversation of {people}, {when}."
    when = describe(Interval(task.place.start, task.place.end), task.zone)
    below = {"session": "conversation"}.get(
        task.child_name, task.child_name if " " not in task.child_name else "part"
    )
    how_many = f"{count} {below}{'s' if count > 1 else ''}"
    return f"{when[0].upper()}{when[1:]}: {how_many}."


def joined(names: Iterable[str]) -> str:
    listed = list(names)
    if len(listed) > MOST_NAMES:
        listed = [*listed[:MOST_NAMES], "others"]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
