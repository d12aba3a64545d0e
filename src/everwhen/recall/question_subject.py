"""Whom a question about time is about, and whether a piece of evidence is about the same person."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from everwhen.recall.question import Question
from everwhen.recall.question.names import leading_name
from everwhen.recall.question.word_patterns import FIRST_PERSON
from everwhen.recall.time_evidence import TimeEvidence

_FIRST_PERSON = frozenset(FIRST_PERSON.split("|")) | {
    "i'm", "i've", "i'd", "i'll", "im", "ive", "we've", "we're", "we'd",
}  # fmt: skip
_THIRD_PERSON = frozenset({"he", "she"})
_NO_NAME = (
    _FIRST_PERSON
    | _THIRD_PERSON
    | {"they", "it", "you", "your", "his", "her", "their", "the", "a", "an", "and"}
)
OPENING = 5
"""Words of an event's text among which the others who did it are named: "Ana's colleagues and Ana went"."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class QuestionSubject:
    """Whom the question is about, in lower case, as far as its words say."""

    names: frozenset[str] = frozenset()
    """The words of their names; the name of the user where the question says "I"."""
    owner: bool = False
    """Whether it is something or somebody of theirs ("Ana's brother")."""
    first: bool = False
    """Whether the question says "I"."""


def question_subject(question: Question, speakers: Mapping[str, str]) -> QuestionSubject:
    """Speakers that are named anywhere, the name that the question begins with, and the user where it says "I".

    `speakers` gives the role of each speaker, by the name in small letters. Among people only, "I" is whoever asks,
    and the memory does not know who that is.
    """
    said = _words(question.words)
    begins = set(_words(leading_name(question.event))) - _NO_NAME
    users = [name for name, role in speakers.items() if role == "user"]
    told_to_assistant = len(users) == 1 and ("assistant" in speakers.values() or users[0] in ("user", "me"))
    names, owner, first = set(), False, False
    for word in said:
        bare = _bare(word)
        if word in begins or any(bare == _first(name) for name in speakers):
            names.add(bare)
            owner = owner or bare != word
        elif word in _FIRST_PERSON and told_to_assistant:
            names.add(_first(users[0]))
            owner, first = owner or word in ("my", "our"), True
    return QuestionSubject(frozenset(names), owner, first)


def same_subject(clue: TimeEvidence, about: QuestionSubject, speakers: Mapping[str, str]) -> float:
    """1 if the one who did it is asked about, -1 if it is somebody else, 0 if that is unknown."""
    event = clue.event
    if event is None or not about.names:
        return 0.0
    subject = _words(event.subject)
    if not subject or _may_be_anyone(clue, about, speakers):
        return 0.0
    others = {_first(name) for name in speakers} - about.names
    if about.owner:  # "Rui's laptop", where Ana's is asked about
        return -1.0 if subject[0] != _bare(subject[0]) and _bare(subject[0]) in others else 0.0
    if any(word in about.names for word in (*subject, *_words(event.text)[:OPENING])):
        return 1.0
    if subject[0] in _THIRD_PERSON:  # nobody calls themselves "she"
        return -1.0 if _first(clue.turn.speaker.lower()) in about.names else 0.0
    # "Ana's brother" is not Ana.
    return -1.0 if _bare(subject[0]) in others | about.names or _is_name(event.subject) else 0.0


def same_speaker(clue: TimeEvidence, about: QuestionSubject) -> float:
    """1 if one of those asked about said it, -1 if somebody else did, 0 if nobody is named."""
    if not about.names:
        return 0.0
    return 1.0 if _first(clue.turn.speaker.lower()) in about.names else -1.0


def named(clue: TimeEvidence, about: QuestionSubject, speakers: Mapping[str, str]) -> float:
    """The share of the asked names that the clue's own words have; the speaker takes part where they are not about
    somebody else."""
    speaker = _first(clue.turn.speaker.lower())
    if not about.names or (about.first and speaker in about.names):
        return 1.0
    event = clue.event
    said = f"{event.subject} {event.text}" if event is not None else clue.text
    if about.owner or _may_be_anyone(clue, about, speakers):
        # What belongs to somebody is often told without its owner: "The funeral is on Friday."
        said += f" {clue.around}"
    elif about.names.isdisjoint(_first(name) for name in speakers):
        # Of somebody who does not speak here, it is enough that the turn names them: "It was on Friday."
        said += f" {clue.turn.text}" if event is None else ""
    # "Ana's brother" names Ana only where something of hers is asked about.
    has = {_bare(word) if about.owner else word for word in _words(said)}
    theirs = not has.isdisjoint(_FIRST_PERSON) or has.isdisjoint(_THIRD_PERSON)
    if about.owner or (theirs and same_subject(clue, about, speakers) >= 0):
        has.add(speaker)
    return len(about.names & has) / len(about.names)


def _may_be_anyone(clue: TimeEvidence, about: QuestionSubject, speakers: Mapping[str, str]) -> bool:
    """Whether an event is taken to be the speaker's only because its words do not say whose it is, and somebody who
    does not speak here is asked about: "Moved out today" may be about the flatmate."""
    event = clue.event
    return (
        event is not None
        and about.names.isdisjoint(_first(name) for name in speakers)
        and event.subject.lower() == clue.turn.speaker.lower()
        and _FIRST_PERSON.isdisjoint(_words(clue.turn.text))
    )


def _is_name(subject: str) -> bool:
    """Two words with capitals: one alone may only begin a sentence."""
    words = subject.split()
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _words(text: str) -> list[str]:
    return [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]


def _bare(word: str) -> str:
    return word.removesuffix("'s").rstrip("'")


def _first(name: str) -> str:
    return name.split(maxsplit=1)[0] if name.strip() else name
