"""Which facts a turn tells, as our reader reads it.

One run of the reader sees every relation of the table at a glance: where in the turn a value might stand. Each value
is then asked about by itself, "Who lives in Ghent?": the answer is the subject, the status is how it is said, and
"not here" takes the value back. What is left is a `ReadStatement` with a chance: how often its relation and value are
right. Whether the fact that is made of it is right as a whole, `fact_chance` says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from everwhen.models.reader import KINDS, Passage, Reader, Reading
from everwhen.types.relations import Relation, asked_of, relations
from everwhen_time.sentences import pieces

MOST = 8
"""Values of one turn that are asked about, the likeliest ones."""
PART, MOST_PARTS = 280, 24
"""Characters of a long turn that are read at once, and how many such parts are read: a pasted book tells no more."""
BEFORE = 160
"""Characters of what stands before that are read along."""
ANYBODY = "user"
"""Who speaks, to the reader: what is told does not depend on a name."""
AHEAD = 1.0
"""How far ahead, in log odds, another relation may be at the same place."""
SIGNS = ("seen", "here", "span", "rival", "behind")
"""Log odds: that a value stands here, seen at a glance; that the turn says whose it is; that this is its place; that
the same words are another relation's value; and by how much that is likelier."""
NO_RIVAL = -3.0
"""The log odds of another relation that has no value at the same place."""
_NONE = KINDS.index("none")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred|thousand|million|half|dozen|free)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d[\d.,:]*")
_ARTICLE = re.compile(r"^(?:an?|the)\s+(?=\S)", re.IGNORECASE)
_EDGE = " \t\n.,;:!?\"'“”‘’()[]{}*_-–—…"
_WHOSE = re.compile(r"^(?:my|your|his|her|our|their|its|the|an?)\s+")
_NO_VALUE = re.compile(
    r"(?:it|its|that|this|these|those|he|she|they|him|her|his|them|their|me|my|mine|i|we|us|our|you|your|one|there|here|"
    r"something|anything|nothing|someone|anyone|what|which|who)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """A turn says that something is so, or is not, or will be."""

    relation: Relation
    value: str
    place: tuple[int, int]
    """Of the value, in the turn's text."""
    subject: str
    """The words that say whose it is; empty: nobody's, so the speaker's."""
    subject_at: int
    status: str
    chance: float
    """How likely relation and value are right."""
    signs: tuple[float, ...]
    """What the chance was computed from (`SIGNS`)."""
    status_chance: float
    """How sure the reader is of the status."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A value that was seen at a glance, and what came of asking whose it is."""

    relation: Relation
    place: tuple[int, int]
    """Characters of the passage's text."""
    reading: Reading
    signs: tuple[float, ...]
    """What the chance of a statement is computed from: log odds."""


def statements(reader: Reader, passages: Sequence[Passage]) -> list[list[ReadStatement]]:
    """What each passage states, in the order in which it is said; `calibration().least` is the least chance."""
    parts = [(number, *part) for number, passage in enumerate(passages) for part in _parts(passage)]
    found: list[list[ReadStatement]] = [[] for _ in passages]
    for (number, start, part), proposed in zip(
        parts, proposals(reader, [one for _, _, one in parts]), strict=True
    ):
        stated = [one for one in (_stated(part, start, each) for each in proposed) if one is not None]
        told = statuses(reader, [(part, one.relation, one.subject, one.status) for one in stated])
        known = (replace(one, status=status) for one, status in zip(stated, told, strict=True))
        found[number] += sorted(known, key=lambda one: one.place)
    return found


def statuses(reader: Reader, stated: Sequence[tuple[Passage, Relation, str, str]]) -> list[str]:
    """The status of what is told, as it is for the one of whom it is told, from what it is to the speaker: to my own
    life "Tom lives in Berlin" is a report, but of Tom it is true. "Tom says he lives in Berlin" is one of Tom, too."""
    others = [
        (asked_of(relation.questions[0], subject), replace(passage, before=""))
        for passage, relation, subject, status in stated
        if status == "reported" and subject
    ]
    readings = iter(reader.read_each(others) if others else ())
    return [
        next(readings).status if status == "reported" and subject else status
        for _, _, subject, status in stated
    ]


def _parts(passage: Passage) -> list[tuple[int, Passage]]:
    """A passage in parts short enough to be read well, each with what stands before it; and where each begins."""
    before, found = passage.before, []
    for start, end in pieces(passage.text, PART)[:MOST_PARTS]:
        found.append((start, Passage(passage.speaker, passage.text[start:end], before)))
        before = f"{passage.speaker}: {passage.text[:end]}"[-BEFORE:]
    return found


def proposals(reader: Reader, passages: Sequence[Passage]) -> list[list[Proposal]]:
    """Every value that a passage might tell, the likeliest first, each asked about by itself."""
    passages = [replace(one, speaker=ANYBODY) for one in passages]
    asked = _asked()
    seen = reader.tells([question for _, question in asked], passages)
    values = [
        (number, *value)
        for number, (passage, told) in enumerate(zip(passages, seen, strict=True))
        for value in _values(passage.text, [(asked[one.question][0], one.span, one.chance) for one in told])
    ]
    alone = [replace(one, before="") for one in passages]  # whose it is, stands beside the value
    whose = [
        (relation.whose.replace("{value}", alone[number].text[slice(*place)]), alone[number])
        for number, relation, place, _ in values
    ]
    readings = reader.read_each(whose)
    found: list[list[Proposal]] = [[] for _ in passages]
    for (number, relation, place, chance), reading in zip(values, readings, strict=True):
        signs = logit(chance), logit(1 - float(reading.kinds[_NONE])), logit(reading.span_chance)
        found[number].append(Proposal(relation, place, reading, signs))
    return [[_beside(one, proposed) for one in proposed] for proposed in found]


def _beside(one: Proposal, proposed: Sequence[Proposal]) -> Proposal:
    """A proposal that knows how likely the same words are another relation's value."""
    others = [
        other.signs[0]
        for other in proposed
        if other is not one and other.place[0] < one.place[1] and one.place[0] < other.place[1]
    ]
    rival = max(others, default=NO_RIVAL)
    return replace(one, signs=(*one.signs, rival, max(0.0, rival - one.signs[0])))


def _values(
    text: str, told: Sequence[tuple[Relation, tuple[int, int], float]]
) -> list[tuple[Relation, tuple[int, int], float]]:
    """The likeliest values; of one relation no two overlap, nor is any where another is much likelier."""
    found: list[tuple[Relation, tuple[int, int], float]] = []
    for asked, span, chance in sorted(told, key=lambda one: -one[2]):
        start, end = trimmed(text, span)
        relation = _named(text[start:end]) or asked
        same = [one for one in found if start < one[1][1] and one[1][0] < end]
        taken = any(one is relation or logit(likelier) - logit(chance) > AHEAD for one, _, likelier in same)
        if not taken and is_value(relation, text[start:end]):
            found.append((relation, (start, end), chance))
    return found[:MOST]


def _named(words: str) -> Relation | None:
    """The relation that a value names itself: "port 9443" is a port, whatever it was said to be an answer to."""
    noun, _, rest = words.partition(" ")
    return _numbers().get(noun.casefold()) if _FIGURE.fullmatch(rest.strip()) else None


@cache
def _numbers() -> Mapping[str, Relation]:
    """Relations whose values are numbers, by each of their names that is one word."""
    return {
        name.casefold(): one
        for one in relations()
        if one.value == "number"
        for name in (one.name, *one.means)
        if " " not in name
    }


def _stated(part: Passage, at: int, one: Proposal) -> ReadStatement | None:
    """A proposal that is sure enough; `at` is where the part begins."""
    sure = calibration().chance(one.signs, one.relation.name)
    if sure < calibration().least:
        return None
    start, end = one.place
    subject = slice(*one.reading.span)
    return ReadStatement(
        one.relation, part.text[start:end], (at + start, at + end), part.text[subject], at + subject.start,
        one.reading.status, sure, one.signs, float(one.reading.statuses.max()),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve over signs, and the chance that is high enough."""

    weights: tuple[float, ...]
    bias: float
    least: float
    relations: Mapping[str, float] = field(default_factory=dict)
    """What a relation's values are right more often, or less, than others with the same signs."""

    @classmethod
    def load(cls, path: Path) -> Calibration:
        held = json.loads(path.read_text(encoding="utf-8"))
        return cls(tuple(held["weights"]), held["bias"], held["least"], held.get("relations", {}))

    def chance(self, signs: Sequence[float], relation: str = "") -> float:
        odds = self.bias + self.relations.get(relation, 0.0)
        return 1 / (1 + math.exp(-odds - sum(w * x for w, x in zip(self.weights, signs, strict=True))))


@cache
def calibration() -> Calibration:
    """Fitted on conversations that the reader has not learned from (`training/fit_reader_statements.py`)."""
    return Calibration.load(Path(__file__).with_name("reader_statements.json"))


def trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A place without the article before it and the punctuation around it."""
    start, end = span
    while start < end and text[start] in _EDGE:
        start += 1
    while start < end and text[end - 1] in _EDGE:
        if text[end - 1] == "." and text[start:end].count(".") > 1:
            break
        end -= 1
    if found := _ARTICLE.match(text[start:end]):
        start += found.end()
    return start, end


def is_value(relation: Relation, words: str) -> bool:
    """Whether some words can be a value at all: a pronoun names nothing, a number is one, and of people the relation's
    own word tells no more than the relation ("Noor has relative cousin")."""
    if not re.search(r"\w", words) or _NO_VALUE.fullmatch(words):
        return False
    if relation.value == "person":
        plain = _WHOSE.sub("", words.casefold())
        if {plain, plain.removesuffix("s")} & set(relation.means):
            return False
    return relation.value != "number" or bool(_NUMBER.search(words))


@cache
def _asked() -> tuple[tuple[Relation, str], ...]:
    return tuple((one, question) for one in relations() for question in one.asks)


def logit(chance: float, least: float = 1e-4) -> float:
    """Log odds, bounded on both sides."""
    inside = min(max(float(chance), least), 1 - least)
    return math.log(inside / (1 - inside))
