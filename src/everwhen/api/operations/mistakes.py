"""What is wrong with an argument, in one sentence, the same at every door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from everwhen.errors import UsageError

_SENTENCES: Mapping[str, str] = {
    "missing": "{name} is missing",
    "string_type": "{name} must be text, not {kind}",
    "string_too_long": "{name} has {length:,} characters; {max_length:,} are allowed",
    "string_too_short": "{name} is empty; write something, or leave it out",
    "int_type": "{name} must be a whole number, not {shown}",
    "int_from_float": "{name} must be a whole number, not {shown}",
    "int_parsing": "{name} must be a whole number, not {shown}",
    "float_type": "{name} must be a number, not {shown}",
    "float_parsing": "{name} must be a number, not {shown}",
    "finite_number": "{name} must be a number, not {shown}",
    "bool_type": "{name} must be true or false, not {shown}",
    "bool_parsing": "{name} must be true or false, not {shown}",
    "greater_than": "{name} must be more than {gt:g}, not {shown}",
    "greater_than_equal": "{name} must be at least {ge:g}, not {shown}",
    "less_than_equal": "{name} must be at most {le:g}, not {shown}",
    "literal_error": "unknown {name} {shown}; use one of {among}",
    "too_short": "{name} takes at least {min_length}",
    "too_long": "{name} takes at most {max_length:,}",
    "list_type": "{name} takes a list, not {shown}",
}
_TYPES = ("str", "int", "float", "bool", "list", "dict", "tuple")


def usage_error(error: ValidationError | Sequence[Any], name: str = "") -> UsageError:
    """The first mistake; of a value that may be of several types, that of the type that it came furthest with.

    An argument that is not known goes before one that is missing: mostly it is that one, misspelt.
    """
    unknown = ("extra_forbidden", "unexpected_keyword_argument")
    first = max(
        error.errors(include_url=False) if isinstance(error, ValidationError) else error,
        key=lambda one: (len([part for part in one["loc"] if isinstance(part, int)]), one["type"] in unknown),
    )
    raised = first.get("ctx", {}).get("error")
    if isinstance(raised, UsageError):
        return raised
    if first["type"] in unknown:
        return UsageError(f"{str(first['loc'][-1])[:100]}: there is no such argument")
    # The types of a union are no part of a place.
    places = [str(one) for one in first["loc"] if isinstance(one, int) or str(one).isidentifier()]
    name = ".".join([*([name] if name else []), *(one for one in places if one not in _TYPES)]) or "the call"
    if raised is not None:
        return UsageError(f"{name} {raised}")
    given = first.get("input")
    shown = repr(given) if len(repr(given)) <= 80 else f"{repr(given)[:79]}…"
    words: dict[str, Any] = {
        **first.get("ctx", {}),
        "name": name,
        "kind": type(given).__name__,
        "shown": shown,
        "length": len(given) if isinstance(given, str) else 0,
    }
    if first["type"] == "literal_error":
        words["among"] = str(words["expected"]).replace("'", "").replace(" or ", ", ")
    kind = first["type"]
    if isinstance(given, str) and kind in ("too_short", "too_long"):
        kind = f"string_{kind}"
    known = _SENTENCES.get(kind)
    return UsageError(known.format(**words) if known else f"{name}: {first['msg']}")
