"""The bank gets another embedder while others write to it and read it: no vector of the old one is ever stored."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everwhen import Memory
from everwhen.errors import EverwhenError, ModelChanged, Refused
from everwhen.models.embedder import Embedder
from everwhen.models.fake_embedder import FakeEmbedder
from everwhen.settings import Settings
from everwhen.store.base import ModelLock, VectorModel
from everwhen.store.rows import BuildMark, BuildResult, NodePlace, ReembeddedTurn, SearchQuery, Wanted
from everwhen.tree.building import Builder

START = datetime(2025, 3, 1, 9, tzinfo=UTC)
WIDTHS = {"old": 64, "same-width": 64, "wide": 96}
SETTINGS: dict[str, Any] = {"embedder": "old", "extract": "none", "cache_entries": 0}


class Held(FakeEmbedder):
    """A model of its own. Once, after it has embedded a text with certain words, it does something else first."""

    def __init__(self, name: str) -> None:
        super().__init__(dim=WIDTHS[name])
        self.name = name
        self.words = ""
        self.meanwhile: Callable[[], object] = lambda: None

    def embed(self, texts: Sequence[str]) -> Any:
        # Turned by another angle for each model: vectors of two of them are compared in vain.
        vectors = np.roll(super().embed(texts), list(WIDTHS).index(self.name), axis=1)
        if self.words and any(self.words in text for text in texts):
            self.words = ""
            self.meanwhile()
        return vectors

    def hold(self, words: str, meanwhile: Callable[[], object]) -> None:
        self.words, self.meanwhile = words, meanwhile


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, Held]:
    made = {name: Held(name) for name in WIDTHS}
    monkeypatch.setattr("everwhen.api.memory.bank.shared_embedder", made.__getitem__)
    return made


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.open(home, "b", **SETTINGS) as opened:
        yield opened


@pytest.fixture
def other(memory: Memory, home: Path) -> Iterator[Memory]:
    """The same bank as another process has it open."""
    with Memory.open(home, "b", **SETTINGS) as opened:
        yield opened


@pytest.fixture(params=["same-width", "wide"])
def new(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def stored(home: Path) -> list[tuple[str, int, bytes]]:
    with closing(sqlite3.connect(home / "banks" / "b.db")) as sql:
        rows = sql.execute("SELECT u.id, v.piece, v.vector FROM vectors v JOIN units u ON u.seq = v.unit")
        return sorted(rows.fetchall())


def all_of(home: Path, model: str) -> bool:
    """Whether each vector of the bank is what the model gives: made anew, none is another."""
    before = stored(home)
    with Memory.open(home, "b", extract="none") as fresh:
        assert fresh.stats().embedder == model and fresh.doctor() == []
        fresh.recall("what is said")
        fresh.reembed(model)
    return before == stored(home)


def test_a_turn_that_is_added_while_the_bank_is_reembedded_gets_a_vector_of_the_new_model(
    memory: Memory, home: Path, models: dict[str, Held], new: str
) -> None:
    memory.add(["one cat", "two dogs"], session="s")
    embedding, reembedded = threading.Event(), threading.Event()

    def wait() -> None:
        embedding.set()
        assert reembedded.wait(10)

    models["old"].hold("late", wait)
    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(memory.add, "the late turn", session="s")
        assert embedding.wait(10)  # it has a vector of the old model in its hands
        memory.reembed(new)
        reembedded.set()
        (id_,) = adding.result(10).turns
    assert [turn.id for turn in memory.turns()][-1] == id_ and len(memory.turns()) == 3
    assert memory.recall("the late turn").memories[0].id == id_
    assert all_of(home, new)


def test_threads_that_go_on_adding_never_store_a_vector_of_a_model_that_the_bank_has_no_longer(
    memory: Memory, home: Path
) -> None:
    ended = threading.Event()

    def write(name: int) -> int:
        count = 0
        while not ended.is_set() and count < 12:
            count += memory.add(f"thread {name} says number {count}", session=f"s{name}").new
            memory.facts.assert_(f"thread {name}", "counts to", str(count))
            assert memory.recall(f"number {count}").memories
        return count

    with ThreadPoolExecutor(3) as pool:
        writing = [pool.submit(write, name) for name in range(3)]
        for model in ("same-width", "wide", "old", "same-width"):
            memory.reembed(model)
        ended.set()
        added = sum(one.result(30) for one in writing)
    assert len(memory.turns()) == added
    assert all_of(home, "same-width")


def test_another_process_learns_the_new_model_as_it_adds_and_asks(
    memory: Memory, other: Memory, home: Path, new: str
) -> None:
    memory.add("one cat", session="s")
    other.reembed(new)
    assert memory.recall("one cat").memories
    memory.add("two dogs", session="s")
    memory.facts.assert_("Ana", "lives in", "Porto")
    assert next(one.text for one in memory.recall("two dogs").memories) == "two dogs"
    assert memory.when("one cat") is not None and memory.timeline("Ana lives in Porto")
    assert memory.doctor() == []
    assert all_of(home, new)


def test_a_model_that_cannot_be_used_here_is_named(
    memory: Memory, other: Memory, home: Path, models: dict[str, Held]
) -> None:
    memory.add("one cat")
    other.reembed("wide")
    del models["wide"]  # of a package, say, that this process does not have
    with pytest.raises((EverwhenError, KeyError), match="wide"):
        memory.add("two dogs")
    assert len(memory.turns()) == 1


NOTES = [f"note {n} about {word}" for n, word in enumerate(("cats", "dogs", "violins", "rain"))]


def cosines(memory: Memory) -> list[Any]:
    """What a recall compares: the question with the bank's vectors."""

    def search(embedder: Embedder) -> list[Any]:
        query = SearchQuery(embedder.embed(["violins"])[0])
        return list(memory._bank.store.search(query).candidates(Wanted(4, words=False)).meaning[0])

    return memory._bank.model.read(search)


