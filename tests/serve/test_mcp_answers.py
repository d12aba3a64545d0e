"""What MCP tools answer: inside `max_tokens`, in pages, with refusals that a model can act on, from a short list."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("mcp")
from mcp import Client as McpClient
from mcp import MCPError

from everwhen import Memory
from everwhen.models.embedder import count_tokens
from everwhen.serve.mcp.results import LEAST, fit, name_of, page
from everwhen.serve.mcp.server import COMMANDS, LocalMemory, MemoryServer, in_tools
from tests.serve.conftest import Served
from tests.serve.test_mcp import TOOLS, WRITING, at_http, call, prompted, refused

START = datetime(2025, 1, 1, 9, tzinfo=UTC)
ODD = (
    "violin",
    "Porto",
    "🎻🪗",
    "ヴァイオリン",
    "скрипка",
    "\u202eolleh",
    "a\u0301",
    '"}]',
    "\\n\t",
    "Ⅷ½",
    "<|endoftext|>",
    "x" * 60,
)
READING = {
    "search_memories": {"query": "which violin did Ana buy"},
    "search_turns": {},
    "when": {"query": "when did Ana buy a violin"},
    "timeline": {},
    "get_facts": {},
}
LISTS = {"search_turns": "turns", "timeline": "entries", "get_facts": "facts"}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalMemory]:
    """A bank of turns that are long, short and strange, and facts of every length."""
    home = tmp_path_factory.mktemp("odd")
    dice = random.Random(7)
    with Memory.open(home, "ana", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add_many(
            {
                "role": dice.choice(["user", "assistant"]),
                "name": dice.choice(["Ana", "Bo " + "🎻" * 40, None]),
                "content": " ".join(
                    [
                        "I bought a violin in Porto yesterday.",
                        *dice.choices(ODD, k=150 if count == 9 else count % 4),
                    ]
                ),
                "timestamp": (START + timedelta(hours=7 * count)).isoformat(),
                "session": f"s{count // 5}" + "会" * dice.choice([0, 0, 60]),
                "metadata": {"where": dice.choices(ODD, k=9), "count": count},
            }
            for count in range(16)
        )
        for count in range(20):
            words = " ".join(dice.choices(ODD, k=dice.choice([1, 3, 30])))
            since = START + timedelta(days=count)
            memory.facts.assert_("Ana", f"likes {count % 9}", words[:1900], valid_from=since)
        memory.process()
    reach = LocalMemory(home, "ana")
    yield reach
    reach.close()


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalMemory]:
    """A bank in which something happened on each of 30 days."""
    home = tmp_path_factory.mktemp("days")
    with Memory.open(home, "ana", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add_many(
            {
                "name": "Ana",
                "content": f"I bought violin {count} today.",
                "timestamp": (START + timedelta(days=count)).isoformat(),
                "session": f"s{count}",
            }
            for count in range(30)
        )
        memory.process()
    reach = LocalMemory(home, "ana")
    yield reach
    reach.close()


def talk(reach: LocalMemory, said: Callable[[McpClient], Coroutine[Any, Any, Any]]) -> Any:
    async def within() -> Any:
        async with McpClient(MemoryServer(reach)) as client:
            return await said(client)

    return asyncio.run(within())


def everything_sent(answer: Any) -> str:
    """An answer as it goes over the wire, less the envelope: the larger of its text and its structured content."""
    text = "".join(block.text for block in answer.content)
    return max(text, json.dumps(answer.structured_content or "", ensure_ascii=False), key=count_tokens)


def test_no_answer_is_longer_than_max_tokens(odd: LocalMemory) -> None:
    async def said(client: McpClient) -> None:
        for tool, asked in READING.items():
            for most in (None, LEAST, 200, 333, 512, 1024):
                bounds = {} if most is None else {"max_tokens": most}
                if tool in LISTS:
                    bounds["limit"] = 200
                answer = await client.call_tool(tool, asked | bounds)
                assert not answer.is_error, answer.content
                assert answer.structured_content is None, "sent twice"
                assert count_tokens(everything_sent(answer)) <= (most or 4096), (tool, most)
                json.loads(everything_sent(answer))

    talk(odd, said)


words = st.text(max_size=60) | st.sampled_from(ODD)
entry = st.fixed_dictionaries(
    {"id": words, "text": words, "turns": st.lists(words, max_size=5), "score": st.floats(0, 1)}
)


@settings(max_examples=60, deadline=None)
@given(st.lists(entry, max_size=12), st.integers(LEAST, 600), st.booleans())
def test_any_list_fits_and_nothing_is_shown_out_of_order(items: list[Any], most: int, newest: bool) -> None:
    text = page(
        "found", items, dict, name_of, cursor=None, limit=10, max_tokens=most, newest=newest
    )  # fmt: skip
    assert count_tokens(text) <= most
    answer = json.loads(text)
    shown = answer["found"]
    assert answer["more"] is (len(shown) < len(items))
    if any("cut" in one for one in shown):
        assert len(shown) == 1, "only what is too long alone is shortened"
    else:
        assert shown == (items[len(items) - len(shown) :] if newest else items[: len(shown)])


def test_a_memory_longer_than_the_room_is_shortened_rather_than_lost(home: Path) -> None:
    with Memory.open(home, "ana", embedder="fake", reader="none", cache_entries=0) as memory:
        memory.add(
            {"name": "Ana", "content": "The violin is under the stairs. " + "And the cello sings. " * 400}
        )
    reach = LocalMemory(home, "ana")
    try:
        for tool, name in (("search_memories", "memories"), ("search_turns", "turns")):
            (one,) = talk(reach, lambda client: call(client, tool, query="violin", max_tokens=256))[name]  # noqa: B023
            assert one["text"].startswith("The violin is under the stairs.") and one["text"].endswith("…")
            assert one["cut"] is True
            assert count_tokens(one["text"]) > 100, "there was room for more"
    finally:
        reach.close()


def test_an_id_is_never_cut() -> None:
    item = {"id": "🎻" * 400, "text": "short"}
    assert json.loads(fit([item], lambda kept: {"found": list(kept)}, LEAST)) == {"found": []}


def test_what_is_cut_is_the_oldest_and_the_cursor_goes_on_to_it(days: LocalMemory) -> None:
    async def said(client: McpClient) -> list[list[dict[str, Any]]]:
        pages, cursor = [], {}
        while True:
            answer = await call(client, "timeline", limit=20, max_tokens=800, **cursor)
            pages.append(answer["entries"])
            if not answer["more"]:
                return pages
            cursor = {"cursor": answer["cursor"]}

    pages = talk(days, said)
    assert len(pages) >= 3
    assert "violin 29" in json.dumps(pages[0][-3:]), "the first page ends with the newest"
    told = [int(number) for one in reversed(pages) for number in re.findall(r"violin (\d+)", json.dumps(one))]
    assert sorted(set(told)) == list(range(30)), "all pages together hold everything"
    assert told == sorted(told), "each page is in the order of time, and each next page is older"


def test_every_list_can_be_read_to_its_end_in_pages(odd: LocalMemory) -> None:
    async def said(client: McpClient) -> None:
        for tool, name in LISTS.items():
            whole = (await call(client, tool, **READING[tool], limit=200, max_tokens=100_000))[name]
            seen: list[Any] = []
            cursor: dict[str, str] = {}
            while True:
                answer = await call(client, tool, **READING[tool], limit=7, max_tokens=2000, **cursor)
                seen = answer[name] + seen if tool == "timeline" else seen + answer[name]
                if not answer["more"]:
                    break
                cursor = {"cursor": answer["cursor"]}
            uncut = [one for one in seen if "cut" not in one]
            assert len(seen) == len(whole) > 7 and [one for one in whole if one in uncut] == uncut, tool

    talk(odd, said)


@pytest.mark.parametrize("tool", sorted(LISTS))
def test_an_unknown_cursor_is_refused(odd: LocalMemory, tool: str) -> None:
    said = talk(odd, lambda client: refused(client, tool, **READING[tool], cursor="0ddba11"))
    assert (
        said
        == "cursor '0ddba11' is not one that this tool gave for these arguments; leave it out to begin anew"
    )


def test_an_unknown_argument_is_refused_with_those_that_exist(odd: LocalMemory) -> None:
    async def said(client: McpClient) -> None:
        listed = {
            tool.name: list(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools
        }
        for tool, names in listed.items():
            told = await refused(client, tool, **READING.get(tool, {}), nonsense=1)
            assert told == f"{tool} has no argument nonsense; it takes {', '.join(names)}"

    talk(odd, said)


def test_every_search_takes_a_query(days: LocalMemory) -> None:
    async def said(client: McpClient) -> None:
        for tool in ("search_memories", "search_turns", "when"):
            assert "violin 7" in json.dumps(await call(client, tool, query="violin 7")), tool
        found = await call(client, "timeline", query="violin 7")
        assert found == await call(client, "timeline", about="violin 7")
        session = (await call(client, "search_turns", query="violin", session="s9"))["turns"]
        assert [turn["session"] for turn in session] == ["s9"]
        told = await refused(client, "timeline", about="violin", query="cello")
        assert told.startswith("timeline has no argument query; it takes about, ")

    talk(days, said)


def test_a_match_of_words_is_exact_and_stays_in_its_session(days: LocalMemory) -> None:
    async def said(client: McpClient) -> None:
        one = await call(client, "search_turns", query="violin 1 ", match="words")
        assert [turn["session"] for turn in one["turns"]] == ["s1"]
        several = await call(client, "search_turns", query=r"violin [12] ", match="regex")
        assert [turn["session"] for turn in several["turns"]] == ["s1", "s2"]
        inside = await call(client, "search_turns", query="violin", match="words", session="s29", limit=1)
        assert [turn["session"] for turn in inside["turns"]] == ["s29"] and inside["more"] is False

    talk(days, said)


def test_prompts_stay_inside_their_budget_and_refuse_in_one_sentence(odd: LocalMemory) -> None:
    async def said(client: McpClient) -> None:
        for name, arguments in (
            ("what_do_you_know", {"about": "Ana"}),
            ("what_happened", {"between": "January 2025"}),
            ("what_is_planned", {}),
        ):
            text = await prompted(client, name, **arguments)
            assert count_tokens(text) <= 4096 and "<memory>" in text
        with pytest.raises(MCPError) as refused:
            await client.get_prompt("what_happened", {"between": "the day of the fox"})
        assert str(refused.value).startswith("between: 'the day of the fox' is no time")
        assert "\n" not in str(refused.value)

    talk(odd, said)


def test_refusals_speak_of_tools_and_their_arguments(odd: LocalMemory) -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("search_memories", {}, "search_memories: query is missing (A question or what to look for)"),
        (
            "search_memories",
            {"query": "x", "budget": "max"},
            "unknown budget 'max'; use one of low, mid, high (",
        ),
        (
            "search_memories",
            {"query": "x", "max_tokens": 1},
            f"max_tokens must be at least {LEAST}, not 1 (",
        ),
        ("timeline", {"between": "someday"}, "between: 'someday' is no time that everwhen knows"),
        (
            "search_memories",
            {"query": "x", "kinds": "turn"},
            "search_memories: kinds takes a list, such as kinds=['turn'] (turn: words",
        ),
        ("timeline", {"limit": "many"}, "timeline: limit must be a whole number"),
        ("forget", {"session": "zz"}, "there is no session 'zz'; `search_turns` lists them"),
        ("forget", {"turns": ["zz"]}, "there is no turn 'zz' in bank 'ana'; `search_turns` lists them"),
        ("forget", {"entity": "Zoe"}, "`timeline` lists the names, `search_turns` finds words"),
        ("get_facts", {"history": True}, "history of what? give a subject"),
        (
            "get_facts",
            {"subject": "Ana", "history": True, "as_of": "2025"},
            "history covers all times; leave out as_of and known_at",
        ),
        ("forget", {}, "forget what? Name turns, a session"),
    ]

    async def said(client: McpClient) -> None:
        for tool, arguments, expected in calls:
            told = await refused(client, tool, **arguments)
            assert expected in told and "\n" not in told
            assert not re.search(r"pydantic|validation error|Arguments|`everwhen|input_value|=True", told), (
                told
            )
        told = await refused(client, "forget", entity="Zoe " * 5000)
        assert len(told) <= 600

    talk(odd, said)


def test_a_bank_that_is_not_there_says_which_tool_makes_it(served: Served) -> None:
    async def said() -> str:
        async with at_http(served, served.key("read", "new"), "new") as client:
            return await refused(client, "timeline")

    assert asyncio.run(said()) == "there is no bank 'new'; a first `add_memory` makes it"


def test_commands_in_errors_become_tools_or_are_for_a_terminal() -> None:
    assert set(COMMANDS.values()) <= TOOLS
    assert (
        in_tools("see `everwhen facts history` and `everwhen show turns --session s`")
        == "see `get_facts` and `search_turns`"
    )
    assert (
        in_tools("`everwhen bank doctor` says where")
        == "the command `everwhen bank doctor` in a terminal says where"
    )


def test_the_list_of_tools_costs_at_most_3000_tokens(served: Served) -> None:
    async def listed() -> Any:
        async with at_http(served, served.key("read", "ana"), "ana") as client:
            return await client.list_tools()

    answer = asyncio.run(listed())
    assert {tool.name for tool in answer.tools} == TOOLS
    assert count_tokens(answer.model_dump_json(by_alias=True, exclude_none=True)) <= 3000


def test_every_argument_that_chooses_says_what_its_values_mean(odd: LocalMemory) -> None:
    async def said(client: McpClient) -> dict[str, Any]:
        listed = (await client.list_tools()).tools
        for tool in listed:
            assert tool.input_schema["additionalProperties"] is False and tool.output_schema is None
            if tool.name not in WRITING:
                assert tool.input_schema["properties"]["max_tokens"]["default"] == 4096
        return next(tool for tool in listed if tool.name == "search_memories").input_schema["properties"]

    search = talk(odd, said)
    for name in ("kinds", "networks", "budget"):
        values = search[name].get("enum") or search[name]["items"]["enum"]
        unexplained = [value for value in values if value not in search[name]["description"]]
        assert unexplained in ([], ["mid"]), name
