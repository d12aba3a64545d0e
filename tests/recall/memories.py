"""Small memories and questions of them for the tests of recall's stages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from everwhen import Memory
from everwhen.models.embedder import count_tokens
from everwhen.recall.candidates import CandidatePool, Gathered, Request, gather
from everwhen.recall.names import plan
from everwhen.store.rows import Evidence, Terms, Turns
from everwhen.types import Recalled, UnitRow, Why
from everwhen.types.turns import line

START = datetime(2025, 3, 3, 10, 0, tzinfo=UTC)
ASKED = datetime(2025, 9, 1, 12, 0, tzinfo=UTC)

TALK = (
    ("Ana", "Have you tried the new violin lessons in Lisbon?"),
    ("Ben", "Yes, the teacher was kind and the violin is from 1910."),
    ("Ana", "I bought a kayak last weekend."),
    ("Ben", "Is it heavy?"),
    ("Ana", "It weighs twenty kilos, my sister Clara helped me."),
    ("Ben", "My garden has tomatoes this year."),
)


def tell(
    memory: Memory, talk: Sequence[tuple[str, str]] = TALK, session: str = "one", days: float = 0.0
) -> None:
    """Each line a minute after the one before, in one session; all that is read in them is there afterwards."""
    memory.add(
        [
            {
                "role": name if name in ("user", "assistant") else "user",
                "name": None if name in ("user", "assistant") else name,
                "content": text,
                "id": f"{session}-{place}",
                "timestamp": START + timedelta(days=days, minutes=place),
            }
            for place, (name, text) in enumerate(talk)
        ],
        session=session,
    )
    memory.flush()


def gathered(memory: Memory, query: str, **request: Any) -> Gathered:
    """What is found for a question, before anything is decided about it."""
    return gather(memory._bank.store, memory._bank.plain_embedder, Request(query, at=ASKED, **request), {})


def pool_of(memory: Memory, query: str, **request: Any) -> CandidatePool:
    pool = gathered(memory, query, **request).pool
    assert pool is not None
    return pool


def bare_pool(sessions: Sequence[int], places: Sequence[int]) -> CandidatePool:
    """Candidates of which nothing is known but where they stand."""
    count = len(sessions)
    none, no_words = np.zeros(0, np.bool_), np.zeros((count, 0), np.float32)
    nobody = Turns(
        np.full(count, -1),
        np.zeros(count, np.float32),
        no_words,
        np.ones(count, np.float32),
        np.zeros(count, np.bool_),
    )
    rows: list[UnitRow] = []
    found = Evidence(
        rows,
        np.zeros(count, np.int64),
        np.array(sessions, np.int64),
        np.array(places, np.int64),
        np.zeros(count, np.int64),
        np.zeros(count, np.int8),
        nobody,
        nobody,
        nobody,
        Terms(np.zeros(0, np.float32), 1.0, none, none, np.zeros(0, np.float32)),
        lambda some: [""] * len(some),
    )
    return CandidatePool(plan("x", ASKED, "UTC", ()), found, None, False)


def recalled(name: str, score: float = 1.0, text: str | None = None, hours: float = 0.0) -> Recalled:
    words = text if text is not None else name
    return Recalled(
        id=name,
        kind="turn",
        text=words,
        said_at=START + timedelta(hours=hours),
        zone="UTC",
        turns=(name,),
        session="s",
        speaker="Ana",
        score=score,
        why=Why(),
        tokens=count_tokens(line("Ana", words)),
    )
