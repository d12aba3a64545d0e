"""Conversations for tests of the tree, and what must hold of every tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from everwhen import Memory, Message, Node

START = datetime(2025, 3, 3, 9, tzinfo=UTC)


def opened(home: Path, bank: str, **settings: Any) -> Memory:
    """A bank without meaning and without extraction: the tree alone."""
    return Memory.open(
        home, bank, embedder="fake", reader="none", cache_entries=0, extract="none", **settings
    )


def said(number: int, session: str, at: datetime, text: str | None = None, name: str = "Ana") -> Message:
    words = text or f"I put jar {number} of plum jam into the cupboard in Lisbon."
    return Message(words, name=name, said_at=at, id=f"t{number}", session=session)


def talk(session: str, at: datetime, turns: int, first: int = 0) -> list[Message]:
    """A conversation of Ana and Ben, a minute a turn."""
    return [
        said(first + k, session, at + timedelta(minutes=k), name=("Ana", "Ben")[k % 2]) for k in range(turns)
    ]


def holds(nodes: Sequence[Node]) -> None:
    """The invariants of DESIGN section 9."""
    by_id = {node.id: node for node in nodes}
    assert len(by_id) == len(nodes)
    counts = Counter(node.level for node in nodes)
    sizes = [counts[level] for level in sorted(counts)]
    assert sizes == sorted(sizes, reverse=True)
    top = max(counts, default=0)
    for node in nodes:
        assert node.text.strip()
        assert node.children
        assert len(set(node.children)) == len(node.children)
        if node.level == 1:
            continue
        for child in node.children:
            assert by_id[child].level == node.level - 1
            assert by_id[child].parent == node.id
            assert node.interval.covers(by_id[child].interval)
        if node.level < top:
            assert node.id in by_id[node.parent or ""].children
        assert node.turns
