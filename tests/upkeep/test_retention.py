"""Retention: what is old goes as the rule says, and what was made of it stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory, UsageError
from everwhen.models.embedder import CachedEmbedder
from everwhen.upkeep.retention import describe, parse
from tests.upkeep.raw import traces

NOW = datetime(2025, 6, 1, 12, 0, tzinfo=UTC)
MARK = "Quuxenburg"


@pytest.fixture
def old(home: Path) -> Iterator[Memory]:
    """A bank with a talk of January, one of three weeks ago and one of today."""
    with Memory.open(home, "old") as memory:
        talk = (
            (150, f"I moved to {MARK} in January.", "How was the move?"),
            (20, "I bought a bicycle yesterday.", "A red one, I hope."),
            (0, "I work at Acme.", "Since when?"),
        )
        for days, said, answer in talk:
            when = NOW - timedelta(days=days)
            memory.add(
                [
                    {"name": "Ana", "content": said, "id": f"a{days}", "timestamp": when.isoformat()},
                    {"name": "Ben", "content": answer, "id": f"b{days}",
                     "timestamp": (when + timedelta(minutes=1)).isoformat()},
                ],
                session=f"s{days}",
            )  # fmt: skip
        memory.consolidate(now="end")
        yield memory


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        ("keep raw turns 90 days, summaries for ever", {"turns": 90, "summaries": None}),
        ("turns 2 weeks; facts for 1 year and events forever", {"turns": 14, "facts": 365, "events": None}),
        ("", {}),
    ],
)
def test_a_rule_is_read_as_a_sentence(rule: str, meant: dict[str, int | None]) -> None:
    assert parse(rule) == meant and parse(describe(meant)) == meant


@pytest.mark.parametrize(
    "rule", ["keep turns", "keep cats 3 days", "turns 3 days, raw turns 4 days", "summaries 9 days"]
)
def test_a_rule_that_makes_no_sense_is_refused(rule: str, quick: Memory) -> None:
    with pytest.raises(UsageError):
        quick.set_retention(rule)


def test_raw_turns_go_and_summaries_stay(old: Memory, home: Path) -> None:
    before = old.tree(level=3)
    assert any(MARK in node.text for node in before)
    events = old.events()
    assert old.retain(now=NOW).turns == ()  # no rule, nothing goes
    assert old.set_retention("keep raw turns 90 days, summaries for ever") == old.retention
    would = old.retain(now=NOW, dry_run=True)
    assert would.turns == ("a150", "b150") and len(old.turns()) == 6
    receipt = old.retain(now=NOW)
    assert receipt.turns == would.turns and receipt.erased and old.retain(now=NOW).turns == ()
    assert [turn.id for turn in old.turns()] == ["a20", "b20", "a0", "b0"] and old.stats().turns == 4
    assert old.turn("a150").text == ""
    assert [node.text for node in old.tree(level=3)] == [node.text for node in before]
    assert [event.id for event in old.events()] == [event.id for event in events]
    assert MARK not in old.recall(f"moved to {MARK}", kinds=["turn"]).as_context(cut=0)
    old.reextract()
    assert [event.id for event in old.events()] == [event.id for event in events]
    old.add({"name": "Ana", "content": "And one more thing.", "timestamp": NOW.isoformat()}, session="s150")
    old.consolidate(now="end")
    assert any(MARK in node.text for node in old.tree(level=3))  # the last summary there is
    old.add({"name": "Ana", "content": f"I moved to {MARK} in January.", "id": "a150",
             "timestamp": (NOW - timedelta(days=150)).isoformat()})  # fmt: skip
    assert old.turn("a150").text == "" and old.doctor() == []


def test_everything_old_goes_when_the_rule_says_so(old: Memory, home: Path) -> None:
    old.set_retention("turns 90 days, events 90 days, narratives 90 days, facts 90 days, summaries 90 days")
    receipt = old.retain(now=NOW)
    assert receipt.events and receipt.nodes and receipt.erased
    assert traces(home, [MARK]) == []
    assert old.doctor() == []
    assert old.events() and old.tree(level=3)


def test_a_turn_that_has_lost_its_words_can_still_be_forgotten(old: Memory, home: Path) -> None:
    old.set_retention("raw turns 90 days")
    old.retain(now=NOW)
    old.forget(turns=["a150", "b150"])
    assert traces(home, [MARK]) == [] and old.doctor() == []
    old.add({"name": "Ana", "content": f"I moved to {MARK} in January.", "id": "a150",
             "timestamp": (NOW - timedelta(days=150)).isoformat()}, session="s20")  # fmt: skip
    assert "a150" not in {turn.id for turn in old.turns()}


def cached(home: Path) -> int:
    """How many texts the home's cache holds vectors of."""
    with closing(sqlite3.connect(home / "cache" / "embeddings.sqlite")) as sql:
        return int(sql.execute("SELECT count(*) FROM vectors").fetchone()[0])


