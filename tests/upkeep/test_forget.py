"""Forgetting: nothing of it is left, nothing else is harmed, and it does not come back."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everwhen import Memory, NotFound, UsageError
from everwhen.api.memory.maintenance import Maintenance
from tests.upkeep.raw import holds, traces

START = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
MARK = "Quuxenburg"  # said in one turn alone


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


TALK: list[dict[str, Any]] = [
    {"id": "a1", "name": "Ana", "content": "I moved to Porto in May.", "session": "s1"},
    {"id": "b1", "name": "Ben", "content": "Congratulations! How is your new flat?", "session": "s1"},
    {"id": "a2", "name": "Ana", "session": "s1",
     "content": f"My sister Wilhelmina lives in {MARK}. She bought a harbour barge there."},
    {"id": "b2", "name": "Ben", "content": "She sounds brave. I visited her last week.", "session": "s1"},
    {"id": "a3", "name": "Ana", "content": "I work at Acme now, and I like the tea there.", "session": "s1"},
    {"id": "b3", "name": "Ben", "content": "I bought a bicycle yesterday.", "session": "s1"},
    {"id": "c1", "name": "Ana", "content": "I live in Porto and I adopted a dog called Rex.", "session": "s2"},
    {"id": "c2", "name": "Ben", "content": "Rex is a fine name.", "session": "s2"},
]  # fmt: skip


def told(memory: Memory, but: str | None = None) -> None:
    messages = [
        {**message, "timestamp": at(place + 30 * (message["session"] == "s2")).isoformat()}
        for place, message in enumerate(TALK)
        if message["id"] != but
    ]
    memory.add(messages)
    memory.consolidate(now="end")


@pytest.fixture
def talk(home: Path) -> Iterator[Memory]:
    with Memory.open(home, "talk") as memory:
        told(memory)
        yield memory


def everything_shown(memory: Memory) -> str:
    """All that a reader can be shown of a bank."""
    shown: list[Any] = [
        memory.turns(),
        memory.events(),
        memory.entities(),
        list(memory.facts.versions()),
        memory.timeline(),
        memory.tree(),
        memory.profile(),
        memory.accessed(100),
        [
            memory.recall(question, budget=300).as_context(cut=0)
            for question in (MARK, "Wilhelmina", "the barge")
        ],
        memory.facts.as_of(at(500), known_at=at(500)),
    ]
    return repr(shown)


def test_no_byte_of_a_forgotten_turn_is_left_anywhere(talk: Memory, home: Path) -> None:
    talk.facts.assert_("Wilhelmina", "lives in", MARK, valid_from=at(2), source="a2", at=at(3))
    talk.rename_entity("Wilhelmina", "Wilhelmina of the barge")
    talk.recall(MARK)
    vectors = [bytes(row[0]) for row in raw(home, "SELECT vector FROM vectors WHERE unit = 3")]
    codes = raw(home, "SELECT codes FROM token_codes WHERE unit = 3")[0][0]
    assert traces(home, [MARK]) and holds(home, vectors[0]) and holds(home, codes)

    receipt = talk.forget(turns="a2")

    assert receipt.erased and receipt.turns == ("a2",) and not receipt.notes
    assert receipt.events and receipt.facts and receipt.entities and receipt.nodes and receipt.cached
    assert MARK not in repr(receipt) and "Wilhelmina" not in repr(receipt)
    for _ in range(2):  # now, and when everything has been read again
        assert traces(home, [MARK, "Wilhelmina", "barge"]) == []
        assert not any(holds(home, vector) for vector in vectors) and not holds(home, codes)
        shown = everything_shown(talk)
        assert MARK not in shown and "Wilhelmina" not in shown and "barge" not in shown
        talk.flush()
    assert talk.doctor() == []
    talk.close()
    assert traces(home, [MARK, "Wilhelmina", "barge"]) == []


def test_importing_it_again_does_not_bring_it_back_but_a_later_same_word_is_new(
    talk: Memory, home: Path
) -> None:
    talk.add({"content": "ok", "id": "ok1", "timestamp": at(50).isoformat()})
    talk.add({"content": "no time of its own", "id": "n1"})
    talk.forget(turns=["a2", "ok1", "n1"])
    told(talk)
    talk.add(
        [
            {"content": "ok", "id": "ok1", "timestamp": at(50).isoformat()},
            {"content": "no time of its own", "id": "n1"},
        ]
    )
    assert {"a2", "ok1", "n1"}.isdisjoint(turn.id for turn in talk.turns())
    talk.add({"content": "ok", "timestamp": at(50).isoformat()})
    talk.add({"content": "ok", "id": "ok1", "timestamp": at(51).isoformat()})
    assert [turn.text for turn in talk.turns()].count("ok") == 2
    assert talk.reextract() == len(talk.turns())
    assert MARK not in everything_shown(talk)


def raw(home: Path, query: str, bank: str = "talk") -> list[tuple[Any, ...]]:
    sql = sqlite3.connect(home / "banks" / f"{bank}.db")
    try:
        return sql.execute(query).fetchall()
    finally:
        sql.close()


def derived(memory: Memory) -> dict[str, Any]:
    """What a bank holds, by names rather than numbers."""
    memory.flush()

    def ask(query: str) -> list[tuple[Any, ...]]:
        return raw(memory._bank.folder, query, memory.bank)

    ids = dict(ask("SELECT seq, id FROM units"))
    columns = "kind, network, text, context, occurred_start, occurred_end, grain, mentioned_at, pieces, terms"
    vectors = ask(
        "SELECT u.id, v.piece, v.vector FROM vectors v JOIN units u ON u.seq = v.unit WHERE u.kind <> 'fact'"
    )
    links = ask("SELECT source, type, target, round(weight, 4) FROM links")
    facts = memory.facts.current(now=at(900))
    return {
        "units": sorted(ask(f"SELECT {columns} FROM units"), key=repr),
        "vectors": {(id_, piece): np.frombuffer(blob, "<f4") for id_, piece, blob in vectors},
        "events": sorted(map(repr, memory.events())),
        "nodes": [replace(node, id="") if node.level > 2 else node for node in memory.tree()],
        "entities": sorted(
            (one.name, one.type, one.aliases, one.first, one.last, one.mentions) for one in memory.entities()
        ),
        "facts": sorted(
            (one.subject, one.predicate, one.object, one.valid.start, one.valid.end, one.support, one.sources)
            for one in facts
        ),
        "links": sorted((ids[a], kind, ids[b], weight) for a, kind, b, weight in links),
    }


def test_what_is_left_is_what_a_bank_that_never_heard_it_would_hold(talk: Memory, home: Path) -> None:
    for gone in ("a2", "c1", "a1"):
        talk.forget(turns=gone)
    with Memory.open(home, "other") as other:
        messages = [
            {**message, "timestamp": at(place + 30 * (message["session"] == "s2")).isoformat()}
            for place, message in enumerate(TALK)
            if message["id"] not in ("a1", "a2", "c1")
        ]
        other.add(messages)
        other.consolidate(now="end")
        mine, theirs = derived(talk), derived(other)
    assert {"x-a1", "x-a2", "x-c1"}.isdisjoint(turn.segment for turn in talk.turns())
    for part in mine:
        if part == "vectors":
            assert mine[part].keys() == theirs[part].keys()
            for key, vector in mine[part].items():
                assert np.allclose(vector, theirs[part][key], atol=1e-5), key
        else:
            assert mine[part] == theirs[part], part


SENTENCES = (
    "I moved to {0} in May.", "My sister {1} lives in {0}.", "She bought a boat there.", "I visited {1} last week.",
    "I work at Acme now.", "He told me about {0}.", "How is {1}?", "I like tea.", "We met {1} in {0} on Friday.",
    "I live in Berlin.", "That is great!", "I don't like {0} any more.", "I adopted a dog called Rex.",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_any_talk_without_some_turns_is_the_talk_that_never_had_them(home: Path, seed: int) -> None:
    chance = random.Random(seed)
    talk = [
        {
            "id": f"t{number}",
            "name": chance.choice(("Ana", "Ben")),
            "content": chance.choice(SENTENCES).format(
                chance.choice(("Porto", "Lisbon", "Tokyo")), chance.choice(("Tom", "Sam Parker", "Sam"))
            ),
            "session": f"s{chance.randint(0, 2)}",
            "timestamp": at(7 * number).isoformat(),
        }
        for number in range(chance.randint(6, 12))
    ]
    gone = chance.sample([turn["id"] for turn in talk], 3)
    with (
        Memory.open(home, "a", embedder="fake", reader="none", cache_entries=0) as one,
        Memory.open(home, "b", embedder="fake", reader="none", cache_entries=0) as other,
    ):
        one.add(talk)
        one.consolidate(now="end")
        one.forget(turns=gone)
        one.consolidate(now="end")
        other.add([turn for turn in talk if turn["id"] not in gone])
        other.consolidate(now="end")
        assert one.doctor() == []
        mine, theirs = derived(one), derived(other)
        parts = ["events", "entities", "facts"]
        if exchanges(one) == exchanges(
            other
        ):  # they stay as they were cut; narratives and summaries follow them
            parts += ["nodes", "links"]
        for part in parts:
            assert mine[part] == theirs[part], part


def exchanges(memory: Memory) -> list[tuple[str, ...]]:
    cut: dict[str | None, list[str]] = {}
    for turn in memory.turns():
        cut.setdefault(turn.segment, []).append(turn.id)
    return sorted(map(tuple, cut.values()))


def test_a_dry_run_tells_the_same_and_changes_nothing(talk: Memory, home: Path) -> None:
    tables = [
        row[0]
        for row in raw(
            home, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'unit_fts%'"
        )
    ]
    before = {table: raw(home, f"SELECT * FROM {table}") for table in tables}
    would = talk.forget(turns=["a2"], dry_run=True)
    talk.flush()
    assert would.dry_run and not would.erased
    assert {table: raw(home, f"SELECT * FROM {table}") for table in tables} == before
    did = talk.forget(turns=["a2"])
    for part in (
        "turns",
        "events",
        "narratives",
        "nodes",
        "facts",
        "entities",
        "vectors",
        "links",
        "rebuilt",
    ):
        assert getattr(would, part) == getattr(did, part), part


def test_a_session_a_while_and_everything_can_be_forgotten(talk: Memory, home: Path) -> None:
    receipt = talk.forget(session="s2")
    assert receipt.turns == ("c1", "c2") and receipt.sessions == ("s2",)
    assert [session.id for session in talk.sessions()] == ["s1"]
    assert talk.forget(between=(at(4), at(6))).turns == ("a3", "b3")
    assert talk.forget(everything=True).turns == ("a1", "b1", "a2", "b2")
    stats = talk.stats()
    assert (stats.turns, stats.events, stats.entities, stats.links, stats.passages) == (0, 0, 0, 0, 0)
    assert list(talk.facts.versions()) == [] and talk.doctor() == []
    assert traces(home, [MARK, "Porto", "bicycle"]) == []
    told(talk)
    assert talk.turns() == []
    talk.add("And we begin anew.")
    assert talk.stats().turns == 1 and len(talk.recall("begin")) == 1


def test_everything_about_somebody_goes_with_what_they_said_and_what_is_known_of_them(home: Path) -> None:
    with Memory.open(home, "talk") as memory:
        told(memory)
        memory.facts.assert_("Ben", "married to", "Wilhelmina", at=at(9))
        memory.facts.report_missing("wilhelmina", at=at(9))
        memory.add(
            {
                "name": "Ben",
                "content": "wilhelmina's dinner was lovely",
                "id": "b9",
                "timestamp": at(40).isoformat(),
            }
        )
        receipt = memory.forget(entity="Wilhelmina")
        assert set(receipt.turns) == {"a2", "b9"} and receipt.facts
        assert "ilhelmina" not in everything_shown(memory)
        assert traces(home, ["Wilhelmina"]) == []
        ben = memory.forget(entity="Ben")
        assert {"b1", "b2", "b3", "c2"} == set(ben.turns)
        assert {turn.speaker for turn in memory.turns()} == {"Ana"}


def test_a_fact_that_other_turns_say_too_stays_and_is_theirs_alone(talk: Memory) -> None:
    for place, (id_, session) in enumerate((("t1", "y"), ("t2", "z"))):
        when = at(60 + 20 * place).isoformat()
        talk.add(
            {"name": "Eva", "content": "I live in Berlin.", "id": id_, "timestamp": when, "session": session}
        )
    (both,) = talk.facts.current("Eva", now=at(99))
    assert both.sources == ("t1", "t2") and both.support == 2 and both.valid.start == at(60)
    talk.forget(turns="t1")
    (left,) = talk.facts.current("Eva", now=at(99))
    assert (left.object, left.sources, left.support, left.valid.start) == ("Berlin", ("t2",), 1, at(80))
    assert len(talk.facts.about("Eva", versions=True)) == 1 and talk.doctor() == []


def test_the_chain_of_facts_is_closed_again_and_known_at_does_not_bring_them_back(quick: Memory) -> None:
    quick.add([{"content": "one", "id": "t1"}, {"content": "two", "id": "t2"}])
    facts = quick.facts
    facts.assert_("Ana", "lives in", "Porto", valid_from=at(0), at=at(1), source="t1")
    facts.assert_("Ana", "lives in", "Lisbon", valid_from=at(100), at=at(101), source="t2")
    facts.assert_("Ana", "lives in", "Braga", valid_from=at(200), at=at(201), source="t2")
    quick.forget(turns="t2")
    assert [fact.object for fact in facts.history("Ana", "lives in")] == ["Porto"]
    (now,) = facts.current("Ana", "lives in", now=at(300))
    assert now.object == "Porto" and now.valid.end is None and now.recorded_at > at(300)
    assert {fact.object for fact in facts.versions()} == {"Porto"}
    known = facts.as_of(at(150), "Ana", "lives in", known_at=at(150))
    assert (
        known == []
    )  # nobody knows any more what was believed then; the gap is not filled with what was not
    assert quick.doctor() == []


def test_conflicts_and_reasons_that_quote_a_forgotten_fact_go(quick: Memory, home: Path) -> None:
    quick.add([{"content": "one", "id": "t1"}, {"content": "two", "id": "t2"}])
    quick.facts.assert_("Ana", "works at", "Acme", valid_from=at(0), at=at(0), source="t1")
    quick.facts.assert_("Ana", "works at", MARK, valid_from=at(0), at=at(0), source="t2")
    for conflict in quick.facts.review():
        quick.facts.resolve(conflict.id, "Acme")
    quick.forget(turns="t2")
    assert traces(home, [MARK]) == [] and quick.facts.review() == []
    assert [fact.object for fact in quick.facts.current("Ana", now=at(9))] == ["Acme"]


OTHER = """
import sys
from everwhen import Memory
with Memory.open(sys.argv[1], "talk") as memory:
    for line in sys.stdin:
        print(any(sys.argv[2] in one.text for one in memory.recall(line.strip(), budget=300)), flush=True)
