"""What may answer: the sentences of the best turns, with whose they are and how much of the question they have."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we've|we're|our|ours|us)\b", re.IGNORECASE)
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
    def answerable(self) -> float:
        """The recall's own confidence that there is an answer."""
        return float(self.recall.trace.get("answerable") or 0.0)


def look(bank: Bank, asked: Asked, *, at: datetime, as_of: datetime | None = None) -> Found:
    """Recall, and read the best turns sentence by sentence."""
    recall = bank.recall(asked.words, at=at, as_of=as_of, max_tokens=TOKENS, fresh=True)
    ranked = _turns(recall)
    sessions = _sessions(bank, ranked)
    speakers = {turn.speaker.lower() for turns in sessions.values() for turn in turns}
    names = frozenset(
        word.removesuffix("'s").removesuffix("’s")
        for word in (match.group().lower() for match in _NAME.finditer(asked.words))
        if word.removesuffix("'s").removesuffix("’s") in {name.split()[0] for name in speakers if name.split()}
    )
    terms = read_terms(bank, asked.words, names)
    rows: list[tuple[Turn, str, int, float, bool, bool]] = []
    for place, memory in enumerate(ranked, 1):
        session = sessions[memory.session]
        at_place = next((n for n, turn in enumerate(session) if turn.id == memory.turns[0]), None)
        if at_place is None:
            continue
        turn = session[at_place]
        before = session[at_place - 1].text if at_place else ""
        mine = _by(turn, names, asked)
        named = any(re.search(rf"\b{re.escape(name)}\b", turn.text, re.IGNORECASE) for name in names)
        rows.append((turn, before, place, memory.score, mine or named or not names, mine))
    whole = stems_of([f"{before} {turn.text}" for turn, before, *_ in rows])
    parts = [(row, text) for row in rows for text in split(row[0].text)]
    own = stems_of([text for _, text in parts])
    covers = {row[0].id: terms.cover(stems) for row, stems in zip(rows, whole, strict=True)}
    sentences = tuple(
        Sentence(text, row[0], row[2], row[3], terms.cover(stems), covers[row[0].id], row[4], row[5])
        for (row, text), stems in zip(parts, own, strict=True)
    )
    return Found(asked, recall, terms, names, sentences, tuple(row[0] for row in rows))


def split(text: str) -> list[str]:
    """A text by its sentences, as they stand."""
    return [part.strip() for part in _SENTENCE.split(text) if part and re.search(r"\w", part)]


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
