"""What contradicts a fact replaces it only where it can."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen import Memory


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ("I live in Lisbon.", "I live in Porto now.", "Porto"),
        ("I live in Lisbon.", "We moved to Porto on Saturday.", "Porto"),
        ("I live in Lisbon.", "Good morning from Kyoto.", "Lisbon"),
        ("I live in Lisbon.", "I'm in Madrid for the weekend.", "Lisbon"),
        ("I work at Siemens.", "I work at Bosch.", "Bosch"),
        ("I work at Siemens.", "I got the job at Google!!", "Google"),
        ("I work at Siemens.", "My brother works at Google.", "Siemens"),
        ("I work at Siemens.", "Had a great lunch at Google.", "Siemens"),
    ],
)
def test_only_what_can_replace_a_fact_does(memory: Memory, before: str, after: str, holds: str) -> None:
    memory.add(before, at=datetime(2025, 1, 7, 9, tzinfo=UTC), session="before")
    memory.add(after, at=datetime(2025, 3, 7, 9, tzinfo=UTC), session="after")
    relation = "lives in" if "live" in before else "works at"
    assert [one.object for one in memory.facts.current("user", relation)] == [holds]
