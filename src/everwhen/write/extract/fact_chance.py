"""How likely a fact is right as a whole: whose it is, what is said of it, and how it is said.

The reader finds what a turn may tell, and is often sure of it for the wrong reasons. A logistic curve judges again,
from how sure the reader is, the status, and the grammar of subject and value. Where it is undecided there is a second
look with more signs: what the reader says when it is asked the other way round ("Where does Ana live?"), and the
product, dimension by dimension, of two embeddings, that of the fact in words and that of the sentence it comes from.
Both curves were fitted on facts of real and written conversations that were judged one by one, in English
(`training/fit_fact_chance.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import KINDS, Passage, Reader, Reading
from everwhen.models.embedder import Embedder
from everwhen.types.facts import asked_of, filled
from everwhen.write.extract.base import ExtractedFact
from everwhen.write.extract.names import GENDER
from everwhen.write.extract.stated_facts import ANYBODY, FIRST, SIGNS, FactCandidate, Phrase, logit
from everwhen_time.sentences import sentence_at, sentence_place

EMBEDDER = "conversation-1"
"""The embedder whose dimensions the weights are of, whatever embedder a bank has."""
AROUND = 240
"""Characters of the sentences around a value that are read when the reader is asked the other way round."""
LONGEST = 400
"""Characters of a sentence that are compared with the fact."""
_NONE = KINDS.index("none")
_OWNED = re.compile(r"['’]s ")
_ENDS_INSIDE = re.compile(r"[.,;:!?]\s")

Signs = dict[str, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a second look finds: signs with a name, and how the words of a fact and its sentence agree in each dimension
    of their embeddings."""

    signs: Signs
    agreement: NDArray[np.float32]


def likely(reader: Reader, embedder: Embedder, candidates: Sequence[FactCandidate]) -> list[ExtractedFact]:
    """The facts that are right more likely than not, each once, with the chance of where it is given best."""
    found: dict[tuple[str, ...], ExtractedFact] = {}
    for one, chance in zip(candidates, chances(reader, embedder, candidates), strict=True):
        key = (*one.fact.turns, one.fact.subject, one.fact.predicate, one.fact.object)
        if chance >= curves().least and (key not in found or chance > found[key].confidence):
            found[key] = replace(one.fact, confidence=chance)
    return list(found.values())


def chances(reader: Reader, embedder: Embedder, candidates: Sequence[FactCandidate]) -> list[float]:
    """How likely each is right; the second look is for those that the first leaves undecided."""
    first, second = curves().first, curves().second
    found = [first.chance(first_signs(one)) for one in candidates]
    low, high = curves().undecided
    open_ = [place for place, chance in enumerate(found) if low <= chance < high]
    known = evidence(reader, embedder, [candidates[place] for place in open_])
    for place, one in zip(open_, known, strict=True):
        found[place] = second.chance(one.signs, one.agreement)
    return [round(chance, 3) for chance in found]


def evidence(reader: Reader, embedder: Embedder, candidates: Sequence[FactCandidate]) -> list[Evidence]:
    if not candidates:
        return []
    readings = reader.read_each([_other_way_round(one) for one in candidates])
    words = [filled(one.stated.relation.says, one.fact.subject, one.fact.object) for one in candidates]
    sentences = [sentence_at(one.turn.text, *one.stated.place)[:LONGEST] for one in candidates]
    texts = list(dict.fromkeys([*words, *sentences]))  # several facts come from one sentence
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    agreeing = [
        vectors[said] * vectors[one] * embedder.dim for said, one in zip(words, sentences, strict=True)
    ]
    return [
        Evidence({**first_signs(one), **_asked_again(one, reading)}, agreement)
        for one, reading, agreement in zip(candidates, readings, agreeing, strict=True)
    ]


def first_signs(one: FactCandidate) -> Signs:
    """What is known about a candidate without another look."""
    return {
        **dict(zip(SIGNS, one.stated.signs, strict=True)),
        f"relation {one.fact.predicate}": 0.5,  # held nearer to 0 than the others: few facts have it
        f"status {one.fact.status}": 1.0,
        "status sure": logit(one.stated.status_chance),
        "dated": float(one.fact.valid is not None),
        **_of_the_subject(one),
        **_of_the_value(one),
    }


