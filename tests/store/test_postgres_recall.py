"""Recall of a bank in PostgreSQL: what SQLite recalls, in a few round trips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from everwhen import Memory
from everwhen.demo import STORY_ZONE, story
from everwhen.store.postgres.server import Lent
from everwhen.types import Recalled

QUESTIONS = (
    "where does Marta live",
    "what did Marta say about her Japanese lessons",
    "when did she move",
    "what happened in May",
    "what did Juno say about maps",
    "who was at the wedding last summer",
)
MOST_ROUND_TRIPS = 6


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory, postgres_address: str) -> Iterator[tuple[Memory, Memory]]:
    """The demo's story in both databases."""
    part = conninfo_to_dict(postgres_address)
    address = f"postgresql://{part['user']}:{part['password']}@{part['host']}:{part['port']}/{part['dbname']}"
    with (
        Memory.open(tmp_path_factory.mktemp("home"), "story", zone=STORY_ZONE) as local,
        Memory.open(address, bank="story", zone=STORY_ZONE) as remote,
    ):
        for memory in (local, remote):
            memory.add_many(story())
            memory.flush()
        yield local, remote


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("more", [{}, {"budget": "low"}, {"kinds": ["turn", "event", "fact"]}], ids=str)
def test_postgres_recalls_what_sqlite_recalls(
    homes: tuple[Memory, Memory], question: str, more: dict[str, Any]
) -> None:
    local, remote = (memory.recall(question, max_tokens=100_000, **more).memories for memory in homes)
    assert [one.score for one in remote] == pytest.approx([one.score for one in local], abs=1e-3)
    # The facts of one turn come with it, in the order of their ids, which are random.
    assert _turns(remote) == _turns(local)
    assert sorted(one.text for one in remote) == sorted(one.text for one in local)


def _turns(memories: Sequence[Recalled]) -> list[str]:
    return [one.id for one in memories if one.kind == "turn"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_recall_takes_a_few_round_trips_to_postgres(
    homes: tuple[Memory, Memory], question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips: list[str] = []

    def counted(name: str) -> None:
        original = getattr(Lent, name)

        def call(self: Lent, *args: Any, **named: Any) -> Any:
            trips.append(str(args[0])[:60])
            return original(self, *args, **named)

        monkeypatch.setattr(Lent, name, call)

    homes[1].recall(question)  # names, and what else is remembered as long as it is the same
    for name in ("execute", "together", "begin"):
        counted(name)
    homes[1].recall(question)
    print(len(trips))
    assert len(trips) <= MOST_ROUND_TRIPS, trips
