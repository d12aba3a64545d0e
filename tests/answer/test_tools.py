"""The tools over one bank: what they find, what they refuse, and how others use them."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from everwhen import Memory
from everwhen.answer.tools import Toolbox, ToolContext
from everwhen.answer.view import BankView
from everwhen.errors import Unavailable
from everwhen.types.answers import TOOLS
from tests.answer.conftest import ASKED


@pytest.fixture
def tools(bank: Memory) -> Toolbox:
    return bank.tools(at=ASKED)


def lines(result: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.splitlines() if line.startswith("{")]


def test_turns_are_found_with_their_neighbours_and_their_ids(bank: Memory, tools: Toolbox) -> None:
    found = lines(tools.call("search_turns", {"query": "which dog", "top_k": 1}))
    assert [one["text"] for one in found if one.get("found")] == ["I adopted a beagle called Rex yesterday."]
    assert "Lovely. Does Rex like the balcony?" in [one["text"] for one in found]
    assert {one["turn"] for one in found} <= {turn.id for turn in bank.turns()}


def test_date_filters_bound_when_it_was_said_or_when_it_happened(tools: Toolbox) -> None:
    said = lines(tools.call("search_turns", {"query": "Ana", "since": "2025-04", "until": "2025-04"}))
    assert {one["text"][:9] for one in said if one.get("found")} == {"I adopted", "Lovely. D"}
    happened = lines(
        tools.call("search_events", {"query": "beagle", "since": "2025-04-07", "until": "2025-04-07"})
    )
    assert any("beagle" in one["event"] for one in happened)
    later = lines(tools.call("search_events", {"query": "beagle", "since": "2025-04-08"}))
    assert not any("beagle" in one["event"] for one in later)
    words = lines(
        tools.call("grep_turns", {"pattern": "balcony", "since": "last April", "until": "last April"})
    )
    assert [one["text"] for one in words] == ["Lovely. Does Rex like the balcony?"]


def test_grep_lists_every_place(tools: Toolbox) -> None:
    assert len(lines(tools.call("grep_turns", {"pattern": "BALCONY"}))) == 2
    assert len(lines(tools.call("grep_turns", {"pattern": r"\d{3} euros", "regex": True}))) == 1
    assert lines(tools.call("grep_events", {"pattern": "beagle"}))
    assert "(nothing found)" in tools.call("grep_turns", {"pattern": "submarine"})


def test_facts_hold_now_and_held_before(tools: Toolbox) -> None:
    [home] = lines(tools.call("facts_current", {"subject": "Ana", "predicate": "lives in"}))
    assert (home["object"], home["from"]) == ("Porto", "2025-03-03")
    assert lines(tools.call("facts_history", {"subject": "Ana", "since": "2025-03"}))
    assert not lines(tools.call("facts_history", {"subject": "Ana", "until": "2025-01"}))


def test_the_timeline_is_in_order_and_of_one_kind_where_asked(tools: Toolbox) -> None:
    kinds = {one["kind"] for one in lines(tools.call("timeline", {}))}
    assert {"event", "session"} <= kinds
    sessions = lines(tools.call("timeline", {"kind": "session"}))
    assert [one["when"] for one in sessions] == ["2025-03-12", "2025-04-08", "2025-05-12"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            {"operation": "difference", "date": "2024-02-28", "other": "2024-03-01"},
            {"days": 2, "result": "2 days"},
        ),
        (
            {"operation": "difference", "date": "2025-03-01", "other": "2024-03-01"},
            {"days": 365, "order": "other is earlier", "full_months": 12, "full_years": 1},
        ),
        ({"operation": "difference", "date": "2025-01-31", "other": "2025-02-28"}, {"full_months": 0}),
        ({"operation": "difference", "date": "2025-05", "other": "2025-06-03"}, {"days": [3, 33]}),
        ({"operation": "difference", "date": "2025-05", "other": "2025-05-10"}, {"days": [0, 21]}),
        ({"operation": "add", "date": "2024-01-31", "amount": 1, "unit": "months"}, {"result": "2024-02-29"}),
        ({"operation": "add", "date": "today", "amount": -2, "unit": "weeks"}, {"result": "2025-05-18"}),
        ({"operation": "add", "date": "2024-02-29", "amount": 1, "unit": "years"}, {"result": "2025-02-28"}),
        ({"operation": "weekday", "date": "2000-01-01"}, {"result": "Saturday"}),
        ({"operation": "weekday", "date": "last Friday"}, {"date": "2025-05-30", "result": "Friday"}),
    ],
)
def test_dates_are_computed(tools: Toolbox, arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    result = json.loads(tools.call("date_math", arguments))
    for key, value in expected.items():
        assert result[key] == value


def test_events_are_counted_in_their_window(tools: Toolbox) -> None:
    whole = lines(tools.call("date_math", {"operation": "count", "about": "hiking"}))
    assert whole[0]["count"] == len(whole) - 1 > 0
    none = lines(
        tools.call(
            "date_math", {"operation": "count", "about": "hiking", "since": "2025-01", "until": "2025-01"}
        )
    )
    assert none[0]["count"] == 0


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("date_math", {"operation": "weekday", "date": "May 2025"}, "must be one day"),
        ("date_math", {"operation": "difference", "date": "2025-05-01"}, "needs other"),
        ("date_math", {"operation": "count"}, "count needs about"),
        (
            "date_math",
            {"operation": "add", "date": "9998-01-01", "amount": 99999, "unit": "years"},
            "no date",
        ),
        ("date_math", {"operation": "divide"}, "operation"),
        ("search_turns", {"query": ""}, "query"),
        ("search_turns", {"query": "x", "since": "2025-05", "until": "2025-01"}, "lies before"),
        ("search_turns", {"query": "x" * 3000}, "at most 2000 characters"),
        ("search_turns", "{", "not JSON"),
        ("search_turns", "[]", "a JSON object"),
        ("search_turns", '"' + "x" * 30_000 + '"', "too long"),
        ("timeline", {"kind": "everything"}, "kind"),
        ("nothing", {}, "there is no tool"),
    ],
)
def test_wrong_arguments_come_back_as_data(
    tools: Toolbox, name: str, arguments: dict[str, Any] | str, message: str
) -> None:
    result = json.loads(tools.call(name, arguments))
    assert list(result) == ["error"]
    assert message in result["error"]


def test_schemas_are_plain_and_closed(tools: Toolbox) -> None:
    assert [one["function"]["name"] for one in tools.openai()] == list(TOOLS)
    assert [one["name"] for one in tools.anthropic()] == list(TOOLS)
    for one in tools.openai():
        parameters = one["function"]["parameters"]
        assert parameters["additionalProperties"] is False
        assert "$ref" not in json.dumps(parameters)
        assert all(field.get("description") for field in parameters["properties"].values())


def test_without_dates_the_filters_are_neither_offered_nor_taken(bank: Memory) -> None:
    tools = Toolbox(ToolContext(BankView(bank, ASKED)), dates=False)
    assert "since" not in json.dumps(tools.openai()[0])
    assert "takes no since here" in tools.call("search_turns", {"query": "x", "since": "2025"})


def test_openai_tool_calls_are_dispatched_in_their_order(tools: Toolbox) -> None:
    calls = [
        {
            "id": "a",
            "function": {"name": "date_math", "arguments": '{"operation":"weekday","date":"2000-01-01"}'},
        },
        SimpleNamespace(id="b", function=SimpleNamespace(name="grep_turns", arguments='{"pattern":"rex"}')),
    ]
    first, second = tools.dispatch(calls)
    assert (first["role"], first["tool_call_id"], json.loads(first["content"])["result"]) == (
        "tool",
        "a",
        "Saturday",
    )
    assert second["tool_call_id"] == "b"
    assert "beagle" in second["content"]


def test_calls_of_one_step_run_side_by_side(bank: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(3, timeout=5)
    events = Memory.events

    def met(self: Memory, *args: Any, **kwargs: Any) -> Any:
        together.wait()  # raises unless all three are here
        return events(self, *args, **kwargs)

    monkeypatch.setattr(Memory, "events", met)
    results = bank.tools().call_all([("grep_events", {"pattern": word}) for word in ("beagle", "porto", "x")])
    assert [bool(lines(result)) for result in results] == [True, True, True]
    assert "beagle" in results[0]
    assert "Porto" in results[1]


def test_what_fails_for_the_moment_is_tried_again(bank: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []
    events = Memory.events

    def locked(self: Memory, *args: Any, **kwargs: Any) -> Any:
        tries.append(1)
        if len(tries) < 3:
            raise Unavailable("bank 'story' is locked by another process")
        return events(self, *args, **kwargs)

    monkeypatch.setattr(Memory, "events", locked)
    tools = bank.tools(at=ASKED)
    assert lines(tools.call("grep_events", {"pattern": "beagle"}))
    assert len(tries) == 3
    monkeypatch.setattr(Memory, "events", lambda *a, **k: (_ for _ in ()).throw(Unavailable("locked")))
    assert json.loads(tools.call("grep_events", {"pattern": "beagle"})) == {"error": "locked"}


def test_a_tool_that_breaks_says_so_and_no_more(bank: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "recall", lambda *a, **k: 1 / 0)
    result = json.loads(bank.tools().call("search_turns", {"query": "x"}))
    assert result == {"error": "search_turns failed: ZeroDivisionError"}


def test_the_question_ranks_what_other_words_find(bank: Memory) -> None:
    found = bank.recall("Which dog does Ana have?", seek="Porto balcony rent", at=ASKED, kinds=["turn"])
    alone = bank.recall("Porto balcony rent", at=ASKED, kinds=["turn"])
    assert {one.id for one in found} == {one.id for one in alone}
    assert [one.id for one in found] != [one.id for one in alone]
    with pytest.raises(ValueError, match="seek is empty"):
        bank.recall("dog", seek=" ")


def test_events_are_found_by_their_words_too(bank: Memory) -> None:
    [hit, *_] = bank.grep("BEAGLE", calendar="events")
    start, end = hit.spans[0]
    assert hit.text[start:end].lower() == "beagle"
    assert bank.turn(hit.event.turns[0]).text.startswith("I adopted")
    window = (datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 2, 1, tzinfo=UTC))
    assert bank.grep("beagle", calendar="events", between=window) == []
    with pytest.raises(ValueError, match="use one of turns, events"):
        bank.grep("x", calendar="dreams")  # type: ignore[call-overload]
