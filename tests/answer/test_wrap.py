"""`everwhen.wrap`: real clients of `openai`, `anthropic` and pydantic-ai against a server on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import APIConnectionError, AsyncOpenAI, InternalServerError, OpenAI
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from everwhen import AsyncMemory, Context, Memory, UsageError, wrap
from everwhen.agents.wrapping.remembering import LONGEST_TOOL_TEXT
from tests.scripted_server import Asked, ScriptedServer, break_off, call, raw, status, text

BEFORE = datetime(2025, 3, 10, 9, 30, tzinfo=UTC)
NOW = datetime(2025, 3, 12, 18, 0, tzinfo=UTC)
TOLD = "My sister Marta keeps bees behind her house in Evora."
ASKED = "What does Marta keep behind her house?"
PROMPT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]
QUESTION = [{"role": "user", "content": ASKED}]
ANSWER = "Twelve hives, if I remember right."
TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": "Of a town.", "parameters": {"type": "object", "properties": {}}},
}  # fmt: skip


@pytest.fixture
def bank(quick: Memory) -> Memory:
    quick.add({"role": "user", "content": TOLD}, at=BEFORE)
    return quick


@pytest.fixture
def openai(server: ScriptedServer, bank: Memory) -> OpenAI:
    return wrap(OpenAI(base_url=server.url, api_key="none", max_retries=0), bank, clock=lambda: NOW)


@pytest.fixture
def anthropic(server: ScriptedServer, bank: Memory) -> Anthropic:
    return wrap(Anthropic(base_url=server.root, api_key="none", max_retries=0), bank, clock=lambda: NOW)


def added(memory: Memory) -> list[tuple[str, str]]:
    """What was added since the beginning of the test."""
    return [(turn.role, turn.text) for turn in memory.turns() if turn.said_at > BEFORE]


def system_of(asked: Asked) -> str:
    return "\n".join(one["content"] for one in asked.body["messages"] if one["role"] == "system")


# OpenAI


def test_memories_stand_beside_the_users_words_and_not_in_them(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text(ANSWER))
    reply = openai.chat.completions.create(model="m", messages=PROMPT)
    assert reply.choices[0].message.content == ANSWER
    sent = server.asked[0].body["messages"]
    assert [one["role"] for one in sent] == ["system", "system", "user"]
    assert sent[0]["content"].startswith("Be brief.") and sent[-1]["content"] == ASKED
    assert TOLD in sent[1]["content"]
    assert PROMPT[0]["content"] == "Be brief."  # what the caller holds is not changed
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


def test_what_is_known_stands_behind_the_callers_own_system_prompt(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    bank.facts.assert_("Marta", "lives in", "Evora", at=BEFORE)
    server.then(text(ANSWER))
    openai.chat.completions.create(model="m", messages=PROMPT)
    system = server.asked[0].body["messages"][0]["content"]
    assert system.startswith("Be brief.\n\n") and "Marta lives in Evora" in system


def test_a_conversation_that_goes_on_the_next_day_keeps_its_beginning(
    server: ScriptedServer, bank: Memory
) -> None:
    days = iter(NOW + timedelta(days=day, minutes=minute) for day in range(3) for minute in range(3))
    client = wrap(OpenAI(base_url=server.url, api_key="none", max_retries=0), bank, clock=lambda: next(days))
    bank.facts.assert_("Marta", "lives in", "Evora", at=BEFORE)
    server.then(text(ANSWER), text(ANSWER), text(ANSWER))
    client.chat.completions.create(model="m", messages=PROMPT)
    bank.facts.assert_("Marta", "lives in", "Faro", at=NOW)
    more = [*PROMPT, {"role": "assistant", "content": ANSWER}, {"role": "user", "content": "And Marta?"}]
    client.chat.completions.create(model="m", messages=more)
    client.chat.completions.create(model="m", messages=PROMPT)  # a new one begins with what is known by then
    first, second, other = (one.body["messages"] for one in server.asked)
    assert second[0] == first[0] and "Marta lives in Evora" in first[0]["content"]
    assert "- Marta lives in Faro" in system_of(server.asked[1])
    assert "Marta lives in Faro" in other[0]["content"] and "Evora" not in other[0]["content"]


def _chunks(client: OpenAI) -> str:
    stream = client.chat.completions.create(model="m", messages=QUESTION, stream=True)
    return "".join(one.choices[0].delta.content or "" for one in stream if one.choices)


def _events(client: OpenAI) -> str:
    with client.chat.completions.stream(model="m", messages=QUESTION) as stream:
        return stream.get_final_completion().choices[0].message.content or ""


def _raw(client: OpenAI) -> str:
    answer = client.chat.completions.with_raw_response.create(model="m", messages=QUESTION)
    return answer.parse().choices[0].message.content or ""


def _options(client: OpenAI) -> str:
    again = client.with_options(timeout=30).chat.completions.create(model="m", messages=QUESTION)
    return again.choices[0].message.content or ""


@pytest.mark.parametrize("way", [_chunks, _events, _raw, _options])
def test_every_way_to_call_openai_remembers(
    way: Callable[[OpenAI], str], openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text(ANSWER))
    assert way(openai) == ANSWER
    assert TOLD in system_of(server.asked[0])
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


class Bees(BaseModel):
    hives: int


def test_an_answer_of_a_given_shape_is_remembered_as_it_was_said(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text('{"hives": 12}'))
    reply = openai.chat.completions.parse(model="m", messages=QUESTION, response_format=Bees)
    assert reply.choices[0].message.parsed == Bees(hives=12)
    assert added(bank) == [("user", ASKED), ("assistant", '{"hives": 12}')]


def test_a_response_that_the_caller_reads_has_the_users_words_only(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text(ANSWER))
    with openai.chat.completions.with_streaming_response.create(model="m", messages=QUESTION) as response:
        assert ANSWER in response.read().decode()
    assert added(bank) == [("user", ASKED)]


def test_the_responses_api_remembers(openai: OpenAI, server: ScriptedServer, bank: Memory) -> None:
    bank.facts.assert_("Marta", "lives in", "Evora", at=BEFORE)
    part = {"type": "output_text", "text": ANSWER, "annotations": []}
    said = {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    whole = {
        "id": "r1", "object": "response", "created_at": 0, "model": "m", "output": [said], "status": "completed",
        "tools": [], "tool_choice": "auto", "parallel_tool_calls": True,
    }  # fmt: skip
    server.then(raw(json.dumps(whole)))
    assert openai.responses.create(model="m", input=ASKED, instructions="Be brief.").output_text == ANSWER
    body = server.asked[0].body
    assert body["instructions"].startswith("Be brief.\n\n") and "Marta lives in Evora" in body["instructions"]
    assert TOLD in body["input"][0]["content"] and body["input"][1]["content"] == ASKED
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


def test_a_stream_of_the_responses_api_is_remembered(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    pieces = [
        {"type": "response.output_text.delta", "delta": piece, "item_id": "m1", "output_index": 0,
         "content_index": 0, "sequence_number": place, "logprobs": []}
        for place, piece in enumerate(("Twelve hives, ", "if I remember right."))
    ]  # fmt: skip
    events = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in pieces)
    server.then(raw(events, "text/event-stream"))
    stream = openai.responses.create(model="m", input=ASKED, stream=True)
    assert "".join(one.delta for one in stream if one.type == "response.output_text.delta") == ANSWER
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


def test_tools_pass_untouched_and_their_results_are_kept_in_part(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(call("weather", {"town": "Evora"}), text("Bees like it warm."))
    messages: list[Any] = list(PROMPT)
    first = openai.chat.completions.create(model="m", messages=messages, tools=[TOOL]).choices[0].message
    assert first.tool_calls and first.tool_calls[0].function.arguments == '{"town": "Evora"}'
    assert added(bank) == [("user", ASKED)]
    result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "sunny " * 1000}
    messages += [first, result]
    openai.chat.completions.create(model="m", messages=messages, tools=[TOOL])
    before, after = (one.body["messages"] for one in server.asked)
    assert after[: len(before)] == before  # the memories of the first request stay in their place
    assert after[-1] == result and server.asked[1].body["tools"] == [TOOL]
    kept = added(bank)
    assert [role for role, _ in kept] == ["user", "tool", "assistant"]
    assert kept[1][1].startswith("sunny sunny") and len(kept[1][1]) < LONGEST_TOOL_TEXT + 10


def test_a_stream_that_breaks_off_is_remembered_as_far_as_it_came(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(break_off("Twelve hives, I th"))
    with pytest.raises(APIConnectionError):
        _chunks(openai)
    assert added(bank) == [("user", ASKED), ("assistant", "Twelve hives, I th")]


def test_a_call_that_fails_is_not_remembered(openai: OpenAI, server: ScriptedServer, bank: Memory) -> None:
    server.then(status(500), text(ANSWER))
    with pytest.raises(InternalServerError):
        openai.chat.completions.create(model="m", messages=QUESTION)
    assert added(bank) == []
    openai.chat.completions.create(model="m", messages=QUESTION)
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


def test_asking_for_another_answer_says_nothing_new(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text("Bees."), text("Honey bees, I think."))
    for _ in range(2):
        openai.chat.completions.create(model="m", messages=QUESTION)
    assert added(bank) == [("user", ASKED), ("assistant", "Bees."), ("assistant", "Honey bees, I think.")]


def test_what_a_model_repeats_of_its_memories_is_not_remembered_again(
    openai: OpenAI, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text("Your sister Marta keeps bees behind her house in Evora. Shall I look up honey prices?"))
    openai.chat.completions.create(model="m", messages=QUESTION)
    assert added(bank) == [("user", ASKED), ("assistant", "Shall I look up honey prices?")]


def test_a_memory_that_fails_breaks_no_call(
    openai: OpenAI, server: ScriptedServer, bank: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    bank.close()
    server.then(text(ANSWER), text(ANSWER))
    with caplog.at_level(logging.WARNING, "everwhen"):
        reply = openai.chat.completions.create(model="m", messages=QUESTION)
        assert _chunks(openai) == reply.choices[0].message.content == ANSWER
    assert server.asked[0].body["messages"] == QUESTION
    assert [one.message.partition(":")[0] for one in caplog.records] == [
        "nothing was recalled for this call, which goes on without",
        "this call was not remembered",
    ] * 2


def test_the_given_client_stays_as_it_was(server: ScriptedServer, bank: Memory) -> None:
    plain = OpenAI(base_url=server.url, api_key="none")
    assert plain.chat  # made before it is wrapped
    wrapped = wrap(plain, bank, clock=lambda: NOW)
    assert isinstance(wrapped, OpenAI)
    server.always(text(ANSWER))
    plain.chat.completions.create(model="m", messages=QUESTION)
    assert server.asked[0].body["messages"] == QUESTION and added(bank) == []
    wrapped.chat.completions.create(model="m", messages=QUESTION)
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


def test_the_caller_hears_what_was_recalled(server: ScriptedServer, bank: Memory) -> None:
    heard: list[Context] = []
    client = wrap(
        OpenAI(base_url=server.url, api_key="none"), bank, on_recall=heard.append, name="Ana", session="s"
    )
    server.then(text(ANSWER))
    client.chat.completions.create(model="m", messages=QUESTION)
    assert [one.text for one in heard[0].recall] == [TOLD]
    assert [(turn.speaker, turn.session) for turn in bank.turns()[1:]] == [("Ana", "s"), ("assistant", "s")]


def test_an_asynchronous_client_remembers_whole_answers_and_streams(
    server: ScriptedServer, bank: Memory
) -> None:
    async def talk() -> str:
        client = wrap(AsyncOpenAI(base_url=server.url, api_key="none"), AsyncMemory(bank), clock=lambda: NOW)
        await client.chat.completions.create(model="m", messages=QUESTION)
        other = [{"role": "user", "content": "And where is her house?"}]
        stream = await client.chat.completions.create(model="m", messages=other, stream=True)
        return "".join([one.choices[0].delta.content or "" async for one in stream if one.choices])

    server.then(text(ANSWER), text("In the south."))
    assert asyncio.run(talk()) == "In the south."
    assert TOLD in system_of(server.asked[0]) and TOLD in system_of(server.asked[1])
    assert added(bank) == [
        ("user", ASKED),
        ("assistant", ANSWER),
        ("user", "And where is her house?"),
        ("assistant", "In the south."),
    ]


# Anthropic


def test_a_request_to_anthropic_is_marked_for_its_cache(
    anthropic: Anthropic, server: ScriptedServer, bank: Memory
) -> None:
    bank.facts.assert_("Marta", "lives in", "Evora", at=BEFORE)
    server.then(text(ANSWER))
    history: list[Any] = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi!"}]
    anthropic.messages.create(model="m", max_tokens=99, system="Be brief.", messages=[*history, *QUESTION])
    body = server.asked[0].body
    own, known = body["system"]
    assert own == {"type": "text", "text": "Be brief."}
    assert "Marta lives in Evora" in known["text"] and known["cache_control"] == {"type": "ephemeral"}
    marked = {"type": "text", "text": "Hi!", "cache_control": {"type": "ephemeral"}}
    assert body["messages"][:2] == [history[0], {"role": "assistant", "content": [marked]}]
    fresh, said = body["messages"][2]["content"]
    assert TOLD in fresh["text"] and said == {"type": "text", "text": ASKED}
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


def test_an_answer_that_the_caller_began_is_remembered_with_the_question(
    anthropic: Anthropic, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text("keeps twelve hives."))
    begun: list[Any] = [*QUESTION, {"role": "assistant", "content": "Marta"}]
    anthropic.messages.create(model="m", max_tokens=99, messages=begun)
    sent = server.asked[0].body["messages"]
    assert sent[-1]["content"] == "Marta" and TOLD in sent[0]["content"][0]["text"]
    assert added(bank) == [("user", ASKED), ("assistant", "keeps twelve hives.")]


def test_a_stream_of_anthropics_is_remembered(
    anthropic: Anthropic, server: ScriptedServer, bank: Memory
) -> None:
    server.then(text(ANSWER))
    with anthropic.messages.stream(model="m", max_tokens=99, messages=QUESTION) as stream:
        assert "".join(stream.text_stream) == ANSWER
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


def test_results_of_anthropics_tools_stay_first_in_their_message(
    anthropic: Anthropic, server: ScriptedServer, bank: Memory
) -> None:
    server.then(call("weather", {"town": "Evora"}), text("Bees like it warm."))
    tools: list[Any] = [{"name": "weather", "description": "Of a town.", "input_schema": {"type": "object"}}]
    first = anthropic.messages.create(model="m", max_tokens=99, messages=QUESTION, tools=tools)
    result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "sunny"}
    history: list[Any] = [
        *QUESTION,
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result]},
    ]
    anthropic.messages.create(model="m", max_tokens=99, messages=history, tools=tools)
    before, after = (one.body["messages"] for one in server.asked)
    assert after[0] == before[0] and after[2]["content"] == [result]
    assert added(bank) == [("user", ASKED), ("tool", "sunny"), ("assistant", "Bees like it warm.")]


def test_an_asynchronous_client_of_anthropics_remembers(server: ScriptedServer, bank: Memory) -> None:
    async def talk() -> None:
        client = wrap(AsyncAnthropic(base_url=server.root, api_key="none"), bank, clock=lambda: NOW)
        async with client.messages.stream(model="m", max_tokens=99, messages=QUESTION) as stream:
            assert await stream.get_final_text() == ANSWER

    server.then(text(ANSWER))
    asyncio.run(talk())
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


# pydantic-ai


@pytest.fixture
def agent(server: ScriptedServer, bank: Memory) -> Iterator[Agent[None, str]]:
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=server.url, api_key="none"))
    plain = Agent(model, instructions="Be brief.")

    @plain.tool_plain
    def weather(town: str) -> str:
        return f"sunny in {town}"

    yield wrap(plain, bank, clock=lambda: NOW)


def test_an_agent_remembers_its_runs_and_gets_what_was_said_before(
    agent: Agent[None, str], server: ScriptedServer, bank: Memory
) -> None:
    bank.facts.assert_("Marta", "lives in", "Evora", at=BEFORE)
    server.then(call("weather", {"town": "Evora"}), text(ANSWER))
    result = agent.run_sync(ASKED)
    assert result.output == ANSWER
    for asked in server.asked:
        assert TOLD in system_of(asked) and "Marta lives in Evora" in system_of(asked)
        assert [one["content"] for one in asked.body["messages"] if one["role"] == "user"] == [ASKED]
    assert "bees" not in result.all_messages_json().decode().replace(ASKED, "")
    assert added(bank) == [("user", ASKED), ("tool", "sunny in Evora"), ("assistant", ANSWER)]


def test_an_agent_that_streams_remembers(
    agent: Agent[None, str], server: ScriptedServer, bank: Memory
) -> None:
    async def talk() -> str:
        async with agent.run_stream(ASKED) as stream:
            return await stream.get_output()

    server.then(text(ANSWER))
    assert asyncio.run(talk()) == ANSWER
    assert TOLD in system_of(server.asked[0])
    assert added(bank) == [("user", ASKED), ("assistant", ANSWER)]


# What can be wrapped


def test_without_a_memory_the_default_bank_is_used(server: ScriptedServer, home: Any) -> None:
    server.then(text(ANSWER))
    client = wrap(OpenAI(base_url=server.url, api_key="none"))
    client.chat.completions.create(model="m", messages=QUESTION)
    with Memory.open(home) as memory:
        assert [turn.text for turn in memory.turns()] == [ASKED, ANSWER]


def test_what_cannot_be_wrapped_is_refused_with_what_can(bank: Memory) -> None:
    with pytest.raises(UsageError, match=r"a client of the packages openai or anthropic.*not builtins\.dict"):
        wrap({}, bank)
    with pytest.raises(UsageError, match="a Memory, an AsyncMemory or a Client, not str"):
        wrap(OpenAI(api_key="none"), "ana")  # type: ignore[arg-type]
