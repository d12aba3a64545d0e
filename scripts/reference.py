"""Writes the reference of the documentation site from the code: operations, commands, routes, tools, settings
(`make reference`, `make docs`), and what the MCP server answers about itself (`listing.json` beside its code).

Each page is a function that gives its text. docs/reference/ is not in the repository; `listing.json` is, and a test
compares it.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # also where a test loads this file by its path

from reference_listing import listing
from reference_markdown import attribute_docs, cell, code, documented, head, sentence, table
from reference_python import python_page

from everwhen.serve.mcp.stdio import LISTING

FOLDER = Path(__file__).parents[1] / "docs" / "reference"


def pages() -> dict[str, str]:
    """Every page of the reference, by its file's name."""
    made = {
        "python.md": python_page(),
        "cli.md": _cli(),
        "http.md": _http(),
        "mcp.md": _mcp(),
        "settings.md": _settings(),
    }
    return {name: text.rstrip() + "\n" for name, text in made.items()}


# Command line


def _cli() -> str:
    import typer.main

    from everwhen.cli.app import app

    lines = head("Commands", "Every command of `everwhen`, with its options.")
    lines += ["[The command line](../cli.md) is the page to learn from; this one is to look things up.", ""]
    top = typer.main.get_command(app)
    lines += ["## Options of every command", "", *_options(top, every=True)]
    for path, command in _commands(top, ()):
        lines += [f"## everwhen {' '.join(path)}", "", sentence(command.help or ""), ""]
        if path == ("bench",):
            lines += ["Only in a checkout: [evaluate](../evaluate.md).", ""]
            continue
        lines += _options(command)
    return "\n".join(lines)


def _commands(group: Any, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in sorted(group.list_commands(None)):  # a group loads a command when it is asked for
        one = group.get_command(None, name)
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
        shown = "needed" if one.required else "" if _nothing(default) else code(default)
        rows.append((code(name), shown, sentence(getattr(one, "help", None) or "")))
    head = (
        ("option", "default", "what it does") if every else ("argument or option", "default", "what it does")
    )
    return [*table(head, rows), ""] if rows else []


def _nothing(default: Any) -> bool:
    """Whether a default is not worth showing; typer marks what has none in several ways."""
    return default in (None, False, (), []) or "UNSET" in repr(default).upper()


# HTTP


def _http() -> str:
    from everwhen.serve.app import openapi_document

    api = openapi_document()
    lines = head("HTTP", "Every route of `everwhen serve`, with what it takes.")
    lines += [
        "[The server](../serve.md) explains keys, pages and errors. `/openapi.json` has the same, with types.",
        "Times are ISO 8601 or an expression. A write takes an `Idempotency-Key` header: sent twice, it is done once.",
        "",
    ]
    for path, methods in api["paths"].items():
        for method, one in methods.items():
            lines += [f"## {method.upper()} {path}", "", " ".join(one.get("description", "").split()), ""]
            rows = [
                (code(given["name"]), given["in"], _default_of(given["schema"], given.get("required", False)),
                 sentence(given.get("description") or given["schema"].get("description", "")))
                for given in one.get("parameters", [])
                if given["in"] != "path" and given["name"] != "Idempotency-Key"
            ]  # fmt: skip
            rows += _body(api, one)
            if rows:
                lines += [*table(("field", "where", "default", "what it does"), rows), ""]
    return "\n".join(lines)


def _body(api: dict[str, Any], route: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    content: dict[str, Any] = route.get("requestBody", {}).get("content", {})
    schema: dict[str, Any] = next((one.get("schema", {}) for one in content.values()), {})
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = api["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        else:
            schema = schema["anyOf"][0]
    needed = schema.get("required", ())
    return [
        (code(name), "body", _default_of(one, name in needed), sentence(one.get("description", "")))
        for name, one in schema.get("properties", {}).items()
    ]


def _default_of(schema: dict[str, Any], required: bool) -> str:
    if required:
        return "needed"
    return "" if schema.get("default") is None else code(schema["default"])


# MCP


def _mcp() -> str:
    from everwhen.serve.mcp.tools import TOOLS

    lines = head(
        "MCP tools", "Every tool that `everwhen server mcp` gives to a client, as the client sees it."
    )
    lines += ["[MCP](../serve.md#mcp) says how to connect a client, and how much comes back.", ""]
    for tool in TOOLS.values():
        if not getattr(tool, "listed", True):
            continue
        seen = tool
        lines += [f"## {seen.name}", "", " ".join(seen.description.split()), ""]
        needed = seen.parameters.get("required", ())
        rows = (
            (
                code(name),
                _default_of(one, name in needed),
                f"{sentence(one.get('description', ''))} {_enum(one)}",
            )
            for name, one in seen.parameters["properties"].items()
        )
        lines += [*table(("argument", "default", "what it does"), rows), ""]
    return "\n".join(lines)


def _enum(schema: dict[str, Any]) -> str:
    among = schema.get("enum") or schema.get("items", {}).get("enum")
    return f"One of {', '.join(code(one) for one in among)}." if among else ""


# Settings


def _settings() -> str:
    from everwhen.serve.server_settings import ServerSettings
    from everwhen.settings import PREFIX, Settings

    lines = head("Settings", "Every setting, its default and its effect.")
    lines += [
        f"A setting `name` is an argument of `Memory.open(…, name=…)` or the variable `{PREFIX}NAME`; the argument",
        "wins. A wrong value is refused with a sentence that says what is allowed. Few need more than one table.",
        "",
    ]
    defaults = Settings()
    section = None
    for name, said, section_head in documented(Settings):
        if section_head != section:
            lines += ["", f"## {section_head or 'The bank'}", ""]
            lines += table(("setting", "default", "what it does"), ())
            section = section_head
        value = getattr(defaults, name)
        shown = (
            f"`{dict(value)}`" if isinstance(value, dict) else "none" if value in (None, "") else code(value)
        )
        lines.append(f"| `{name}` | {cell(shown)} | {cell(said)} |")
    lines += ["", "## Keys and other variables", ""]
    lines += table(("variable", "what it does"), VARIABLES)
    lines += [
        "",
        "## The server",
        "",
        "Options of `everwhen serve` and what they begin with; [the server](../serve.md).",
        "",
    ]
    rows = []
    for one in dataclasses.fields(ServerSettings):
        value = None if one.default is dataclasses.MISSING else one.default
        rows.append(
            (
                code(one.name),
                "none" if value is None else code(value),
                attribute_docs(ServerSettings).get(one.name, ""),
            )
        )
    return "\n".join([*lines, *table(("name", "default", "what it does"), rows)])


VARIABLES = (
    ("`EVERWHEN_BANK`", "The bank that commands use where `--bank` does not name one."),
    ("`EVERWHEN_LLM_API_KEY`", "The key for the server that `EVERWHEN_LLM_BASE_URL` names; it gets no other key."),
    ("`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GOOGLE_API_KEY`", "Keys of the providers whose models are set."),
    ("`OPENAI_BASE_URL`, `OLLAMA_BASE_URL`", "Another address of those two."),
    ("`EVERWHEN_DEBUG`", "Any value: commands show the whole traceback of an error."),
    ("`OPENBLAS_NUM_THREADS`", "Threads of one NumPy call; commands set 1, which is fastest on few cores."),
)  # fmt: skip


def main() -> None:
    LISTING.write_text(listing(), encoding="utf-8")
    print(LISTING.name)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
