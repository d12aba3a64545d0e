"""Random acts on facts: the engine and a plain model agree on every instant, of both times."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from everwhen import Memory, NotFound
from tests.facts.model import Claim, Model

STEPS = 50
DAY0 = datetime(2024, 1, 1, tzinfo=UTC)
OBJECTS = {
    "lives in": ["Lisbon", "Porto", "Braga"],
    "prefers": ["Python for scripting", "Lua for scripting", "Rust for services", "tea"],
    "likes": ["cheese", "fado", "rain"],
}
PREDICATES = st.sampled_from(sorted(OBJECTS))
DAYS = st.integers(0, 40)
SOMETIMES = st.one_of(st.none(), DAYS)
PICK = st.integers(0, 11)
SURE = st.integers(1, 10**9)  # so fine that no two are equally sure: ties are the review tests' matter


def day(number: int) -> datetime:
    return DAY0 + timedelta(days=number)


def slot_of(predicate: str, object_: str) -> str:
    if predicate == "likes":
        return object_
    return object_.partition(" for ")[2] if predicate == "prefers" else ""


class Acts(RuleBasedStateMachine):
    memory: Memory
    examples = 0
    steps = 0

    @initialize()
    def begin(self) -> None:
        Acts.examples += 1
        self.subject = f"Subject {Acts.examples}"
        self.model = Model()
        self.facts = self.memory.facts
        self.now = DAY0

    def clock(self, days: int | None) -> datetime:
        """Mostly a little later than before; an explicit day may lie anywhere, as an import's does."""
        self.now += timedelta(hours=7)
        return self.now if days is None else day(days)

    def slot(self, predicate: str, object_: str) -> tuple[str, str]:
        return predicate, slot_of(predicate, object_)

    @rule(p=PREDICATES, pick=PICK, start=SOMETIMES, length=st.one_of(st.none(), st.integers(1, 20)), sure=SURE,
          at=SOMETIMES)  # fmt: skip
    def assert_or_backfill(
        self, p: str, pick: int, start: int | None, length: int | None, sure: int, at: int | None
    ) -> None:
        object_ = OBJECTS[p][pick % len(OBJECTS[p])]
        when, begin = self.clock(at), None if start is None else day(start)
        end = begin + timedelta(days=length) if begin and length else None
        # No two are equally sure: what nothing decides is disputed, which the model does not know.
        confidence = sure / 10**9 * 0.999 + Acts.steps * 1e-10
        self.facts.assert_(
            self.subject, p, object_, valid_from=begin, valid_to=end, confidence=confidence, at=when
        )
        claim = Claim(object_, begin or self.model.time(p, when), end, confidence)
        self.model.assert_(p, self.slot(p, object_), claim, when, begin is None)
        self.compare(p)

    @rule(p=PREDICATES, pick=PICK, start=SOMETIMES, at=SOMETIMES)
    def correct(self, p: str, pick: int, start: int | None, at: int | None) -> None:
        object_ = OBJECTS[p][pick % len(OBJECTS[p])]
        when, begin = self.clock(at), None if start is None else day(start)
        self.facts.correct(self.subject, p, object_, valid_from=begin, at=when)
        self.model.correct(p, self.slot(p, object_), object_, begin, when)
        self.compare(p)

    @rule(p=PREDICATES, pick=PICK, at=SOMETIMES)
    def retract(self, p: str, pick: int, at: int | None) -> None:
        known = self.facts.history(self.subject, p)
        if known:
            fact, when = known[pick % len(known)], self.clock(at)
            self.facts.retract(fact.id, reason="it was a joke", at=when)
            self.model.retract(p, self.slot(p, fact.object), fact.object, fact.valid_from, when)
        self.compare(p)

    @rule(p=PREDICATES, on=DAYS, at=SOMETIMES)
    def end(self, p: str, on: int, at: int | None) -> None:
        when, slots = self.clock(at), [slot for slot in self.model.states if slot[0] == p]
        before, last = {slot: self.model.chain(slot) for slot in slots}, self.model.last.copy()
        for slot in slots:
            self.model.end(p, slot, day(on), when)
        if all(self.model.chain(slot) == before[slot] for slot in slots):
            self.model.last = last
            for slot in slots:  # nothing ended: no act took place
                self.model.states[slot].pop()
            with suppress(NotFound):
                self.facts.end(self.subject, p, on=day(on), at=when)
        else:
            self.facts.end(self.subject, p, on=day(on), at=when)
        self.compare(p)

    def compare(self, p: str) -> None:
        Acts.steps += 1
        chance = random.Random(Acts.steps)
        slots = [slot for slot in self.model.states if slot[0] == p]
        history = [(c.start, e, c.object) for slot in slots for c, e in self.model.chain(slot)]
        found = [(f.valid_from, f.valid_to, f.object) for f in self.facts.history(self.subject, p)]
        key = lambda one: (one[0], one[2])  # noqa: E731
        assert sorted(found, key=key) == sorted(history, key=key)
        assert [one[0] for one in found] == sorted(one[0] for one in found)
        t, known = day(chance.randint(-2, 45)), day(chance.randint(-2, 45))
        for at in (None, known, self.now):
            expected = sorted(c.object for slot in slots if (c := self.model.valid(slot, t, at)))
            asked = self.facts.as_of(t, self.subject, p, known_at=at)
            assert sorted(f.object for f in asked) == expected
        now = sorted(f.object for f in self.facts.current(self.subject, p, now=t))
        held = [self.model.valid(slot, t) for slot in slots]
        assert now == sorted(claim.object for claim in held if claim)


@pytest.fixture
def quick_bank(home: Path) -> Iterator[Memory]:
    with Memory.open(home, "stateful", embedder="fake", reader="none", cache_entries=0) as memory:
        with memory._bank.store._file.use() as sql:  # type: ignore[attr-defined]
            sql.raw.execute("PRAGMA synchronous = OFF")  # durability is tested elsewhere
        yield memory


@pytest.mark.timeout(900)  # a failure is made small before it is shown, and that takes longer
def test_random_acts_agree_with_the_model_at_every_instant(quick_bank: Memory) -> None:
    agree(quick_bank, examples=25, acts=800)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_ten_thousand_acts_agree_with_the_model_at_every_instant(quick_bank: Memory) -> None:
    agree(quick_bank, examples=270, acts=10_000)


def agree(memory: Memory, examples: int, acts: int) -> None:
    Acts.memory, Acts.examples, Acts.steps = memory, 0, 0
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        Acts,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Acts.steps >= acts
    assert memory.doctor() == []
