"""What recall looks for: a question, whom of this memory's speakers it names, and the words that it turns on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from everwhen.recall.question import Question, parse
from everwhen.recall.question.names import keywords, speakers_named
from everwhen.store.search import SaidBy


@dataclass(frozen=True, slots=True)
class Plan:
    """A question, read in a memory in which some people speak."""

    question: Question
    people: frozenset[str]
    """Speakers whom the question names."""
    keywords: tuple[str, ...] = ()
    """One to three words that it turns on, without the names of people."""
    note: str = ""
    """Why a language model did not plan, where one was asked."""
    read_as: tuple[tuple[str, str], ...] = ()
    """Names that were misspelt, and as whose they were read; `query` has them as they are spelt."""

    @property
    def query(self) -> str:
        return self.question.words

    def whose(self, has_assistant: bool) -> SaidBy | None:
        """Whose turns would tell: the people named, or the user where the question says "I"."""
        if self.people:
            return SaidBy(speakers=self.people)
        # Among people only, "I" is whoever asks, and the memory does not know who that is.
        return SaidBy(role="user") if self.question.first_person and has_assistant else None


def plan(
    query: str, at: datetime, zone: str, speakers: Iterable[str], names: frozenset[str] = frozenset()
) -> Plan:
    """Read a question, asked at a moment, of a memory in which some people speak and things have names."""
    people, bare = speakers_named(query, speakers)
    return Plan(parse(query, at, zone), people, keywords(bare, names))