def test_a_recall_has_one_model_to_its_end_and_the_change_waits_for_it(
    memory: Memory, models: dict[str, Held], new: str
) -> None:
    memory.add(NOTES)
    before = cosines(memory)
    with ThreadPoolExecutor(1) as pool:
        changing = []

        def meanwhile() -> None:
            changing.append(pool.submit(memory.reembed, new))
            time.sleep(0.3)
            assert memory.stats().embedder == "old"

        models["old"].hold("violins", meanwhile)
        assert cosines(memory) == before
        changing[0].result(10)
    assert memory.stats().embedder == new and memory.recall("violins").memories


def test_a_recall_has_one_model_to_its_end_although_another_process_changes_it(
    memory: Memory, other: Memory, models: dict[str, Held], new: str
) -> None:
    memory.add(NOTES)
    before = cosines(memory)
    models["old"].hold("violins", lambda: other.reembed(new))
    assert cosines(memory) == before
    assert cosines(memory) == cosines(other)
    assert memory.stats().embedder == new


def test_recalls_go_on_while_two_reembed_at_once(memory: Memory, other: Memory, home: Path) -> None:
    reembed_while_asking(memory, other)
    assert all_of(home, memory.stats().embedder)


def test_recalls_over_postgres_go_on_while_two_reembed_at_once(postgres_url: str, tmp_path: Path) -> None:
    there: dict[str, Any] = {**SETTINGS, "store": postgres_url}
    with (
        Memory.open(tmp_path / "one", "b", **there) as one,
        Memory.open(tmp_path / "two", "b", **there) as two,
    ):
        reembed_while_asking(one, two)
        assert cosines(one) == cosines(two)


def reembed_while_asking(memory: Memory, other: Memory) -> None:
    memory.add(NOTES)
    ended = threading.Event()

    def ask(asked: Memory) -> int:
        count = 0
        while not ended.is_set() or not count:
            assert cosines(asked)[0].unit == 3 and len(cosines(asked)) == 4
            assert asked.recall("violins").memories[0].text == NOTES[2]
            count += 1
        return count

    with ThreadPoolExecutor(5) as pool:
        asking = [pool.submit(ask, one) for one in (memory, memory, other)]
        try:
            for first, second in (("wide", "same-width"), ("old", "wide")):
                for one in [pool.submit(memory.reembed, first), pool.submit(other.reembed, second)]:
                    one.result(60)
        finally:
            ended.set()
        assert all(one.result(60) for one in asking)
    memory.recall("violins")


