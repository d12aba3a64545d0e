"""Whether metadata matches a filter: the same rule on every database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def contains(metadata: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether every wanted key is there with the wanted value."""
    return all(key in metadata and same(metadata[key], value) for key, value in wanted.items())


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: `1` is `1.0` and is not `true`; the order of an object's keys says nothing."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
