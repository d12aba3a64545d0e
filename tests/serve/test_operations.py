"""Every operation at every door: the HTTP API, the client and the tools take its arguments and no others.

An argument may be called otherwise, be left out, or be added where a door has a reason for it: those are listed here.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("mcp")

from everwhen import AsyncClient, Client
from everwhen.api.operations.base import MOMENT, STRETCH, Operation, Parameter, arguments_of
from everwhen.api.operations.surface import operations
from everwhen.serve.mcp.tools import PAGES, TOOLS
from tests.serve.api_description import api_description

ALL = operations()
ROUTED = {name: one for name, one in ALL.items() if one.spec.route}
BESIDE = {
    "recall": {"include_metadata", "without"},  # how much is sent, and stages to leave out of a recipe
    "facts.current": {"history", "as_of", "known_at", "versions"},  # one address for four operations
    "facts.as_of": {"history", "now", "versions"},
    "facts.history": {"history", "now", "as_of", "known_at"},
    "facts.about": {"history", "now", "as_of", "known_at", "predicate"},
    "facts.report_missing": {"kind"},
    "facts.report_change": {"kind"},
    "tree": {"from", "to"},  # a stretch of time instead of an instant
}
"""What a request takes beside the arguments."""
DEFAULTS = {("facts.stale", "limit"): 100}
"""Defaults of the HTTP API that are its own."""
OWN = {
    "forget": {"token"},
    "add_memory": {"text", "role", "name", "id"},
    "search_turns": {"query", "match"},
    "timeline": {"status"},
    "get_facts": {"history"},
    "review_facts": {"decision"},
}
"""Arguments of tools that no operation has."""
OWN_DEFAULTS = {
    ("forget", "dry_run"): True,
    ("get_facts", "as_of"): None,
    ("review_facts", "fact_id"): None,
}
"""Defaults of tools that are their own: nothing is forgotten by mistake, and one tool stands for two operations."""


@pytest.fixture(scope="module")
def api() -> dict[str, Any]:
    return api_description()


def carried(operation: type[Operation[Any]]) -> Iterator[tuple[str, Parameter]]:
    """The arguments that travel, under their names in a request."""
    for one in arguments_of(operation):
        if one.travels:
            yield operation.spec.renamed.get(one.name, one.name), one


def described(api: dict[str, Any], operation: type[Operation[Any]]) -> dict[str, tuple[bool, Any]]:
    """What a route takes: for each name whether it is needed, and its default."""
    route = api["paths"][f"/v1/banks/{{bank}}{operation.spec.path}"][operation.spec.method.lower()]
    taken = {
        one["name"]: (one["required"], one["schema"].get("default"))
        for one in route.get("parameters", ())
        if one["in"] != "header" and one["name"] != "bank"
    }
    if "requestBody" in route:
        name = route["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        body = api["components"]["schemas"][name]
        assert body["additionalProperties"] is False
        needed = body.get("required", ())
        taken |= {
            name: (name in needed, one.get("default")) for name, one in body.get("properties", {}).items()
        }
    return taken


@pytest.mark.parametrize("name", ROUTED)
def test_a_route_takes_the_arguments_of_its_operation(name: str, api: dict[str, Any]) -> None:
    operation = ROUTED[name]
    taken = described(api, operation)
    shared = len([one for one in ROUTED.values() if one.spec.route == operation.spec.route]) > 1
    expected: dict[str, tuple[bool, Any]] = {}
    for wire, one in carried(operation):
        if STRETCH in one.marks and MOMENT not in one.marks and operation.spec.method == "GET":
            expected |= {"from": (False, None), "to": (False, None)}
            continue
        left_out = not one.required or one.optional
        default = DEFAULTS.get((name, wire), None if one.required else one.default)
        expected[wire] = (not left_out, list(default) if isinstance(default, tuple) else default)
    beside = BESIDE.get(name, set()) | ({"cursor", "limit"} if operation.spec.paged else set())
    assert taken.keys() == expected.keys() | beside
    for wire, (needed, default) in expected.items():
        assert taken[wire][1] == default, wire
        # Of several operations at one address each may need what another does not.
        assert taken[wire][0] == needed or (shared and needed), wire


@pytest.mark.parametrize("name", ROUTED)
def test_a_route_is_called_and_guarded_as_its_operation_says(name: str, api: dict[str, Any]) -> None:
    spec = ROUTED[name].spec
    route = api["paths"][f"/v1/banks/{{bank}}{spec.path}"][spec.method.lower()]
    assert name.strip("_").replace(".", "_").startswith(route["operationId"])
    assert (route["x-scope"], route["x-operation"]) == (spec.scope, spec.traced)
    assert str(spec.status) in route["responses"] and route["description"]
    headers = {one["name"] for one in route["parameters"] if one["in"] == "header"}
    assert headers == ({"Idempotency-Key"} if spec.writes else set()) | (
        {"If-Match"} if spec.guarded else set()
    )


def test_no_two_routes_have_one_name(api: dict[str, Any]) -> None:
    names = [route["operationId"] for path in api["paths"].values() for route in path.values()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ALL)
def test_a_method_of_the_client_takes_the_arguments_of_its_operation(name: str) -> None:
    if name in ("reembed", "backup"):  # the files of a bank are where it lies
        assert not hasattr(Client, name)
        return
    part, _, method = name.rpartition(".")
    for client in (Client, AsyncClient):
        facts: Any = client.facts
        door: Any = inspect.get_annotations(facts.fget, eval_str=True)["return"] if part else client
        signature = inspect.signature(getattr(door, method))
        given = [one for one in signature.parameters.values() if one.name != "self"]
        assert [(one.name, one.default) for one in given] == [
            (one.name, one.default) for one in arguments_of(ALL[name])
        ]


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_offers_arguments_of_its_operation(name: str) -> None:
    tool = TOOLS[name]
    schema = tool.parameters
    theirs = dict(carried(tool.operation))
    shared = set(PAGES)
    timed = any({MOMENT, STRETCH} & theirs[one].marks for one in schema["properties"] if one in theirs)
    assert schema["properties"].keys() <= theirs.keys() | shared | OWN.get(name, set()) | (
        {"zone"} if timed else set()
    )
    for argument, described in schema["properties"].items():
        if argument in shared or argument not in theirs:
            continue
        one = theirs[argument]
        default = OWN_DEFAULTS.get((name, argument), None if one.required else one.default)
        needed = one.required and (name, argument) not in OWN_DEFAULTS
        assert (argument in schema.get("required", ())) == needed, argument
        assert described.get("default") == default, argument
    assert timed == ("zone" in schema["properties"])


def test_what_a_client_of_tools_sees_is_json() -> None:
    for tool in TOOLS.values():
        json.dumps(tool.parameters)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is not tool.operation.spec.writes
