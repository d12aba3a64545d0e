"""What a client sends for an operation: the address, the query or the body, and what never travels."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen import Interval, UsageError
from everwhen.api.operations.conversation import Add, OneTurn, SplitEntity, Tree, Turns, UndoEntities
from everwhen.api.operations.facts import AsOf, History, ReportMissing, Stale
from everwhen.api.operations.maintenance import Forget, Reembed, Reextract
from everwhen.api.operations.questions import Ask, RecallMemories
from everwhen.api.requests import request, steps_of

MARCH = Interval(datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC), "month")


def test_a_name_in_the_address_is_quoted_and_not_carried_twice() -> None:
    call = request(SplitEntity("Ana/Bo", ["Bo"]))
    assert (call.method, call.path, call.body) == (
        "POST",
        "/entities/Ana%2FBo/split",
        {"names": ("Bo",), "type": None},
    )
    assert request(OneTurn("a b")).path == "/turns/a%20b"


def test_a_stretch_of_time_is_two_sides_in_a_query_and_whole_in_a_body() -> None:
    sides = {"from": "2025-03-01T00:00:00Z", "to": "2025-04-01T00:00:00Z"}
    assert request(Turns(between=MARCH)).query() == request(Tree(at=MARCH)).query() == sides
    assert request(Turns(between=("2025-03-01", None))).query() == {"from": "2025-03-01"}
    assert request(Turns(between="last week")).query() == {"from": "last week", "to": "last week"}
    assert request(Tree(2, "2025-03-14")).query() == {"level": "2", "at": "2025-03-14"}
    assert request(RecallMemories("x", between=MARCH)).body["between"] == MARCH


def test_operations_at_one_address_say_which_they_are() -> None:
    assert request(AsOf("2025-03-14", "Ana")).query() == {"as_of": "2025-03-14", "subject": "Ana"}
    assert request(History("Ana", "lives in")).query() == {
        "history": "true", "subject": "Ana", "predicate": "lives in", "versions": "false",
    }  # fmt: skip
    assert request(ReportMissing("x")).body == {"kind": "missing", "ref": "x", "at": None}


def test_only_writes_carry_a_key_against_doing_them_twice_and_only_long_work_is_waited_for() -> None:
    forget = request(Forget(session="s1"))
    assert "Idempotency-Key" in forget.headers() and forget.patient
    recall = request(RecallMemories("x"))
    assert recall.headers() == {"Content-Type": "application/json"} and not recall.patient
    undo = request(UndoEntities())
    assert undo.content() is None and list(undo.headers()) == ["Idempotency-Key"]


def test_what_cannot_travel_stays_here() -> None:
    assert request(Reextract(["t1"], progress=print)).body == {"turns": ("t1",)}
    with pytest.raises(UsageError, match="a client names its model"):
        request(Ask("x", model=object()))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="where the bank's files lie"):
        request(Reembed("fake"))


def test_a_few_operations_carry_more_than_their_arguments() -> None:
    assert next(steps_of(RecallMemories("x"))).body["include_metadata"] is True
    assert next(steps_of(Stale())).query()["limit"] == "1000"
    added = next(steps_of(Add("hello", at=datetime(2025, 3, 14, tzinfo=UTC))))
    assert added.body["messages"] == [{"role": "user", "content": "hello"}]
    with pytest.raises(UsageError, match="nothing to add"):
        next(steps_of(Add([])))
