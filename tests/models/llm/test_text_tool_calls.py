"""Calls that were written out as words are calls; everything else stays what the model said."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everwhen.models.llm.base import Tool, ToolResult, ToolResults, UserMessage
from everwhen.models.llm.pydantic_ai import PydanticAI
from everwhen.models.llm.pydantic_ai_requests import written_calls
from tests.scripted_server import ScriptedServer, text


def tool(name: str, *needed: str, also: tuple[str, ...] = ()) -> Tool:
    properties = {one: {"type": "string"} for one in (*needed, *also)}
    return Tool(name, "", {"type": "object", "properties": properties, "required": list(needed)})


TOOLS = [
    tool("search", "query", also=("since",)),
    tool("grep", "query"),
    tool("answer", "text", "known", also=("confidence",)),
]
CALL = '{"name": "search", "arguments": {"query": "violin"}}'


@pytest.mark.parametrize(
    "said",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"[{CALL}]",
        '{"name": "search", "parameters": {"query": "violin"}}',
        '{"type": "function", "function": {"name": "search", "arguments": "{\\"query\\": \\"violin\\"}"}}',
    ],
)
def test_a_call_in_any_dress_is_a_call(said: str) -> None:
    (call,) = written_calls(said, TOOLS)
    assert (call.name, json.loads(call.arguments)) == ("search", {"query": "violin"})


def test_several_calls_have_ids_of_their_own() -> None:
    calls = written_calls(f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>", TOOLS)
    assert len(calls) == len({call.id for call in calls}) == 2


def test_arguments_without_a_name_are_a_call_where_they_fit_one_tool_alone() -> None:
    (call,) = written_calls('{"text": "Basil", "known": true}', TOOLS)
    assert call.name == "answer"
    assert written_calls('{"query": "violin"}', TOOLS) == ()  # of search, or of grep


@pytest.mark.parametrize(
    "said",
    [
        "",
        "[]",
        "Basil.",
        "3",
        f"I would call {CALL}",
        f"{CALL} and that is all",
        '{"name": "forget", "arguments": {"query": "violin"}}',
        '{"name": "search", "arguments": ["violin"]}',
        '{"name": "search", "arguments": {"query": ',
        f'{CALL} {{"name": "forget", "arguments": {{}}}}',
    ],
)
def test_anything_else_is_what_the_model_said(said: str) -> None:
    assert written_calls(said, TOOLS) == ()


@given(st.text(alphabet='{}[]",:`<>/ abnametoolcall\\\n', max_size=200))
def test_no_text_breaks_the_reading(said: str) -> None:
    for call in written_calls(said, TOOLS):
        assert call.name in {one.name for one in TOOLS}


def test_the_next_request_tells_it_as_the_call_that_it_was() -> None:
    with ScriptedServer() as server:
        server.then(text(f"```json\n{CALL}\n```"), text("Basil."))
        llm = PydanticAI("openai:scripted", base_url=server.url)
        spoken = llm.converse([UserMessage("who?")], TOOLS)
        assert (spoken.text, len(spoken.calls)) == ("", 1)
        result = ToolResults((ToolResult(spoken.calls[0], "found"),))
        assert llm.converse([UserMessage("who?"), spoken, result], TOOLS).text == "Basil."
        said, gave = server.asked[1].body["messages"][-2:]
    assert said["tool_calls"][0]["function"]["name"] == "search"
    assert gave["tool_call_id"] == said["tool_calls"][0]["id"]
