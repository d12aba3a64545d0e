"""What a question asks for, read from its own words by rules: of whom, of when, and of how much."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from everwhen.recall.complexity import complexity
from everwhen.recipes import Complexity
from everwhen.store.scan import SaidBy
from everwhen.store.terms import STOP_WORDS
from everwhen.types import ROLES
from everwhen.when import Constraint, Interval

# Said of what held once and may hold no longer, without a date.
_FORMERLY = re.compile(
    r"\b(used to|formerly|previous(ly)?|former|original(ly)?|at first|back then|in the past|once|no longer|"
    r"over the years|history|ever)\b",
    re.IGNORECASE,
)
# A question in the past tense asks what happened, not how things stand.
_HAPPENED = re.compile(r"\b(did|didn['’]t|was|wasn['’]t|were|weren['’]t|had|hadn['’]t)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"[?？]|^\W*(what|who|whom|whose|which|where|how|is|are|am|do|does|can|has|have|will)\b", re.IGNORECASE
)
_FIRST_PERSON = re.compile(r"\b(i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we've|our|ours|us)\b", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\b(you|you've|your|yours)\b", re.IGNORECASE)
_TIME = re.compile(
    r"^\W*(when|how long|since when)\b|\b(what|which) (date|day|month|year|time)\b|"
    r"\bhow (many|long) (days|weeks|months|years)\b|\b(first|last|latest|earliest|recent)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"\b(recent(ly)?|lately|soon|now|current(ly)?|nowadays)\b|\bhow (many|long)\b.{0,200}\bago\b",
    re.IGNORECASE,
)
KEYWORDS = 3
"""Keywords of a question, at most (TiMem)."""
_CONTENT = re.compile(r"[^\W\d_][\w'’-]{2,40}")
_COMMON = frozenset(STOP_WORDS.split()) | frozenset(
    "ever many much often long kind kinds type types sort name names mention mentioned according get got".split()  # noqa: SIM905
)
_PLACE = re.compile(r"\bwhere\b|\b(what|which) (city|country|state|place|town|location)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Plan:
    """A question taken apart."""

    query: str
    people: frozenset[str]
    """Speakers whom the question names."""
    first_person: bool
    second_person: bool
    asks_time: bool
    asks_place: bool
    complexity: Complexity
    time: Constraint | None
    vague_time: bool
    """Its time words name no window to look into: "lately", "now", "how long ago"."""
    keywords: tuple[str, ...] = ()
    """One to three words that it turns on, without the names of people."""
    cues: tuple[str, ...] = ()
    """What said how complex it is."""
    note: str = ""
    """Why a language model did not plan, where one was asked."""
    read_as: tuple[tuple[str, str], ...] = ()
    """Names that were misspelt, and as whose they were read; `query` has them as they are spelt."""

    def whose(self, has_assistant: bool) -> SaidBy | None:
        """Whose turns would tell: the people named, or the user where the question says "I"."""
        if self.people:
            return SaidBy(speakers=self.people)
        # Among people only, "I" is whoever asks, and the memory does not know who that is.
        return SaidBy(role="user") if self.first_person and has_assistant else None


def plan(query: str, at: datetime, zone: str, speakers: Iterable[str]) -> Plan:
    """Read a question, asked at a moment, of a memory in which some people speak."""
    from everwhen.when import constraint

    people, bare = _without_names(query, speakers)
    need, cues = complexity(query)
    return Plan(
        query=query,
        people=people,
        first_person=_FIRST_PERSON.search(query) is not None,
        second_person=_SECOND_PERSON.search(query) is not None,
        asks_time=_TIME.search(query) is not None,
        asks_place=_PLACE.search(query) is not None,
        complexity=need,
        time=constraint(query, at, zone),
        vague_time=_VAGUE.search(query) is not None,
        keywords=keywords(bare),
        cues=cues,
    )


def keywords(bare: str) -> tuple[str, ...]:
    """The words that a question turns on, as TiMem's planner names them: at most three, no function words, no names.

    The longest come first where there are more: in English the rarer word is the longer one. A capital inside the
    question is taken for a name.
    """
    words = [
        word.casefold()
        for place, word in enumerate(_CONTENT.findall(bare))
        if word.casefold() not in _COMMON and (place == 0 or not word[0].isupper())
    ]
    chosen = sorted(dict.fromkeys(words), key=lambda word: -len(word))[:KEYWORDS]
    return tuple(word for word in dict.fromkeys(words) if word in chosen)


def asks_now(plan: Plan, at: datetime) -> bool:
    """Whether a question asks how things stand, so that what is newer counts for more. A statement asks nothing."""
    return (
        _ASKS.search(plan.query) is not None
        and _HAPPENED.search(plan.query) is None
        and past_asked_for(plan.time, plan.query, at) is None
    )


def past_asked_for(asked: Constraint | None, query: str, at: datetime) -> Interval | None:
    """The stretch of the past that a question is about, or None when it asks about the present.

    "Where did she live in 2021" is about that year; "where did she live before", "her first job" and "what did
    he use to drink" about all that came until now.
    """
    if asked is not None and asked.interval is not None:
        start, end = asked.interval.start, asked.interval.end
        if end is not None and end <= at:
            return asked.interval
        if start is None and end is not None:
            return Interval(None, min(end, at), "second")
    backwards = asked is not None and (asked.order == "first" or asked.relation == "before")
    return Interval(None, at, "second") if backwards or _FORMERLY.search(query) else None


def _without_names(query: str, speakers: Iterable[str]) -> tuple[frozenset[str], str]:
    """The speakers that a question names, by their whole name or its first word, and what it says without them."""
    words = {word.casefold() for word in re.findall(r"\w+", query)}
    named: set[str] = set()
    bare = query
    for speaker in speakers:
        first = speaker.split()[0] if speaker.split() else ""
        if speaker.casefold() in ROLES or not first or first.casefold() not in words:
            continue
        pattern = re.compile(rf"\b({re.escape(speaker)}|{re.escape(first)})(['’]s)?\b", re.IGNORECASE)
        if pattern.search(query):
            named.add(speaker)
            bare = pattern.sub(" ", bare)
    bare = " ".join(bare.split())
    # A question that is nothing but a name keeps it.
    return frozenset(named), bare if re.search(r"\w{3,}", bare) else query
