"""JSON that has the shape a schema asks for, and now and then has not: for what describes itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.fuzz.nasty import json_values, mostly, numbers, stamps, text, words


def like(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> SearchStrategy[Any]:
    """Values of a schema; `root` is the document that its references lead into."""
    if "$ref" in schema:
        return like(_found(root, schema["$ref"]), root, depth)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return mostly(st.sampled_from(schema["enum"]))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return st.one_of([like(one, root, depth) for one in schema[key]])
    match schema.get("type"):
        case "object" if "properties" in schema and depth < 4:
            return mostly(_object(schema, root, depth))
        case "object":
            return mostly(st.dictionaries(text, json_values, max_size=3))
        case "array":
            return mostly(st.lists(like(schema.get("items", {}), root, depth + 1), max_size=3))
        case "string" if schema.get("format") == "date-time":
            return mostly(stamps)
        case "string":
            return st.one_of(words, text, stamps.map(str), st.sampled_from(schema.get("examples") or ["Ana"]))
        case "integer" | "number":
            return mostly(st.integers(0, 60), numbers)
        case "boolean":
            return mostly(st.booleans())
        case "null":
            return st.none()
    return json_values


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> SearchStrategy[dict[str, Any]]:
    needed = set(schema.get("required", ()))
    fields = {name: like(one, root, depth + 1) for name, one in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: field for name, field in fields.items() if name in needed},
        optional={name: field for name, field in fields.items() if name not in needed},
    )


def _found(root: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    here: Any = root
    for part in reference.removeprefix("#/").split("/"):
        here = here[part]
    assert isinstance(here, Mapping)
    return here
