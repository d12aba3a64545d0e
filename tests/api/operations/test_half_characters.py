"""Text that is no text (half of a character, which JSON and Python hold and UTF-8 does not) in every argument."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import httpx
import pytest

from everwhen import Memory
from everwhen.api.operations.base import MODEL, MOMENT, STRETCH, Operation, Parameter, arguments_of
from everwhen.api.operations.surface import operations
from everwhen.errors import EverwhenError
from everwhen.serve.server_settings import ServerSettings

HALVES = ("\ud800", "2025-03-10\udfff", "last \ud83d week", "Ana\udc00")
FILL = {
    "query": "violin", "question": "violin?", "subject": "Ana", "predicate": "plays", "object": "violin",
    "messages": "hello", "pattern": "violin", "rule": "keep raw turns 9000 days", "expression": "today",
    "fact_id": "x", "ref": "x", "name": "Ana", "model": "fake", "conflict_id": 1, "choice": "x", "a": "Ana", "b": "Ben",
}  # fmt: skip


def written(one: Parameter, half: str) -> Iterator[Any]:
    """An argument of a kind that holds text, with half of a character in it."""
    if STRETCH in one.marks and MOMENT not in one.marks:
        yield from (half, [half], [half, "2025"], ["2025", half])
    elif one.name == "messages":
        for key in ("content", "name", "id", "session", "role", "zone", "timestamp"):
            yield [{"content": "x", key: half}]
    elif one.name == "metadata":
        yield from ({"a": half}, {half: 1}, {"a": [{half: half}]})
    elif any(get_origin(part) is Sequence for part in (one.plain, *get_args(one.plain))):
        yield from ([half], half)
    else:
        yield half


def holds_text(one: Parameter) -> bool:
    """Whether an argument that travels is text, or has text in it."""
    return one.travels and MODEL not in one.marks and one.name not in ("recipe",) and "str" in str(one.plain)


def calls() -> list[Any]:
    made = []
    for name, operation in operations().items():
        if operation.spec.route:
            for one in arguments_of(operation):
                if holds_text(one):
                    made.append(pytest.param(operation, one, id=f"{name}({one.name})"))
    return made


def required(operation: type[Operation[Any]], but: Parameter) -> dict[str, Any]:
    needed = [one for one in arguments_of(operation) if one.required and one.name != but.name]
    given = {one.name: FILL.get(one.name, "2025-03-10") for one in needed}
    return given | (
        {"dry_run": True} if any(one.name == "dry_run" for one in arguments_of(operation)) else {}
    )


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home = tmp_path_factory.mktemp("halves")
    with Memory.open(home, "a", embedder="fake", reader="none", cache_entries=0, extract="none") as opened:
        opened.add("I play the violin in Porto", session="s")
        yield opened


@pytest.mark.parametrize(("operation", "one"), calls())
def test_half_a_character_is_read_or_refused_in_a_sentence_that_can_be_written(
    memory: Memory, operation: type[Operation[Any]], one: Parameter
) -> None:
    for half in HALVES:
        for value in written(one, half):
            try:
                found = memory.perform(operation(**{**required(operation, one), one.name: value}))
                if isinstance(found, Iterator):
                    list(found)
            except EverwhenError as error:
                str(error).encode()


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    pytest.importorskip("fastapi")
    from tests.serve.conftest import serving

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "EMBEDDER": "fake",
            "READER": "none",
            "CACHE_ENTRIES": "0",
            "EXTRACT": "none",
        }.items():
            patch.setenv(f"EVERWHEN_{name}", value)
        settings = ServerSettings(
            tmp_path_factory.mktemp("served"), rate=1e6, burst=10**6, consolidate_seconds=0
        )
        with serving(settings) as served, served.client() as client:
            client.post("/banks/a/turns", json={"messages": "I play the violin in Porto", "session": "s"})
            yield client


@pytest.mark.parametrize(("operation", "one"), calls())
def test_half_a_character_over_http_is_never_an_error_of_the_server(
    http: httpx.Client, operation: type[Operation[Any]], one: Parameter
) -> None:
    spec = operation.spec
    if spec.method == "GET":
        pytest.skip("a query is UTF-8")
    path = spec.path.replace("{conflict_id}", "1")
    for name, value in FILL.items():
        path = path.replace(f"{{{name}}}", str(value))
    for half in HALVES:
        for value in written(one, half):
            given = {**spec.fixed, **required(operation, one), one.name: value}
            body = {spec.renamed.get(name, name): said for name, said in given.items()}
            headers = {"Content-Type": "application/json"}
            answer = http.request(spec.method, f"/banks/a{path}", content=json.dumps(body), headers=headers)
            assert answer.status_code < 500, answer.text
            if answer.status_code >= 400:
                assert len(answer.json()["detail"].splitlines()) == 1


def test_half_a_character_in_a_call_of_a_tool_is_told(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from mcp import Client

    from everwhen.serve.mcp.server import LocalMemory, MemoryServer

    async def talk() -> int:
        reach, told = LocalMemory(tmp_path, "a"), 0
        async with Client(MemoryServer(reach)) as client:
            for tool in (await client.list_tools()).tools:
                needed = {
                    name: FILL.get(name, "2025-03-10") for name in tool.input_schema.get("required", ())
                }
                for name in tool.input_schema["properties"]:
                    for half in HALVES:
                        answer = await client.call_tool(tool.name, {**needed, name: half})
                        text = answer.content[0].text  # type: ignore[union-attr]
                        assert text.encode() and "Error executing" not in text and "Encode" not in text, text
                        told += answer.is_error
        reach.close()
        return told

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERWHEN_EMBEDDER", "fake")
        patch.setenv("EVERWHEN_READER", "none")
        patch.setenv("EVERWHEN_EXTRACT", "none")
        assert asyncio.run(talk()) > 20
