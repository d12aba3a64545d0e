"""From turns to the graph: durable, resumable, without duplicates, the same in any portion."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from everwhen import AsyncMemory, Memory, Unavailable, UsageError
from everwhen.cli.story.story import story
from everwhen.settings import Settings
from everwhen.write.extract import base
from everwhen.write.extract.base import Batch, ExtractedEvent, ExtractedFact, Extraction

CHAT = [
    {"role": "user", "name": "Ana", "content": text, "id": f"m{n:02d}",
     "timestamp": f"2024-05-{1 + n // 4:02d}T1{n % 4}:00:00Z"}
    for n, text in enumerate(
        [
            "I moved to Porto last week.",
            "My brother Rui sold his car yesterday because it broke down.",
            "thanks!",
            "I'm flying to Oslo next Friday with Bob.",
            "Rui never came on Monday.",
            "Bob called me this morning.",
            "I bought a lamp yesterday.",
            "I bought a desk lamp yesterday.",
        ]
        * 5
    )
]  # fmt: skip


def summary(memory: Memory) -> dict[str, Any]:
    """All that was derived, without ids that are made by chance."""
    graph = memory._bank.store.graph
    events = memory.events()
    units = memory._bank.store.units(range(1, 2000))
    places = {seq: (row.kind, row.turns, row.text) for seq, row in units.items()}
    links = {
        (places[link.source], link.type, places[link.target], round(link.weight, 3))
        for seq in units
        for link in graph.links(seq, ["temporal", "semantic", "causal"], 100)
    }
    return {
        "events": [(one.text, one.occurred, one.status, one.turns, one.aliases) for one in events],
        "entities": [
            (one.name, one.type, one.aliases, one.mentions, one.first, one.last) for one in memory.entities()
        ],
        "narratives": sorted(place for place in places.values() if place[0] == "narrative"),
        "links": links,
    }


def opened(home: Path, bank: str, **settings: Any) -> Memory:
    return Memory.open(home, bank, embedder="fake", reader="none", cache_entries=0, **settings)


def test_events_wait_for_what_was_added(quick: Memory) -> None:
    quick.add(CHAT[0])
    (event,) = quick.events()
    assert (event.subject, event.verb, event.object, event.turns) == ("Ana", "move", "to Porto", ("m00",))
    assert quick.stats().pending == 0


def test_one_by_one_and_in_bulk_the_graph_is_the_same(home: Path) -> None:
    with opened(home, "bulk") as bulk, opened(home, "single") as single:
        bulk.add_many(CHAT)
        bulk.flush()
        for message in CHAT:
            single.add(message)
            single.flush()
        assert summary(bulk) == summary(single)


def test_extraction_is_idempotent_and_a_second_time_replaces_cleanly(quick: Memory) -> None:
    quick.add_many(CHAT)
    before = summary(quick)
    assert quick.process() == 0
    assert quick.reextract() == len(CHAT)
    assert summary(quick) == before
    assert quick.reextract(["m00"]) == 1
    assert {one[0] for one in summary(quick)["events"]} == {one[0] for one in before["events"]}
    assert quick.doctor() == []


def test_what_was_left_undone_is_taken_up_at_the_next_start(home: Path) -> None:
    with opened(home, "b", extract="none") as memory:
        memory.add_many(CHAT)
        assert memory.stats().pending == len(CHAT)
        assert memory.events() == []
    with opened(home, "b") as memory:
        left: list[int] = []
        assert memory.process(progress=left.append) == len(CHAT)
        assert left[-1] == 0
        assert memory.events()


class Breaking:
    """An extractor that breaks at a word, or waits for a sign."""

    name, version = "breaking", "1"

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()
        self.batches: list[Batch] = []

    def extract(self, batch: Batch) -> Extraction:
        self.batches.append(batch)
        assert self.go.wait(10)
        if any("break" in turn.text for turn in batch.turns):
            raise RuntimeError("too much")
        events = [
            ExtractedEvent("x", "do", str(n), f"x did {n}", (t.id,)) for t in batch.turns for n in range(30)
        ]
        return Extraction(
            self.name, self.version, events=(*events, ExtractedEvent("x", "do", "", "stray", ("elsewhere",)))
        )


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Breaking:
    extractor = Breaking()
    monkeypatch.setattr("everwhen.api.memory.bank.open_extractor", lambda name: extractor)
    return extractor


def test_an_extractor_that_breaks_costs_no_turn_and_doctor_says_so(quick: Memory, breaking: Breaking) -> None:
    quick.add("this will break")
    quick.flush()
    assert quick.recall("break").memories
    (finding,) = quick.doctor()
    assert "1 turns: the extractor breaking broke (RuntimeError: too much)" in finding.problem


def test_ten_thousand_events_and_strangers_turns_are_bounded(quick: Memory, breaking: Breaking) -> None:
    quick.add(["one", "two"])
    assert len(quick.events()) == 40


def test_batches_have_at_most_25_turns_and_5_before_them(quick: Memory, breaking: Breaking) -> None:
    quick.add([f"turn {n}" for n in range(60)], session="s")
    quick.flush()
    sizes = [(len(batch.before), len(batch.turns)) for batch in breaking.batches]
    assert sizes == [(0, 25), (5, 25), (5, 10)]
    assert sorted(turn.id for batch in breaking.batches for turn in batch.turns) == sorted(
        turn.id for turn in quick.turns()
    )


def test_recall_does_not_wait_and_flush_says_when_it_gives_up(quick: Memory, breaking: Breaking) -> None:
    breaking.go.clear()
    quick.add("Ana lives in Porto")
    try:
        assert quick.recall("Porto").memories[0].text == "Ana lives in Porto"
        with pytest.raises(Unavailable, match="1 turns still wait"):
            quick.flush(timeout=0.3)
    finally:
        breaking.go.set()
    quick.flush(timeout=10)


def test_closing_keeps_the_list_of_what_is_to_do(home: Path, breaking: Breaking) -> None:
    breaking.go.clear()
    memory = opened(home, "b")
    for n in range(30):
        memory.add(f"turn {n}", session=f"s{n}")
    closing = threading.Thread(target=memory.close)
    closing.start()
    breaking.go.set()
    closing.join(20)
    assert not closing.is_alive()
    with opened(home, "b", extract="none") as memory:
        assert memory.stats().turns == 30
        assert memory.stats().pending >= 28


def test_two_processes_never_extract_the_same_turn(home: Path, breaking: Breaking) -> None:
    with opened(home, "b") as one, opened(home, "b") as two:
        one.add([f"turn {n}" for n in range(40)], session="a")
        two.add([f"turn {n}" for n in range(40)], session="b")
        one.flush()
        two.flush()
    done = [turn.id for batch in breaking.batches for turn in batch.turns]
    assert len(done) == len(set(done)) == 80


def test_an_unknown_extractor_is_refused(home: Path) -> None:
    with pytest.raises(UsageError, match="extract cannot be 'magic'; use one of rules, none, llm"):
        opened(home, "b", extract="magic")
    assert base.open_extractor(Settings(extract="none")) is None


def test_events_are_filtered_and_found_by_topic(quick: Memory) -> None:
    quick.add_many(CHAT[:8])
    assert {event.subject for event in quick.events(subject="ana")} == {"Ana"}
    assert [event.status for event in quick.events(status="negated")] == ["negated"]
    assert {event.verb for event in quick.events(verb="buy")} == {"buy"}
    assert any("Porto" in event.object for event in quick.events("moved to Porto"))
    with pytest.raises(UsageError, match="unknown status"):
        quick.events(status="maybe")


def test_events_are_recalled_by_those_who_ask_for_them(memory: Memory) -> None:
    memory.add_many(CHAT[:8])
    memory.flush()
    found = memory.recall("who changed homes", kinds=["event"]).memories
    assert found[0].turns == ("m00",)
    assert found[0].occurred is not None
    assert {one.kind for one in memory.recall("Porto").memories} <= {"turn", "fact"}


def test_another_embedder_takes_the_derived_along(home: Path) -> None:
    with opened(home, "b") as memory:
        memory.add_many(CHAT[:8])
        memory.flush()
        memory.reembed("conversation-1")
        assert memory.doctor() == []
        assert memory.recall("car", kinds=["event"]).memories


async def _asynchronously(home: Path) -> list[str]:
    async with await AsyncMemory.open(home, "b", embedder="fake", reader="none", cache_entries=0) as memory:
        await memory.add(CHAT[0])
        return [event.verb for event in await memory.events()]


def test_asynchronous_programs_have_it_too(home: Path) -> None:
    import asyncio

    assert asyncio.run(_asynchronously(home)) == ["move"]


def test_every_derived_thing_says_where_it_comes_from(quick: Memory) -> None:
    quick.add_many(story()[:40])
    turns = {turn.id for turn in quick.turns()}
    for event in quick.events():
        assert event.turns
        assert set(event.turns) <= turns
        assert event.extractor.startswith("rules/")
    assert quick.doctor() == []


class Saying:
    """An extractor that finds one fact in each turn, or breaks."""

    version = "1"

    def __init__(self, name: str, place: str) -> None:
        self.name, self.place = name, place

    def extract(self, batch: Batch) -> Extraction:
        if not self.place:
            raise RuntimeError("no answer")
        facts = [ExtractedFact("Ana", "lives in", self.place, (turn.id,)) for turn in batch.turns]
        return Extraction(self.name, self.version, facts=tuple(facts))


def test_reading_again_replaces_the_facts_of_the_reading_before(
    quick: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def extractor(name: str, place: str) -> None:
        monkeypatch.setattr("everwhen.api.memory.bank.open_extractor", lambda _: Saying(name, place))

    extractor("first", "Lisbon")
    quick.add(CHAT[0])
    (learned,) = quick.facts.current("Ana")
    quick.reextract()
    assert quick.facts.get(learned.id) == learned  # confirmed: no version, no support
    extractor("broken", "")
    quick.reextract()
    assert [fact.object for fact in quick.facts.current("Ana")] == ["Lisbon"]  # nobody said otherwise
    extractor("second", "Porto")
    quick.reextract()
    assert [fact.object for fact in quick.facts.current("Ana")] == ["Porto"]
    gone = quick.facts.get(learned.id)
    assert gone.status == "retracted" and gone.reason
    assert quick.doctor() == []


TOPICS = ["kitchen paint brush wall", "bike race mountain gears", "piano lesson music teacher"]


def talk(turns: int) -> list[dict[str, Any]]:
    """Two people who go from one thing to the next after every eight turns; some turns tell nothing."""
    told = ["I bought the {} yesterday", "nice, I sold a {} on Monday", "I cleaned one {} today", "wow"]
    return [
        {
            "role": "user",
            "name": "Ana" if n % 2 == 0 else "Rui",
            "content": told[n % 4].format(TOPICS[n // 8 % 3].split()[n % 4]) + f" with {TOPICS[n // 8 % 3]}",
            "id": f"k{n:03d}",
            "timestamp": f"2024-05-01T{n // 60:02d}:{n % 60:02d}:00Z",
        }
        for n in range(turns)
    ]


def narratives(memory: Memory) -> list[tuple[tuple[str, ...], str]]:
    units = memory._bank.store.units(range(1, 5000)).values()
    return sorted((unit.turns, unit.text) for unit in units if unit.kind == "narrative")


@pytest.mark.parametrize("portion", [1, 7, 40])
def test_a_long_talk_is_told_in_the_same_topics_in_any_portion(home: Path, portion: int) -> None:
    messages = talk(80)  # two batches and a half, and more
    with opened(home, "bulk") as bulk, opened(home, "parts") as parts:
        bulk.add_many(messages)
        bulk.flush()
        for at in range(0, len(messages), portion):
            parts.add(messages[at : at + portion])
            parts.flush()
        found = narratives(bulk)
        assert narratives(parts) == found
        mentioned = [id_ for turns, _ in found for id_ in turns]
        assert len(mentioned) == len(set(mentioned))  # told once
        assert summary(bulk) == summary(parts)


def test_a_conversation_is_told_in_two_to_five_narratives(memory: Memory) -> None:
    memory.add_many(talk(24))
    memory.flush()
    found = narratives(memory)
    assert 2 <= len(found) <= 5
    assert all(turns == tuple(sorted(turns)) for turns, _ in found)


def test_a_short_talk_is_told_in_one(quick: Memory) -> None:
    quick.add_many(talk(2))
    quick.flush()
    assert len(narratives(quick)) == 1