def test_an_extracted_batch_is_embedded_again_with_the_new_model(
    home: Path, models: dict[str, Held], new: str
) -> None:
    settings = {**SETTINGS, "extract": "rules"}
    with Memory.open(home, "b", **settings) as memory, Memory.open(home, "b", **SETTINGS) as other:
        memory.add({"content": "I bought a violin in Porto.", "name": "Ana"}, session="s", at=START)
        memory.flush()
        other.add({"content": "I painted the wall on Monday.", "name": "Ana"}, session="s", at=START)
        models["old"].hold(
            "painted", lambda: other.reembed(new)
        )  # the words of the event, as it is extracted
        memory.flush()
        assert memory.stats().embedder == new
        assert any("painted" in event.text for event in memory.events())
        assert memory.stats().pending == 0
    assert all_of(home, new)


@pytest.mark.parametrize("act", ["assert_", "correct"])
def test_a_fact_that_was_embedded_with_the_old_model_is_embedded_again(
    memory: Memory, other: Memory, home: Path, models: dict[str, Held], new: str, act: str
) -> None:
    facts = memory.facts  # as a program holds it
    models["old"].hold("Porto", lambda: other.reembed(new))
    getattr(facts, act)("Ana", "lives in", "Porto")
    facts.assert_("Ana", "lives in", "Faro")
    assert [fact.object for fact in facts.about("Ana")] == ["Porto", "Faro"]
    assert all_of(home, new)


def test_a_summary_that_was_built_from_old_vectors_is_built_again(
    memory: Memory, other: Memory, home: Path, monkeypatch: pytest.MonkeyPatch, new: str
) -> None:
    memory.add_many(
        {"content": f"I walked {n} miles.", "timestamp": START + timedelta(hours=n), "name": "Ana"}
        for n in range(6)
    )
    build = Builder.build

    def meanwhile(self: Builder, *given: Any) -> Any:
        built = build(self, *given)
        if other.stats().embedder == "old":
            other.reembed(new)
        return built

    monkeypatch.setattr(Builder, "build", meanwhile)
    memory.consolidate("end")
    assert memory.stats().nodes and memory.stats().embedder == new
    assert all_of(home, new)


def two_days_of(memory: Memory) -> None:
    memory.add({"content": "the first", "id": "a", "timestamp": START}, session="s")
    memory.add({"content": "the follower", "id": "b", "timestamp": START + timedelta(days=9)}, session="s")


def test_what_follows_a_forgotten_turn_is_embedded_again_with_the_new_model(
    memory: Memory, other: Memory, home: Path, models: dict[str, Held], new: str
) -> None:
    two_days_of(memory)
    models["old"].hold("follower", lambda: other.reembed(new))
    assert memory.forget(turns="a").turns == ("a",)
    assert memory.stats().embedder == new
    assert all_of(home, new)


def test_what_follows_an_expired_turn_is_embedded_again_with_the_new_model(
    other: Memory, home: Path, models: dict[str, Held], new: str
) -> None:
    with Memory.open(home, "b", **{**SETTINGS, "extract": "rules"}) as memory:
        two_days_of(memory)
        memory.set_retention("keep raw turns 5 days")
        memory.flush()
        models["old"].hold("follower", lambda: other.reembed(new))
        assert memory.retain(START + timedelta(days=10)).turns == ("a",)
        assert memory.stats().embedder == new
    assert all_of(home, new)


def test_links_are_mended_although_the_model_changes_meanwhile(
    home: Path, monkeypatch: pytest.MonkeyPatch, new: str
) -> None:
    from everwhen.upkeep import forget as forgetting

    with Memory.open(home, "b", embedder="old") as memory, Memory.open(home, "b", **SETTINGS) as other:
        for n in range(4):
            memory.add({"content": f"the cat sleeps {n}", "id": f"t{n}"}, at=START + timedelta(minutes=n))
        memory.flush()
        similar_units = forgetting.similar_units

        def meanwhile(*given: Any) -> Any:
            if other.stats().embedder == "old":
                other.reembed(new)
            return similar_units(*given)

        monkeypatch.setattr(forgetting, "similar_units", meanwhile)
        everywhere = dict.fromkeys(memory._bank.store.keep.placed(range(100)), forgetting.SEMANTIC_MOST)
        forgetting.refill_links(memory._bank.store, everywhere)
        assert memory.stats().embedder == new and memory.doctor() == []


