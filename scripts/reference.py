"""Writes docs/reference/ from the code: operations, commands, routes, tools, settings (`make reference`).

Each page is a function that gives its text; `tests/test_reference.py` holds the files against them.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
GROUPS = {
    "Remember and read": "add add_many turns turn turns_around sessions grep",
    "Recall": "recall context accessed",
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
    "at": "The moment it is said or asked; now by default. \"Yesterday\" counts from it.",
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
    "turn_id": "The id of a turn.",
    "fact_id": "The id of a fact.",
    "name": "A name, another name, or an id.",
    "recipe": "How recall is put together; instead of `budget`.",
    "source": "The id of the turn that says so.",
    "sources": "The ids of the turns that say so.",
    "dry_run": "Only say what would happen.",
}
"""What an argument is, where its operation does not say it: these mean the same everywhere."""


def pages() -> dict[str, str]:
    """Every page of the reference, by its file's name."""
    made = {
        "python.md": _python(),
        "cli.md": _cli(),
        "http.md": _http(),
        "mcp.md": _mcp(),
        "settings.md": _settings(),
    }
    return {name: text.rstrip() + "\n" for name, text in made.items()}


def _head(title: str, purpose: str) -> list[str]:
    return [f"# {title}", "", purpose, "", "This page is written by `make reference`; change the code, not the page.", ""]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    columns = list(head)
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(_cell(one) for one in row) + " |" for row in rows]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _sentence(text: str) -> str:
    """Help as it is read in a table: one line, with a full stop."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?…:" else f"{text}."


def _code(value: Any) -> str:
    return f"`{value}`"


# Python


def _python() -> str:
    from everwhen import Memory
    from everwhen.operations import operations
    from everwhen.operations.surface import FactMethods

    lines = _head("Python", "Every method of a memory, with its arguments, their defaults and the result.")
    lines += [
        "`Memory`, `AsyncMemory` (the same methods as coroutines), `Client` and `AsyncClient` (a memory on a [server](../serve.md)) have these",
        "methods. A *time* is an aware `datetime`, ISO 8601 text, or an expression such as `\"last Friday\"`; a *stretch* is an",
        "expression (`\"last week\"`), an `Interval`, or a pair of times.",
        "",
        "## Open a memory",
        "",
        "```text",
        f"Memory.open({_parameters(Memory.open)}) -> Memory",
        "```",
        "",
        _doc(Memory.open),
        "",
        "Settings are arguments too: [all of them](settings.md).",
        "",
    ]
    named = operations()
    left = [name for name in named if not name.startswith("facts.")]
    for title, wanted in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in wanted.split():
            if name == "ask_stream":
                lines += ["### ask_stream", "", "The same as `ask`, as it comes: pieces of text, and at last the `Answer`.", ""]
            else:
                lines += _method(name, named[name])
                left.remove(name)
    if left:
        lines += ["## More", ""]
        lines += [line for name in left for line in _method(name, named[name])]
    lines += ["## Facts", "", _doc(FactMethods) + " Methods of `memory.facts`; [the guide](../facts.md).", ""]
    lines += [line for name, one in named.items() if name.startswith("facts.") for line in _method(name, one)]
    return "\n".join(lines + _types())


def _method(name: str, operation: Any) -> list[str]:
    from everwhen.operations import arguments, result_of

    given, called = arguments(operation), _parameters(operation)
    lines = [f"### {name}", "", "```text"]
    lines += textwrap.wrap(
        f"{name}({called}) -> {_type(result_of(operation))}", 110, subsequent_indent="    ", break_on_hyphens=False
    )
    lines += ["```", "", _doc(operation), ""]
    if given:
        rows = (
            (
                _code(one.name),
                _type(one.annotation),
                "needed" if one.required else _code(repr(one.default)),
                _explained(one),
            )
            for one in given
        )
        lines += [*_table(("argument", "type", "default", "what it does"), rows), ""]
    return lines


def _parameters(of: Any) -> str:
    """The names and defaults of a signature, without the types."""
    signed = inspect.signature(of)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signed.parameters.values()]
    return str(signed.replace(parameters=plain, return_annotation=inspect.Signature.empty)).strip("()")


def _explained(one: Any) -> str:
    choices = getattr(one.kind, "among", ())
    among = f"One of {', '.join(_code(choice) for choice in choices)}." if choices else ""
    return f"{_sentence(one.help.text or COMMON.get(one.name, ''))} {among}".strip()


def _doc(of: Any) -> str:
    """A docstring as Markdown: paragraphs stay, lines are joined."""
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(of) or "")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


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

    lines = ["## Results", "", "The types that these methods give back. All of them are frozen.", ""]
    for name in everwhen.__all__:
        of = getattr(everwhen, name)
        if not dataclasses.is_dataclass(of) or name in ("Settings", "Recipe"):
            continue
        said = _attribute_docs(of)  # type: ignore[arg-type]
        lines += [f"### {name}", "", _doc(of), ""]
        rows = ((_code(one.name), _code(_short(one.type)), said.get(one.name, "")) for one in dataclasses.fields(of))
        lines += [*_table(("field", "type", "what it is"), rows), ""]
    lines += ["## Errors", "", "All of them are an `EverwhenError`; its text says what to do.", ""]
    errors = [getattr(everwhen, one) for one in everwhen.__all__]
    rows = (
        (_code(one.__name__), _doc(one))
        for one in errors
        if isinstance(one, type) and issubclass(one, everwhen.EverwhenError)
    )
    return [*lines, *_table(("error", "when"), rows)]


def _short(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else _type(annotation)


def _attribute_docs(of: type) -> dict[str, str]:
    """The strings that stand under the fields of a class."""
    return {name: text for name, text, _section in _documented(of)}


def _documented(of: type) -> Iterator[tuple[str, str, str]]:
    """Each field of a class with the string under it, and the comment that heads its section."""
    source = textwrap.dedent(inspect.getsource(of))
    heads = {
        number: line.strip("# ").strip()
        for number, line in enumerate(source.splitlines(), 1)
        if re.fullmatch(r"    # [A-Z][\w ]*", line)
    }
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.ClassDef)
    for one, after in zip(made.body, [*made.body[1:], None], strict=True):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        said = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            said = " ".join(after.value.value.split())
        section = [head for number, head in heads.items() if number < one.lineno]
        yield one.target.id, said, section[-1] if section else ""


# Command line


def _cli() -> str:
    import typer.main

    from everwhen.cli.app import app

    lines = _head("Commands", "Every command of `everwhen`, with its options.")
    lines += ["[The command line](../cli.md) is the page to learn from; this one is to look things up.", ""]
    top = typer.main.get_command(app)
    lines += ["## Options of every command", "", *_options(top, every=True)]
    for path, command in _commands(top, ()):
        lines += [f"## everwhen {' '.join(path)}", "", _sentence(command.help or ""), ""]
        if path == ("bench",):
            lines += ["Only in a checkout: [evaluate](../evaluate.md).", ""]
            continue
        lines += _options(command)
    return "\n".join(lines)


def _commands(group: Any, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, one in sorted(group.commands.items()):
        if one.hidden:
            continue
        path = (*above, name)
        yield path, one
        if hasattr(one, "commands") and path != ("bench",):
            yield from _commands(one, path)


def _options(command: Any, *, every: bool = False) -> list[str]:
    rows = []
    for one in command.params:
        if getattr(one, "hidden", False) or one.name in ("help", "install_completion", "show_completion"):
            continue
        argument = one.param_type_name == "argument"
        name = (one.name or "").upper() if argument else ", ".join([*one.opts, *one.secondary_opts])
        default = one.default() if callable(one.default) else one.default
        shown = "needed" if one.required else "" if _nothing(default) else _code(default)
        rows.append((_code(name), shown, _sentence(getattr(one, "help", None) or "")))
    head = ("option", "default", "what it does") if every else ("argument or option", "default", "what it does")
    return [*_table(head, rows), ""] if rows else []


def _nothing(default: Any) -> bool:
    """Whether a default is not worth showing; typer marks what has none in several ways."""
    return default in (None, False, (), []) or "UNSET" in repr(default).upper()


# HTTP


def _http() -> str:
    from everwhen.serve.app import description

    api = description()
    lines = _head("HTTP", "Every route of `everwhen serve`, with what it takes.")
    lines += [
        "[The server](../serve.md) explains keys, pages and errors. `/openapi.json` of a running server has the same with types and examples.",
        "Times are ISO 8601 or an expression. A write takes an `Idempotency-Key` header: sent twice, it is done once.",
        "",
    ]
    for path, methods in api["paths"].items():
        for method, one in methods.items():
            lines += [f"## {method.upper()} {path}", "", " ".join(one.get("description", "").split()), ""]
            rows = [
                (_code(given["name"]), given["in"], _default_of(given["schema"], given.get("required", False)),
                 _sentence(given.get("description") or given["schema"].get("description", "")))
                for given in one.get("parameters", [])
                if given["in"] != "path" and given["name"] != "Idempotency-Key"
            ]  # fmt: skip
            rows += _body(api, one)
            if rows:
                lines += [*_table(("field", "where", "default", "what it does"), rows), ""]
    return "\n".join(lines)


def _body(api: dict[str, Any], route: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    schema = next(iter(route.get("requestBody", {}).get("content", {}).values()), {}).get("schema", {})
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = api["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        else:
            schema = schema["anyOf"][0]
    needed = schema.get("required", ())
    return [
        (_code(name), "body", _default_of(one, name in needed), _sentence(one.get("description", "")))
        for name, one in schema.get("properties", {}).items()
    ]


def _default_of(schema: dict[str, Any], required: bool) -> str:
    if required:
        return "needed"
    return "" if schema.get("default") is None else _code(schema["default"])


# MCP


def _mcp() -> str:
    from everwhen.serve.mcp.tools import TOOLS

    lines = _head("MCP tools", "Every tool that `everwhen mcp` gives to a client, as the client sees it.")
    lines += ["[MCP](../mcp.md) says how to connect a client, and how much comes back.", ""]
    for tool in TOOLS.values():
        if not getattr(tool, "listed", True):
            continue
        seen = tool.described
        lines += [f"## {seen.name}", "", " ".join(seen.description.split()), ""]
        needed = seen.parameters.get("required", ())
        rows = (
            (_code(name), _default_of(one, name in needed), f"{_sentence(one.get('description', ''))} {_enum(one)}")
            for name, one in seen.parameters["properties"].items()
        )
        lines += [*_table(("argument", "default", "what it does"), rows), ""]
    return "\n".join(lines)


def _enum(schema: dict[str, Any]) -> str:
    among = schema.get("enum") or schema.get("items", {}).get("enum")
    return f"One of {', '.join(_code(one) for one in among)}." if among else ""


# Settings


def _settings() -> str:
    from everwhen.serve.server_settings import ServerSettings
    from everwhen.settings import PREFIX, Settings

    lines = _head("Settings", "Every setting, its default and its effect.")
    lines += [
        f"A setting `name` is an argument of `Memory.open(…, name=…)` or the variable `{PREFIX}NAME`; the argument wins. A value that is",
        "wrong is refused with a sentence that says what is allowed. Few people need more than the first two tables.",
        "",
    ]
    defaults = Settings()
    section = None
    for name, said, head in _documented(Settings):
        if head != section:
            lines += ["" if section is not None else "", f"## {head or 'The bank'}", ""]
            lines += _table(("setting", "default", "what it does"), ())
            section = head
        value = getattr(defaults, name)
        shown = f"`{dict(value)}`" if isinstance(value, dict) else "none" if value in (None, "") else _code(value)
        lines.append(f"| `{name}` | {_cell(shown)} | {_cell(said)} |")
    lines += ["", "## Keys and other variables", ""]
    lines += _table(("variable", "what it does"), VARIABLES)
    lines += ["", "## The server", "", "Options of `everwhen serve` and what they begin with; [the server](../serve.md).", ""]
    rows = []
    for one in dataclasses.fields(ServerSettings):
        value = None if one.default is dataclasses.MISSING else one.default
        rows.append((_code(one.name), "none" if value is None else _code(value), _attribute_docs(ServerSettings).get(one.name, "")))
    return "\n".join([*lines, *_table(("name", "default", "what it does"), rows)])


VARIABLES = (
    ("`EVERWHEN_BANK`", "The bank that commands use where `--bank` does not name one."),
    ("`EVERWHEN_LLM_API_KEY`", "The key for the server that `EVERWHEN_LLM_BASE_URL` names; it gets no other key."),
    ("`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GOOGLE_API_KEY`", "Keys of the providers, where a model of theirs is set."),
    ("`OPENAI_BASE_URL`, `OLLAMA_BASE_URL`", "Another address of those two."),
    ("`EVERWHEN_DEBUG`", "Any value: commands show the whole traceback of an error."),
    ("`OPENBLAS_NUM_THREADS`", "Threads of one NumPy call; commands set 1, which is fastest on few cores."),
)  # fmt: skip


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    sys.exit(main())
