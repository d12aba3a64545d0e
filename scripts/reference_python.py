"""The page of the Python methods: operations with their arguments, and the types that they give back."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from datetime import datetime
from types import UnionType
from typing import Any, Union, get_args, get_origin

from reference_markdown import attribute_docs, code, doc, head, sentence, table

GROUPS = {
    "Remember and read": "add add_many turns turn turns_around sessions grep",
    "Find what helps": "recall context accessed",
    "Time": "when compare timeline",
    "Answers": "ask ask_stream usage",
    "Events and entities": "events entities entity merge_entities split_entity rename_entity undo_entities mentions "
    "seen_with links",
    "Tree": "consolidate tree profile",
    "Look after a bank": "flush process reextract forget set_retention retain export import_ backup reembed stats "
    "doctor",
}
"""The methods of a memory in the order of the page; what is missing here comes last, under "More"."""

COMMON = {
    "messages": "A string, a dict (`role`, `content`, `name`, `timestamp`, `id`), or a list of them.",
    "at": 'The moment it is said or asked; now by default. "Yesterday" counts from it.',
    "now": "The moment to answer for; the present by default.",
    "zone": "IANA zone or offset of times that have none; the bank's by default.",
    "metadata": "A JSON object: kept with the message, or what a memory's must hold.",
    "before": "Only what was said before.",
    "after": "Only what was said after.",
    "progress": "A function that is called with the number done.",
    "subject": "Whom or what the fact is about.",
    "predicate": "What is said of it, such as `lives in`.",
    "object": "The value, such as `Porto`.",
    "path": "The file.",
    "limit": "How many at most.",
    "between": "When it was said, or happened.",
    "session": "A conversation.",
    "valid_from": "When it began to be true; `at` by default (`correct`: since the value that it replaces).",
    "valid_to": "When it stopped being true; open by default.",
    "domain": "What kind of fact it is, such as `project_status`: it decides how fast the fact gets old.",
    "confidence": "How sure it is, from 0 to 1.",
    "reason": "Why, in your own words; kept with the change.",
    "timeout": "Seconds to wait at most.",
    "question": "The question.",
    "instant": "The moment to answer for.",
    "conflict_id": "The id of a conflict of `facts.review`.",
    "on": "The day in the world on which it ended.",
    "fix": "Repair what can be rebuilt.",
    "turns": "The ids of turns.",
    "names": "Some of the names that it goes by.",
    "model": "A language model by its name, or one that is open; for `reembed` an embedding model by its name.",
    "rule": "Such as `keep raw turns 90 days, summaries for ever`.",
    "regex": "Whether the pattern is a regular expression.",
    "overwrite": "Replace a file that is there.",
    "threshold": "The confidence below which a fact is stale.",
    "turn_id": "The id of a turn.",
    "fact_id": "The id of a fact.",
    "name": "A name, another name, or an id.",
    "recipe": "How recall is put together; instead of `budget`.",
    "source": "The id of the turn that says so.",
    "sources": "The ids of the turns that say so.",
    "dry_run": "Only say what would happen.",
}
"""What an argument is, where its operation does not say it: these mean the same everywhere."""


def python_page() -> str:
    from everwhen import Memory
    from everwhen.api.operations.surface import FactMethods, operations

    lines = head("Python", "Every method of a memory, with its arguments, their defaults and the result.")
    lines += [
        "`Memory`, `AsyncMemory` (coroutines), `Client` and `AsyncClient` (on a [server](../serve.md)) have these",
        'methods. A *time* is an aware `datetime`, ISO 8601, or words such as `"last Friday"`; a *stretch* is an',
        'expression (`"last week"`), an `Interval`, or a pair of times.',
        "",
        "## Open a memory",
        "",
        "```text",
        f"Memory.open({_parameters(Memory.open)}) -> Memory",
        "```",
        "",
        doc(Memory.open),
        "",
        "Settings are arguments too: [all of them](settings.md).",
        "",
        "## Without a bank that is open",
        "",
        *_class_method("restore", "int"),
        *_class_method("salvage", "int"),
    ]
    named = operations()
    left = [name for name in named if not name.startswith("facts.")]
    for title, wanted in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in wanted.split():
            if name == "ask_stream":
                lines += [
                    "### ask_stream",
                    "",
                    "The same as `ask`, as it comes: pieces of text, and at last the `Answer`.",
                    "",
                ]
            else:
                lines += _method(name, named[name])
                left.remove(name)
    if left:
        lines += ["## More", ""]
        lines += [line for name in left for line in _method(name, named[name])]
    lines += ["## Facts", "", doc(FactMethods) + " Methods of `memory.facts`; [the guide](../facts.md).", ""]
    lines += [line for name, one in named.items() if name.startswith("facts.") for line in _method(name, one)]
    return "\n".join(lines + _types())


def _class_method(name: str, gives: str) -> list[str]:
    """`Memory.restore` and `Memory.salvage`: for banks that need not open."""
    from everwhen import Memory

    method = getattr(Memory, name)
    called = f"Memory.{name}({_parameters(method)}) -> {gives}"
    return [f"### Memory.{name}", "", "```text", called, "```", "", doc(method), ""]


def _method(name: str, operation: Any) -> list[str]:
    from everwhen.api.operations.base import arguments_of, result_of, signature_of

    given, called = arguments_of(operation), _parameters(signature_of(operation))
    lines = [f"### {name}", "", "```text"]
    lines += textwrap.wrap(
        f"{name}({called}) -> {_type(result_of(operation))}",
        90,
        subsequent_indent="    ",
        break_on_hyphens=False,
    )
    lines += ["```", "", doc(operation), ""]
    if given:
        rows = (
            (
                code(one.name),
                _type(one.plain),
                "needed" if one.required else code(repr(one.default)),
                _explained(one),
            )
            for one in given
        )
        lines += [*table(("argument", "type", "default", "what it does"), rows), ""]
    return lines


def _parameters(of: Any) -> str:
    """The names and defaults of a signature, without the types."""
    signed = of if isinstance(of, inspect.Signature) else inspect.signature(of)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signed.parameters.values()]
    return str(signed.replace(parameters=plain, return_annotation=inspect.Signature.empty)).strip("()")


def _explained(one: Any) -> str:
    from everwhen.api.operations.base import OneOf, extras

    choices = next((extra.words for extra in extras(one.annotation) if isinstance(extra, OneOf)), ())
    among = f"One of {', '.join(code(choice) for choice in choices)}." if choices else ""
    return f"{sentence(one.description or COMMON.get(one.name, ''))} {among}".strip()


def _type(annotation: Any) -> str:
    """A type as it is said: `time` for a datetime or text, `list of Turn`, `Fact or None`."""
    if annotation is None or annotation is type(None):
        return "None"
    if get_origin(annotation) in (Union, UnionType):
        parts = list(get_args(annotation))
        said = []
        if datetime in parts and str in parts:
            parts = [one for one in parts if one not in (datetime, str)]
            said = ["time"]
        if any(getattr(one, "__name__", "") == "Interval" for one in parts) and len(parts) > 2:
            parts, said = [type(None)] if type(None) in parts else [], ["stretch"]
        return " or ".join([*said, *(_type(one) for one in parts)])
    origin, inner = get_origin(annotation), [one for one in get_args(annotation) if one is not ...]
    if origin is None:
        return getattr(annotation, "__name__", str(annotation))
    name = getattr(origin, "__name__", str(origin))
    if name in ("list", "Sequence", "Iterable", "tuple", "Iterator", "Collection"):
        return f"list of {' or '.join(dict.fromkeys(_type(one) for one in inner))}"
    if name in ("dict", "Mapping"):
        return f"dict of {_type(inner[1])}" if inner[1] is not Any else "dict"
    if name == "Literal":
        return " or ".join(repr(one) for one in inner)
    return "function" if name == "Callable" else name


def _types() -> list[str]:
    import everwhen
    from everwhen import types

    lines = ["## Results", "", "The types that these methods give back. All of them are frozen.", ""]
    for name in sorted([*everwhen.__all__, "Dropped", "Why"], key=str.lower):
        of = getattr(everwhen, name, None) or getattr(types, name)
        if not dataclasses.is_dataclass(of) or name in ("Settings", "Recipe"):
            continue
        said = attribute_docs(of)  # type: ignore[arg-type]
        lines += [f"### {name}", "", doc(of), ""]
        rows = (
            (code(one.name), code(_short(one.type)), said.get(one.name, "")) for one in dataclasses.fields(of)
        )
        lines += [*table(("field", "type", "what it is"), rows), ""]
    lines += ["## Errors", "", "All of them are an `EverwhenError`; its text says what to do.", ""]
    errors = [getattr(everwhen, one) for one in everwhen.__all__]
    told = (
        (code(one.__name__), doc(one))
        for one in errors
        if isinstance(one, type) and issubclass(one, everwhen.EverwhenError)
    )
    return [*lines, *table(("error", "when"), told)]


def _short(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else _type(annotation)
