"""How likely a fact is right as a whole; with the packaged reader, embedder and curve."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from everwhen.models.comparison import Passage, Reader, Reading, open_reader
from everwhen.models.embedder import shared_embedder
from everwhen.types import Turn
from everwhen.write.extract import fact_chance
from everwhen.write.extract.base import Batch
from everwhen.write.extract.fact_chance import AROUND, Curve, chances, curves, evidence, likely
from everwhen.write.extract.rule_extractor import RuleExtractor
from everwhen.write.extract.stated_facts import FactCandidate

AT = datetime(2025, 1, 7, 9, tzinfo=UTC)


def reader() -> Reader:
    found = open_reader("reader-2")
    assert found is not None
    return found


def found(monkeypatch: pytest.MonkeyPatch, text: str) -> list[FactCandidate]:
    """What a turn may tell, before it is judged."""
    told: list[FactCandidate] = []
    monkeypatch.setattr(RuleExtractor, "_likely", lambda self, some: told.extend(some) or [])
    turn = Turn("t1", "s", 0, "user", "Ana", text, AT, "UTC", AT)
    RuleExtractor(reader()).extract(Batch("s", (turn,)))
    return told


def chance(one: FactCandidate) -> float:
    (found,) = chances(reader(), shared_embedder(fact_chance.EMBEDDER), [one])
    return found


def told(text: str) -> set[tuple[str, str, str]]:
    turn = Turn("t1", "s", 0, "user", "Ana", text, AT, "UTC", AT)
    facts = RuleExtractor(reader()).extract(Batch("s", (turn,))).facts
    assert all(curves().least <= fact.confidence <= 1 for fact in facts)
    return {(fact.subject, fact.predicate, fact.object) for fact in facts}


def test_what_is_told_plainly_is_a_fact() -> None:
    assert ("Ana", "lives in", "Leeds") in told("I live in Leeds.")
    assert ("Ana", "allergic to", "walnuts") in told("Just so you know, I'm allergic to walnuts.")


def test_of_somebody_whom_the_turn_does_not_name_it_is_less_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = [
        one for one in found(monkeypatch, "My brother Rui lives in Porto.") if one.fact.object == "Porto"
    ]
    assert one.fact.subject == "Rui"
    assert chance(one) > chance(replace(one, fact=replace(one.fact, subject="Tom")))


def test_a_sign_without_a_weight_counts_nothing() -> None:
    line = Curve({"seen": 2.0}, np.array([1.0, -1.0], np.float32), 0.5)
    even = np.array([3.0, 3.0], np.float32)
    plain = line.chance({"seen": 1.0}, even)
    assert plain == line.chance({"seen": 1.0, "new": 9.0}, even) == line.chance({"seen": 1.0})
    assert plain == pytest.approx(0.924, abs=1e-3)
    assert line.chance({"seen": 1.0}, np.array([3.0, 4.0], np.float32)) < plain


def test_every_dimension_of_the_embedder_has_a_weight() -> None:
    assert curves().second.agreement.shape == (shared_embedder(fact_chance.EMBEDDER).dim,)


class Counting:
    """A reader that says how much it was given to read."""

    def __init__(self) -> None:
        self.read: list[int] = []

    def read_each(self, asked: list[tuple[str, Passage]]) -> list[Reading]:
        self.read += [len(passage.text) for _, passage in asked]
        return reader().read_each(asked)


def test_only_what_is_undecided_is_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    some = found(
        monkeypatch, "I live in Leeds and we have a dog. Rui said the third one is near the sea, nice."
    )
    first = [curves().first.chance(fact_chance.first_signs(one)) for one in some]
    low, high = curves().undecided
    counting = Counting()
    chances(counting, shared_embedder(fact_chance.EMBEDDER), some)  # type: ignore[arg-type]
    twice = sum(low <= one < high for one in first)
    assert len(counting.read) == twice and 0 < twice < len(some)
    sure = replace(curves(), undecided=(0.0, 0.0))
    monkeypatch.setattr(fact_chance, "curves", lambda: sure)
    assert chances(counting, shared_embedder("fake"), some) == [round(one, 3) for one in first]  # type: ignore[arg-type]
    assert chances(counting, shared_embedder("fake"), []) == []  # type: ignore[arg-type]
    assert len(counting.read) == twice


def test_of_a_long_turn_only_the_words_around_the_value_are_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (one, *_) = found(monkeypatch, "I live in Leeds.")
    sentences = "It rained and rained. " * 400 + "I live in Leeds. " + "The bus was late. " * 400
    for text in (sentences, sentences.replace(".", ",")):
        start = text.index("Leeds")
        place = start, start + len("Leeds")
        long = replace(one, turn=replace(one.turn, text=text), stated=replace(one.stated, place=place))
        counting = Counting()
        evidence(counting, shared_embedder(fact_chance.EMBEDDER), [long])  # type: ignore[arg-type]
        (read,) = counting.read
        assert len("I live in Leeds.") < read <= 2 * AROUND + len("Leeds")


@pytest.mark.parametrize("known", [[0.9, 0.6], [0.6, 0.9], [0.9, 0.3], [0.3, 0.9]])
def test_a_fact_said_twice_in_a_turn_is_as_likely_as_where_it_is_told_best(
    monkeypatch: pytest.MonkeyPatch, known: list[float]
) -> None:
    some = found(monkeypatch, "I speak Portuguese. They laughed at me at first. Portuguese is hard.")
    twice = [one for one in some if one.fact.object == "Portuguese"]
    monkeypatch.setattr(fact_chance, "chances", lambda *_: known)
    (fact,) = likely(reader(), shared_embedder("fake"), twice)
    assert (fact.predicate, fact.confidence) == ("speaks", 0.9)


def test_what_is_said_as_another_status_has_another_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    (one, *_) = found(monkeypatch, "I live in Leeds.")
    holds, planned, ended = (
        chance(replace(one, fact=replace(one.fact, status=status)))
        for status in ("holds", "planned", "ended")
    )
    assert len({holds, planned, ended}) == 3


def test_a_turn_read_alone_tells_what_it_tells_among_others() -> None:
    texts = ("I live in Leeds.", "My sister Ida works at the harbour office.", "We have a dog called Miso.")
    turns = [Turn(f"t{n}", "s", n, "user", "Ana", text, AT, "UTC", AT) for n, text in enumerate(texts)]
    extractor = RuleExtractor(reader())
    together = extractor.extract(Batch("s", tuple(turns))).facts
    alone = [
        fact
        for n, turn in enumerate(turns)
        for fact in extractor.extract(Batch("s", (turn,), tuple(turns[:n]))).facts
    ]
    named = [(fact.subject, fact.predicate, fact.object) for fact in together]
    assert named == [(fact.subject, fact.predicate, fact.object) for fact in alone] != []
    for one, other in zip(together, alone, strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=0.02)
