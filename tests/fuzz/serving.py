"""Targets at the doors: MCP tools and HTTP routes, with payloads that are almost right and with plain noise."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.fuzz.nasty import json_values, mostly, text
from tests.fuzz.shapes import like
from tests.fuzz.target import target
from tests.fuzz.world import MARK, World
from tests.serve.api_description import api_description

EXPECTED = {200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 428}
"""What may come back: 500 is ours, and 503 is not due to anything that was sent."""


def _tools(world: World) -> SearchStrategy[tuple[str, Any]]:
    return st.one_of(
        [
            st.tuples(st.just(tool.name), like(tool.input_schema, tool.input_schema))
            for tool in world.mcp.tools
        ]
    )


@target(_tools, cases=120)
def any_tool_call(world: World, given: tuple[str, Any]) -> None:
    """JSON from this bank, or a sentence; nothing fails in a way that nobody planned."""
    tool, arguments = given
    if not isinstance(arguments, dict):
        arguments = {"query": arguments, "text": arguments}
    if tool == "forget":
        arguments["everything"] = False
    try:
        failed, said = world.mcp(tool, arguments)
    except (UnicodeEncodeError, ValueError) as error:
        assert "surrogates" in str(error) or "JSON" in str(error) or "utf-8" in str(error), (
            error
        )  # not sendable
        return
    assert not world.reach.unplanned, world.reach.unplanned.pop()
    assert MARK not in said and "Traceback" not in said
    if failed:
        assert said
    else:
        json.loads(said)


def _routes() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in api_description()["paths"].items()
        for method, operation in methods.items()
        if "{bank}" in path and (method, path) != ("delete", "/v1/banks/{bank}")
    ]


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    api = api_description()
    method, path, operation = draw(st.sampled_from(_routes()))
    bank = draw(mostly(st.just("served"), st.one_of(st.just("theirs"), text.filter(bool))))
    query: dict[str, Any] = {}
    for one in operation.get("parameters", ()):
        if one["in"] == "query" and draw(st.booleans()):
            query[one["name"]] = draw(st.one_of(like(one["schema"], api), text))
        elif one["in"] == "path" and one["name"] != "bank":
            path = path.replace(
                "{" + one["name"] + "}", quote(draw(text.filter(bool)).encode("utf-8", "replace"), safe="")
            )
    path = path.replace("{bank}", quote(bank.encode("utf-8", "replace"), safe=""))
    body: bytes | None = None
    declared = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if declared is not None or method in ("post", "patch", "delete"):
        shaped = draw(like(declared, api)) if declared else draw(json_values)
        if path.endswith("/ask") and isinstance(shaped, dict):
            shaped.pop("model", None)  # would look for a provider
        if path.endswith("/turns") and method == "delete" and isinstance(shaped, dict):
            shaped["everything"] = False
        body = json.dumps(shaped).encode()
        if draw(st.integers(0, 9)) == 0:
            body = draw(st.one_of(st.binary(max_size=60), st.just(body[: len(body) // 2])))
    return {"method": method, "path": path, "query": query, "body": body}


@target(requests(), cases=200)
def any_request(world: World, given: dict[str, Any]) -> None:
    """Never 500; a problem is one sentence; another bank is not reached with this key."""
    query = {
        key: json.dumps(value)
        if isinstance(value, dict | list)
        else str(value).encode("utf-8", "replace").decode()
        for key, value in given["query"].items()
        if value is not None
    }
    try:
        url = httpx.URL(str(world.http.base_url).removesuffix("/v1/") + given["path"], params=query)
    except httpx.InvalidURL:
        return
    answer = world.http.request(
        given["method"].upper(), url, content=given["body"], headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in EXPECTED, (answer.status_code, answer.text[:500])
    assert MARK not in answer.text and "Traceback" not in answer.text
    if answer.status_code >= 400:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert "\n" not in answer.json()["detail"]
    if "/banks/theirs" in str(url):
        assert answer.status_code in (400, 403, 404, 405, 413, 415, 422), answer.status_code