"""


def test_another_process_drops_it_from_its_index(talk: Memory, home: Path) -> None:
    command = [sys.executable, "-c", OTHER, str(home), MARK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None and other.stdout is not None

        def ask() -> str:
            assert other.stdin is not None and other.stdout is not None
            other.stdin.write(f"{MARK}\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        assert ask() == "True"
        assert talk.forget(turns="a2").erased
        assert ask() == "False"
        other.stdin.close()


def test_a_crash_before_the_files_are_written_anew_is_made_good_by_the_next_to_open(
    talk: Memory, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("everwhen.store.sqlite.scrubbing.SqliteScrubbing.run", lambda self: False)
    receipt = talk.forget(turns="a2")
    assert not receipt.erased and "doctor --fix" in receipt.notes[0]
    monkeypatch.undo()
    with Memory.open(home, "talk") as again:
        assert again.doctor() == []
        assert traces(home, [MARK]) == []


def test_a_batch_in_the_hands_of_another_process_writes_nothing_of_it(talk: Memory, home: Path) -> None:
    from everwhen.settings import Settings
    from everwhen.store.rows import TurnForgotten
    from everwhen.write.extract.base import open_extractor
    from everwhen.write.pipeline import process

    talk.reextract()
    with Memory.open(home, "talk", extract="none") as slow:
        slow._bank.store.jobs.extraction.enqueue(["a2", "b2"])
        work = slow._bank.store.jobs.extraction.claim("elsewhere:0", 25, 29, 300)
        extractor = open_extractor(Settings())
        assert work is not None and extractor is not None and MARK in work.turns[0].text
        talk.forget(turns="a2")
        with pytest.raises(TurnForgotten):
            process(slow._bank.store, slow._bank.embedder, extractor, work)
    assert MARK not in everything_shown(talk) and traces(home, [MARK]) == []


def test_mistakes_get_a_sentence(talk: Memory) -> None:
    with pytest.raises(UsageError, match="forget what"):
        talk.forget()
    with pytest.raises(NotFound, match="no turn 'zz'"):
        talk.forget(turns="zz")
    with pytest.raises(NotFound, match="no session 'zz'"):
        talk.forget(session="zz")
    with pytest.raises(NotFound, match="nothing to forget"):
        talk.forget(entity="Zebulon")
    assert talk.forget(between=(at(5000), at(5001))).turns == ()


def test_a_receipt_is_json_without_words(talk: Memory) -> None:
    from everwhen.types.jsonable import jsonable

    receipt = json.loads(json.dumps(jsonable(talk.forget(turns=["a2", "c1"]))))
    assert receipt["turns"] == ["a2", "c1"] and "Rex" not in json.dumps(receipt)


def test_a_file_that_has_grown_brings_nothing_of_it_back_as_context_or_vector(
    talk: Memory, home: Path
) -> None:
    talk.forget(turns="b3")
    before = (home / "cache" / "embeddings.sqlite").stat().st_size
    when = at(5).isoformat()
    again = {**TALK[5], "timestamp": when}
    grown = {
        "name": "Ana",
        "content": "Which colour?",
        "id": "a4",
        "timestamp": at(5.5).isoformat(),
        "session": "s1",
    }
    added = talk.add([again, grown])
    assert added.new == 1 and (home / "cache" / "embeddings.sqlite").stat().st_size == before
    assert "bicycle" not in raw(home, "SELECT context FROM units WHERE id = 'a4'")[0][0]
    talk.flush()
    talk._bank.store.jobs.scrubbing.run()
    assert traces(home, ["bicycle"]) == []


def test_two_that_forget_at_once_do_not_stumble_over_what_the_other_took(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists of neighbours are filled up after the rows are gone; by then another process may have taken more."""
    from everwhen.upkeep import forget as forgetting

    settings = {"embedder": "fake", "cache_entries": 0}
    with Memory.open(home, "two", **settings) as memory, Memory.open(home, "two", **settings) as other:
        told(memory)
        memory.flush()
        similar_units, taken = forgetting.similar_units, []

        def meanwhile(*given: Any) -> Any:
            found = similar_units(*given)
            if not taken:
                taken.append("a3")
                other.forget(turns=["a3", "b2"])
            return found

        monkeypatch.setattr(forgetting, "similar_units", meanwhile)
        everywhere = dict.fromkeys(memory._bank.store.keep.placed(range(100)), forgetting.SEMANTIC_MOST)
        assert len(everywhere) > 8
        forgetting.refill_links(memory._bank.store, everywhere)
        assert taken and not {"a3", "b2"} & {turn.id for turn in memory.turns()}
        memory.flush()
        assert memory.doctor() == []