WRONG = VectorModel("another", 64)
VECTOR = np.ones((1, 64), np.float32) / 8


def test_every_write_of_vectors_is_held_against_the_model_that_the_bank_has(memory: Memory) -> None:
    from everwhen.types import Message
    from everwhen.write.remember import MessageDefaults, _prepared, placed

    memory.add([{"content": "one", "id": "a"}, {"content": "two", "id": "b"}], session="s")
    memory.facts.assert_("Ana", "lives in", "Porto")
    store = memory._bank.store
    turns = placed([Message("three")], MessageDefaults())

    class Another(FakeEmbedder):
        name = WRONG.embedder

    news = _prepared(store, Another(), Settings(), turns)
    place = NodePlace("n", 2, START, START + timedelta(days=1), "s", None)

    def link() -> None:
        with store.graph.writing(WRONG):
            pass

    def learn() -> None:
        (fact,) = store.facts.by_id([one.id for one in memory.facts.current()])
        store.facts.write(lambda ledger: ledger.add_unit(fact, "Ana lives in Porto", VECTOR, WRONG))

    def retell() -> None:
        with store.keep.forgetting() as eraser:
            eraser.expire(["a"], [ReembeddedTurn("b", None, "", VECTOR, WRONG)], START)

    writes: list[Callable[[], object]] = [
        lambda: store.append(news),
        lambda: store.add_missing_units(news),
        lambda: store.put_codes({"a": b"1"}, WRONG),
        lambda: store.keep.put_vectors({"a": VECTOR}, {}, WRONG),
        lambda: store.tree.put([BuildResult(BuildMark(1, place, False), None)], WRONG),
        link,
        learn,
        retell,
    ]
    for write in writes:
        with pytest.raises(ModelChanged, match="was given the vectors of old meanwhile; open it again"):
            write()
    with pytest.raises(Refused, match=r"has vectors of old \(64\), and old \(32\) was to be written"):
        store.put_codes({"a": b"1"}, VectorModel("old", 32))
    assert memory.doctor() == [] and len(memory.turns()) == 2


def test_a_write_is_tried_again_when_the_bank_had_another_model_for_a_moment(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, refused = memory._bank.store, [ModelChanged("another model meanwhile")]
    append = store.append

    def refuse_once(turns: Any) -> Any:
        if refused:
            raise refused.pop()
        return append(turns)

    monkeypatch.setattr(store, "append", refuse_once)
    assert memory.add("one cat").new == 1


def test_a_write_that_is_refused_again_and_again_says_why(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(turns: Any) -> Any:
        raise ModelChanged("another model meanwhile")

    monkeypatch.setattr(memory._bank.store, "append", refuse)
    with pytest.raises(ModelChanged, match="meanwhile"):
        memory.add("one cat")


def test_a_fault_of_widths_without_another_model_is_raised_at_once(memory: Memory) -> None:
    calls: list[int] = []

    def failing(_: Embedder) -> str:
        calls.append(1)
        raise ValueError("size 64 is different from 96")

    for do in (memory._bank.model.read, memory._bank.model.write):
        with pytest.raises(ValueError, match="size 64"):
            do(failing)
    assert len(calls) == 2


def test_a_reader_may_read_again_inside_while_a_change_waits() -> None:
    lock, changed = ModelLock(), threading.Event()

    def change() -> None:
        with lock.changing():
            changed.set()

    waiting = threading.Thread(target=change, daemon=True)
    with lock.reading() as is_outermost:
        assert is_outermost
        waiting.start()
        assert not changed.wait(0.1)
        with lock.reading() as is_inner_outermost:
            assert not is_inner_outermost
        assert not changed.wait(0.1), "the inner block does not end the outer one"
    assert changed.wait(5.0)
    waiting.join()
    with lock.reading() as is_outermost:
        assert is_outermost
