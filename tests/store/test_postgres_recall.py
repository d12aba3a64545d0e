"""Recall of a bank in PostgreSQL: what SQLite recalls, in a few round trips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from psycopg.conninfo import conninfo_to_dict

from everwhen import Memory
from everwhen.api.memory import DEFAULT_EMBEDDER
from everwhen.cli.story.story import STORY_ZONE, story
from everwhen.models.embedder import open_embedder
from everwhen.settings import load
from everwhen.store.banks import Banks
from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.server import Lent
from everwhen.store.rows import Filter, SaidBy, SearchQuery, Wanted
from everwhen.store.sqlite.banks import SqliteBanks

QUESTIONS = (
    "where does Marta live",
    "what did Marta say about her Japanese lessons",
    "when did she move",
    *(TIMED := ("what happened in May",)),
    "what did Juno say about maps",
    *(DESCRIBING := ("who was at the wedding last summer", "what is Marta's sister learning")),
)
MOST_ROUND_TRIPS, OF_A_TIME, OF_A_DESCRIPTION = 5, 1, 3
"""The lock of the model, candidates, evidence, facts, the dates of turns that mention a time; the links of what lies in
a time that is asked about."""


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory, postgres_address: str) -> Iterator[tuple[Memory, Memory]]:
    """The beginning of the demo's story in both databases."""
    embedder = open_embedder(DEFAULT_EMBEDDER)
    homes: tuple[Banks, ...] = (
        SqliteBanks(tmp_path_factory.mktemp("home")),
        PostgresBanks(postgres_address),
    )
    homes[1].drop("story")
    local, remote = (
        Memory(
            banks.open("story", embedder=DEFAULT_EMBEDDER, dimension=embedder.dim, zone=STORY_ZONE),
            embedder,
            load(),
        )
        for banks in homes
    )
    with local, remote:
        for memory in (local, remote):
            memory.add_many(story()[:60])  # two months of it
            memory.flush()
        yield local, remote


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("more", [{}, {"budget": "low"}, {"kinds": ["turn", "event", "fact"]}], ids=str)
def test_postgres_recalls_what_sqlite_recalls(
    homes: tuple[Memory, Memory], question: str, more: dict[str, Any]
) -> None:
    """The same memories, each with about the same score. Cosines differ by 1e-4, since each database rounds vectors in
    its own way: of two that are as near as that the ranks change places, and one or the other is the last candidate."""
    local, remote = (memory.recall(question, max_tokens=100_000, **more).memories for memory in homes)
    assert [one.score for one in remote] == pytest.approx([one.score for one in local], abs=0.03)
    scores, others = ({one.id: one.score for one in found if one.kind == "turn"} for found in (local, remote))
    assert len(scores.keys() ^ others.keys()) <= 2
    apart = [abs(scores[one] - others[one]) for one in scores.keys() & others.keys()]
    assert max(apart) < 0.1
    assert sum(one > 0.03 for one in apart) <= 2  # two that changed places


def test_both_know_the_same_of_the_candidates(homes: tuple[Memory, Memory]) -> None:
    question = "what did Juno say about maps"
    vector = open_embedder(DEFAULT_EMBEDDER).embed([question])[0]
    found = []
    for memory in homes:
        search = memory._bank.store.search(SearchQuery(vector, question, Filter(kinds=frozenset({"turn"}))))
        units = {one.unit for one in search.candidates(Wanted(100)).meaning[0]}
        found.append(search.evidence(units, who=SaidBy(role="assistant"), people=["Juno"], sessions=True))
    local, remote = found
    assert [row.id for row in remote.rows] == [row.id for row in local.rows]
    assert local.session is not None and remote.session is not None
    for one, other in ((local.own, remote.own), (local.before, remote.before), (local.after, remote.after)):
        np.testing.assert_allclose(other.cosines, one.cosines, atol=1e-3)
        np.testing.assert_allclose(other.counts, one.counts)
        np.testing.assert_allclose(other.lengths, one.lengths)
        np.testing.assert_array_equal(other.asks, one.asks)
    np.testing.assert_allclose(remote.session.counts, local.session.counts)
    np.testing.assert_array_equal(remote.places, local.places)
    np.testing.assert_allclose(remote.terms.idf, local.terms.idf, atol=1e-5)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_recall_takes_five_round_trips_to_postgres_at_most_and_more_for_a_time_or_a_description(
    homes: tuple[Memory, Memory], question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips: list[str] = []

    def counted(name: str) -> None:
        original = getattr(Lent, name)

        def call(self: Lent, *args: Any, **named: Any) -> Any:
            trips.append(str(args[0])[:100])
            return original(self, *args, **named)

        monkeypatch.setattr(Lent, name, call)

    homes[1].recall(question)  # names are remembered as long as they are the same
    for name in ("execute", "together", "begin"):
        counted(name)
    homes[1].recall(question)
    most = MOST_ROUND_TRIPS + OF_A_DESCRIPTION * (question in DESCRIBING) + OF_A_TIME * (question in TIMED)
    assert len(trips) <= most, trips


def test_a_speaker_whom_another_server_has_just_stored_is_known_to_the_next_question(
    homes: tuple[Memory, Memory], postgres_address: str
) -> None:
    """A recall is planned with those it knew last, and once more where the database knows others by now."""
    part = conninfo_to_dict(postgres_address)
    url = f"postgresql://{part['user']}:{part['password']}@{part['host']}:{part['port']}/{part['dbname']}"
    both = [Memory.open(url, "two-servers", embedder="fake", reader="none", extract="none") for _ in range(2)]
    with both[0] as here, both[1] as there:
        here.add([{"role": "user", "name": "Ana", "content": "the violin is under the stairs"}])
        assert there.recall("what did Ana say about the violin").trace["plan"]["about"] == ["Ana"]
        here.add([{"role": "user", "name": "Ravi", "content": "the violin is sold"}])
        found = there.recall("what did Ravi say about the violin")
        assert found.trace["plan"]["about"] == ["Ravi"] and found[0].speaker == "Ravi"


def test_both_learn_the_same_facts_and_events(homes: tuple[Memory, Memory]) -> None:
    facts = [
        sorted(
            (one.subject, one.predicate, one.object, one.valid, one.sources, round(one.confidence, 6))
            for one in memory.facts.current()
        )
        for memory in homes
    ]
    assert facts[0] == facts[1] and facts[0]
    events = [
        sorted((one.text, one.turns, str(one.occurred), one.status, one.subject) for one in memory.events())
        for memory in homes
    ]
    assert events[0] == events[1] and events[0]


def test_both_link_the_same_units(homes: tuple[Memory, Memory]) -> None:
    """What is near in meaning is as near as vectors say, which each database rounds in its own way."""
    local, remote = (dict(_links(memory)) for memory in homes)
    assert local.keys() == remote.keys() and local
    assert list(remote.values()) == pytest.approx([local[link] for link in remote], abs=1e-3)


def _links(memory: Memory) -> Iterator[tuple[tuple[str, str, str], float]]:
    store = memory._bank.store
    units = store.units(range(1, 10_000))
    for unit, row in units.items():
        for link in store.graph.links(unit):
            yield (row.id, units[link.target].id, link.type), link.weight


def test_both_build_the_same_tree(homes: tuple[Memory, Memory]) -> None:
    built = []
    for memory in homes:
        memory.consolidate(now="end")
        built.append([(node.level, node.text, str(node.interval), node.turns) for node in memory.tree()])
    assert built[0] == built[1] and built[0]