def test_extraction_does_not_link_to_what_was_forgotten_while_it_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from everwhen.write import links

    settings = {"embedder": "fake", "cache_entries": 0}
    with Memory.open(home, "two", **settings) as memory, Memory.open(home, "two", **settings) as other:
        memory.add({"id": "old", "name": "Ana", "content": "I bought a violin."}, session="s", at=at(0))
        memory.flush()
        similar_units, taken = links.similar_units, []

        def meanwhile(*given: Any) -> Any:
            found = similar_units(*given)
            if not taken and given[2] == "turn":
                taken.append(found)
                other.forget(turns="old")
            return found

        monkeypatch.setattr(links, "similar_units", meanwhile)
        memory.add({"id": "new", "name": "Ana", "content": "I bought a violin."}, session="s", at=at(200))
        memory.flush()
        assert taken and [turn.id for turn in memory.turns()] == ["new"]
        assert memory.doctor() == []


@pytest.mark.parametrize("level", [2, 3, 5])
def test_a_summary_that_another_process_is_writing_of_it_is_not_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch, level: int
) -> None:
    from everwhen.tree.building import Builder

    settings = {"embedder": "fake", "cache_entries": 0}
    with Memory.open(home, "two", **settings) as memory, Memory.open(home, "two", **settings) as other:
        memory.add_many({**one, "timestamp": at(place)} for place, one in enumerate(TALK))
        memory.flush()
        build, taken = Builder.build, []

        def meanwhile(self: Builder, marks: Any, *more: Any) -> Any:
            built = build(self, marks, *more)
            if not taken and marks[0].place.level == level:
                taken.append(MARK in repr(built))
                other.forget(turns="a2")
            return built

        monkeypatch.setattr(Builder, "build", meanwhile)
        # It has not come to that yet.
        monkeypatch.setattr(Maintenance, "_regrown", lambda self, receipt, until: receipt)
        memory.consolidate("end")
        monkeypatch.undo()
        assert taken == [True]
        memory.consolidate("end")
        assert memory.doctor() == [] and MARK not in repr((memory.tree(), memory.profile()))
        other.doctor(fix=True)
    assert traces(home, [MARK]) == []


def test_what_is_forgotten_in_large_part_gives_its_room_back(quick: Memory, home: Path) -> None:
    quick.add_many({"content": f"message {number}", "metadata": {"x": "y" * 15_000}} for number in range(50))
    quick.add({"content": "one that stays", "id": "stays"}, session="other")
    full = quick.stats().bytes
    assert quick.forget(session=quick.sessions()[0].id).erased
    assert [turn.id for turn in quick.turns()] == ["stays"]
    assert (home / "banks" / "quick.db").stat().st_size < full / 2