@pytest.mark.parametrize(
    ("words", "days", "conflicts"),
    [("my secret", 0, ()), ("my secret", 7, ("a",)), ("another secret", 0, ("a",))],
)
def test_an_expired_turn_that_comes_again_stays_without_words_and_none_reach_the_cache(
    home: Path, words: str, days: int, conflicts: tuple[str, ...]
) -> None:
    at = datetime(2025, 1, 1, tzinfo=UTC)
    with Memory.open(home, "b", embedder="fake", reader="none") as memory:
        memory.add({"content": "my secret", "id": "a"}, session="s", at=at)
        memory.set_retention("keep raw turns 10 days")
        assert memory.retain(at + timedelta(days=30)).turns == ("a",)
        held = cached(home)
        added = memory.add({"content": words, "id": "a"}, session="s", at=at + timedelta(days=days))
        assert (added.new, added.conflicts) == (0, conflicts)
        assert cached(home) == held and memory.turn("a").text == ""


@pytest.mark.parametrize("how", ["known", "forgotten"])
def test_words_that_the_bank_refuses_in_the_end_leave_the_cache(
    home: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Somebody was faster between the look whether a turn is known and its writing."""
    at = datetime(2025, 1, 1, tzinfo=UTC)
    again = {"content": "my secret", "id": "a"}
    with Memory.open(home, "b", embedder="fake", reader="none", extract="none") as memory:
        memory.add({"content": "kept" if how == "known" else "my secret", "id": "a"}, session="s", at=at)
        if how == "forgotten":
            memory.forget(turns="a")
        held = cached(home)
        monkeypatch.setattr(memory._bank.store, "known", lambda ids: {})
        monkeypatch.setattr(memory._bank.store, "forgotten", lambda turns: frozenset())
        assert memory.add([again, {"content": "and more", "id": "b"}], session="s", at=at).new == 1
        assert cached(home) == held


def test_every_cache_that_was_opened_is_closed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[CachedEmbedder] = []
    init = CachedEmbedder.__init__

    def noted(self: CachedEmbedder, *given: Any) -> None:
        made.append(self)
        init(self, *given)

    monkeypatch.setattr(CachedEmbedder, "__init__", noted)
    with Memory.open(home, "b", embedder="fake", reader="none") as memory:
        memory.add([{"content": "one", "id": "a"}, {"content": "two", "id": "b"}], session="s")
        for model in ("conversation-1", "fake", "fake"):
            memory.reembed(model)
            memory.add(f"now with {model}", session="s")
        assert [one for one in made if one._connection] == [memory._bank.embedder]
    with Memory.open(home, "b", cache_entries=0) as memory:
        memory.forget(turns="a")
        memory.retain()
    assert len(made) >= 6 and not any(one._connection for one in made)
    made[0].embed(["later"])  # by whoever still holds it
    assert made[0]._connection is None
