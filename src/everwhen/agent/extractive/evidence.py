"""What may answer: the sentences of the best turns, with whose they are and how much of the question they have."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from everwhen.agent.bank import Bank
from everwhen.agent.extractive.kinds import Asked
from everwhen.agent.extractive.terms import Terms, read_terms, stems_of
from everwhen.recall import Recall
from everwhen.types import Citation, Recalled, Turn

TURNS = 12
"""Best turns that are read."""
TOKENS = 4096
_SENTENCE = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<=[.!?…])[\"”')\]]*\s+|\n+")
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we've|we're|our|ours|us)\b", re.IGNORECASE
)
_NO_NAMES = frozenset(
    [
        "i",
        "i'm",
        "i've",
        "i'd",
        "i'll",
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ]
)
_NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]*\b")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as it was said. `cover` is its share of the question's terms, `around` that of its turn and the
    turn before it, which it may be the reply to. `theirs`: it is by, or names, those whom the question is about."""

    text: str
    turn: Turn
    place: int
    """Of its turn in the ranking, from 1."""
    score: float
    cover: float
    around: float
    theirs: bool
    mine: bool
    """It is said by one of those asked about."""
    told_of: bool
    """It tells of them: their name stands where a subject does, and not as that of somebody who is spoken to."""
    turn_cover: float
    """The share of the question's terms that its turn has by itself."""
    has_names: bool
    """Its turn, or the one before it, has the names that the question is about where it names no speaker."""

    @property
    def asks(self) -> bool:
        return self.text.rstrip(' "”’)').endswith("?")

    def citation(self) -> Citation:
        return Citation(self.turn.id, self.text, self.turn.said_at, self.turn.speaker)


@dataclass(frozen=True, slots=True)
class Found:
    """What was read for a question."""

    asked: Asked
    recall: Recall
    terms: Terms
    names: frozenset[str]
    """Speakers whom the question names, in lower case."""
    sentences: tuple[Sentence, ...]
    turns: tuple[Turn, ...]

    @property
    def first_person(self) -> bool:
        """Whether the one who asks asks about himself."""
        return bool(_FIRST_PERSON.search(self.asked.words))

    @property
    def answerable(self) -> float:
        """The recall's own confidence that there is an answer."""
        return float(self.recall.trace.get("answerable") or 0.0)


def look(bank: Bank, asked: Asked, *, at: datetime, as_of: datetime | None = None) -> Found:
    """Recall, and read the best turns sentence by sentence."""
    recall = bank.recall(_sought(asked), at=at, as_of=as_of, max_tokens=TOKENS, fresh=True)
    ranked = _turns(recall)
    sessions = _sessions(bank, ranked)
    speakers = {turn.speaker.lower() for turns in sessions.values() for turn in turns}
    names = frozenset(
        word.removesuffix("'s").removesuffix("’s")
        for word in (match.group().lower() for match in _NAME.finditer(asked.words))
        if word.removesuffix("'s").removesuffix("’s")
        in {name.split()[0] for name in speakers if name.split()}
    )
    terms = read_terms(bank, asked.words, names)
    own_subject = names or _FIRST_PERSON.search(asked.words)
    others = [] if own_subject else other_names(asked.words, names)
    rows: list[_Row] = []
    for place, memory in enumerate(ranked, 1):
        session = sessions[memory.session]
        at_place = next((n for n, turn in enumerate(session) if turn.id == memory.turns[0]), None)
        if at_place is None:
            continue
        turn = session[at_place]
        before = session[at_place - 1].text if at_place else ""
        mine = _by(turn, names, asked)
        named = any(re.search(rf"\b{re.escape(name)}\b", turn.text, re.IGNORECASE) for name in names)
        said = f"{before} {turn.text} {turn.speaker}".lower()
        has_names = all(name in said for name in others)
        rows.append(_Row(turn, before, place, memory.score, mine or named or not names, mine, has_names))
    own = stems_of([row.turn.text for row in rows])
    whole = stems_of([f"{row.before} {row.turn.text}" for row in rows])
    parts = [(place, text) for place, row in enumerate(rows) for text in split(row.turn.text)]
    sentences = []
    for (place, text), stems in zip(parts, stems_of([text for _, text in parts]), strict=True):
        row = rows[place]
        sentences.append(
            Sentence(
                text=text,
                turn=row.turn,
                place=row.place,
                score=row.score,
                cover=terms.cover(stems),
                around=terms.cover(whole[place]),
                theirs=row.theirs,
                mine=row.mine,
                told_of=any(tells_of(name, text) for name in names),
                turn_cover=terms.cover(own[place]),
                has_names=row.has_names,
            )
        )
    return Found(asked, recall, terms, names, tuple(sentences), tuple(row.turn for row in rows))


@dataclass(frozen=True, slots=True)
class _Row:
    turn: Turn
    before: str
    place: int
    score: float
    theirs: bool
    mine: bool
    has_names: bool


def tells_of(name: str, text: str) -> bool:
    """Whether a text tells of somebody: the name begins it and goes on with a word, as a subject does ("Noor bought");
    anywhere else it may be that of somebody who is spoken to ("thanks, Noor!")."""
    return bool(re.search(rf"(?<![,\w] )\b(?i:{re.escape(name)})\s+(?!and\s+I\b)[a-z]", text))


def other_names(words: str, names: Collection[str]) -> list[str]:
    """Names in a question beside those of speakers; its first word has a capital whatever it is."""
    found = [match.group() for match in _NAME.finditer(words) if match.start() > 0]
    bare = [re.sub(r"['’]s?$", "", one).lower() for one in found]
    return [one for one in dict.fromkeys(bare) if one not in names and one not in _NO_NAMES]


def split(text: str) -> list[str]:
    """A text by its sentences, as they stand."""
    return [part.strip() for part in _SENTENCE.split(text) if part and re.search(r"\w", part)]


def _sought(asked: Asked) -> str:
    """What recall is asked: who tells a name seldom says "name"."""
    if asked.kind == "name" and re.search(r"\bnames?\s+of\b", asked.words, re.IGNORECASE):
        return f"What is {asked.noun} called?"
    return asked.words


def _turns(recall: Recall) -> list[Recalled]:
    """The best memories that were said, each turn once."""
    seen: dict[str, Recalled] = {}
    for memory in recall.memories:
        if memory.kind == "turn" and memory.turns and memory.turns[0] not in seen:
            seen[memory.turns[0]] = memory
    return list(seen.values())[:TURNS]


def _sessions(bank: Bank, ranked: Sequence[Recalled]) -> dict[str, list[Turn]]:
    return {session: bank.turns(session=session) for session in dict.fromkeys(one.session for one in ranked)}


def _by(turn: Turn, names: frozenset[str], asked: Asked) -> bool:
    first = turn.speaker.lower().split()[:1]
    if names:
        return bool(first) and first[0] in names
    return turn.role == "user" if _FIRST_PERSON.search(asked.words) else True