def _window(one: FactCandidate) -> tuple[int, int]:
    """Where the words around a value stand; of a sentence without end only those that are near."""
    start, end = one.stated.place
    first, last = sentence_place(one.turn.text, start, end, AROUND)
    return max(first, start - AROUND), min(last, end + AROUND)


def _other_way_round(one: FactCandidate) -> tuple[str, Passage]:
    """The relation's own question about the subject, and the words around the value."""
    who = "I" if one.fact.subject == one.turn.speaker else one.fact.subject
    question = asked_of(one.stated.relation.questions[0], who)
    return question, Passage(ANYBODY, one.turn.text[slice(*_window(one))], "")


def _asked_again(one: FactCandidate, reading: Reading) -> Signs:
    begin, _ = _window(one)
    start, end = (place - begin for place in one.stated.place)
    return {
        "asked: here": logit(1 - float(reading.kinds[_NONE])),
        "asked: span": logit(reading.span_chance),
        "asked: relevance": reading.relevance / 4,  # a logit, in the range of the others
        "asked: same place": float(reading.span[0] < end and start < reading.span[1]),
    }


def _of_the_subject(one: FactCandidate) -> Signs:
    name, said = one.fact.subject, one.stated.subject.strip().lower()
    capital = float(name[:1].isupper())
    return {
        "subject speaks": float(name == one.turn.speaker),
        "subject listens": float(name == one.listener),
        "subject owned": float(bool(_OWNED.search(name))),
        "subject I": float(said in FIRST - {""}),
        "subject unsaid": float(not said),
        "subject he": float(said in GENDER),
        "subject capital": capital,
        "thing capital": capital if one.stated.relation.of == "thing" else 0.0,
        "subject digit": float(any(map(str.isdigit, name))),
        "subject after": float(one.stated.subject_at > one.stated.place[0]),
        "subject far": math.log1p(abs(one.stated.subject_at - one.stated.place[0])) / 5,
        **_of_the_phrase("subject", one.subject, 0),
    }


def _of_the_value(one: FactCandidate) -> Signs:
    value, pos = one.fact.object, _pos(one.value, -1)
    return {
        f"{one.stated.relation.value} {pos}": 1.0,
        "value one word": float(one.value.words == 1),
        "value capital": float(value[:1].isupper()),
        "value digit": float(any(map(str.isdigit, value))),
        "value clauses": float(bool(_ENDS_INSIDE.search(value))),
        **_of_the_phrase("value", one.value, -1),
    }


def _of_the_phrase(name: str, phrase: Phrase, head: int) -> Signs:
    """Part of speech, dependency and tag of a phrase's head, and how many words and heads it has."""
    return {
        f"{name} {_pos(phrase, head)}": 1.0,
        f"{name} {phrase.tops[head].dep if phrase.tops else 'none'}": 1.0,
        f"{name} {phrase.tops[head].tag if phrase.tops else 'none'}": 1.0,
        f"{name} heads": float(min(len(phrase.tops), 4)),
        f"{name} words": math.log1p(phrase.words),
    }


def _pos(phrase: Phrase, head: int) -> str:
    return phrase.tops[head].pos if phrase.tops else "none"


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve: a weight for each sign, and for each dimension of the agreement where there is one."""

    weights: Mapping[str, float]
    agreement: NDArray[np.float32]
    bias: float

    def chance(self, signs: Signs, agreement: NDArray[np.float32] | None = None) -> float:
        odds = self.bias + sum(self.weights.get(name, 0.0) * value for name, value in signs.items())
        odds += 0.0 if agreement is None else float(self.agreement @ agreement)
        return 1 / (1 + math.exp(-odds))


@dataclass(frozen=True, slots=True)
class Curves:
    first: Curve
    second: Curve
    undecided: tuple[float, float]
    """The chances between which a second look follows."""
    least: float
    """The chance from which something is a fact."""


@cache
def curves() -> Curves:
    held = json.loads(files(__package__).joinpath("fact_chance.json").read_text(encoding="utf-8"))
    looks = held["first"], held["second"]
    first, second = (
        Curve(one["weights"], np.array(one["agreement"], np.float32), one["bias"]) for one in looks
    )
    return Curves(first, second, tuple(held["undecided"]), held["least"])
