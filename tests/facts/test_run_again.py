"""A change of facts is a function: where its first attempt is lost, the second gives the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from everwhen import Memory
from everwhen.store.sql.facts import FactLedger

R = TypeVar("R")
START = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)


class LostError(Exception):
    """What stands for a transaction that could not be committed."""


def losing(write: Callable[..., R]) -> Callable[..., R]:
    """`FactStore.write` whose first attempt is always rolled back."""

    def twice(change: Callable[[FactLedger], R], read: Sequence[str] = ()) -> R:
        def lost(ledger: FactLedger) -> R:
            change(ledger)
            raise LostError

        with pytest.raises(LostError):
            write(lost, read)
        return write(change, read)

    return twice


def lived(home: Path, bank: str, monkeypatch: pytest.MonkeyPatch | None) -> list[Any]:
    """Every kind of change; what the bank then holds."""
    with Memory.open(home, bank, embedder="fake", cache_entries=0) as memory:
        store = memory._bank.store.facts
        if monkeypatch is not None:
            monkeypatch.setattr(store, "write", losing(store.write))
        for number, text in enumerate(("I live in Berlin.", "I moved to Porto.", "I have a dog.")):
            when = (START + number * DAY).isoformat()
            memory.add({"name": "Eva", "content": text, "id": f"t{number}", "timestamp": when})
        memory.flush()
        facts = memory.facts
        tea = facts.assert_("Ana", "likes", "tea", at=START)
        facts.confirm(tea.id, at=START + DAY)
        facts.correct("Ana", "works at", "Acme", at=START)
        facts.end("Ana", "works at", on=START + DAY, at=START + 2 * DAY)
        facts.retract(facts.assert_("Ana", "likes", "beer", at=START).id, at=START + DAY, reason="a joke")
        facts.assert_("Ana", "lives in", "Rome", at=START, valid_from=START)
        facts.assert_("Ana", "lives in", "Oslo", at=START, valid_from=START)
        (conflict,) = facts.review()
        facts.resolve(conflict.id, keep="Oslo", at=START + DAY)
        facts.define_predicate("likes", multi=False, at=START + 2 * DAY)
        facts.report_change("Ana", at=START + 3 * DAY)
        memory.reextract()
        assert memory.doctor() == []
        return [
            (one.subject, one.predicate, one.object, one.version, one.valid, one.status, one.support)
            for one in facts.versions()
        ] + [one.fact.object for one in facts.stale(now=START + 4 * DAY)]


def test_every_change_of_facts_can_be_run_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lived(home, "again", monkeypatch) == lived(home, "once", None)
