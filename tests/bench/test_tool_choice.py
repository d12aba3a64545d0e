"""The bench of which tool a model picks, with models that pick from a script."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("mcp")
from everwhen.errors import UsageError
from everwhen.models.llm.fake import FakeLLM, FakeRequest
from everwhen_bench import tool_choice

REQUESTS = json.loads(tool_choice.DATA.read_text("utf-8"))


def right_tool(asked: FakeRequest) -> tuple[str, dict[str, str]]:
    return next(one["right"][-1] for one in REQUESTS["asked"] if one["request"] == asked.prompt), {}


def test_the_requests_name_tools_that_are_listed_and_every_tool_is_right_for_one() -> None:
    names = {one.name for one in tool_choice.offered()}
    assert len(REQUESTS["asked"]) == 31 and len(names) <= 9
    assert {name for one in REQUESTS["asked"] for name in one["right"]} == names
    assert {name for one in REQUESTS["wording"] for name in one["right"]} <= names
    asked, worded = ({one["request"] for one in REQUESTS[part]} for part in ("asked", "wording"))
    assert len(asked) == 31 and not asked & worded


def test_a_model_that_picks_right_scores_all_and_sees_the_tools_as_a_client_does() -> None:
    llm = FakeLLM([right_tool])
    result = tool_choice.run(llm)
    assert (result["right"], result["requests"], result["wrong"]) == (31, 31, {})
    assert [one.name for one in llm.asked[0].tools] == [one.name for one in tool_choice.offered()]
    assert tool_choice.INSTRUCTIONS in llm.asked[0].instructions


def test_a_model_that_always_searches_or_only_talks_is_right_where_that_is_right() -> None:
    searches = tool_choice.run(FakeLLM([("search_memories", {"query": "x"})]))
    assert searches["right"] == sum("search_memories" in one["right"] for one in REQUESTS["asked"]) < 15
    assert searches["wrong"]["When did Ana move to Porto?"] == "search_memories, not when"
    assert tool_choice.run(FakeLLM(["I do not know."]))["right"] == 0


def test_unknown_requests_are_refused() -> None:
    with pytest.raises(UsageError, match="there are no requests 'all'"):
        tool_choice.run(FakeLLM(["x"]), "all")
