"""Which commands there are and what the first screen says of them. A command is loaded when somebody runs it.

The modules register their commands with `@app.command()`; a command that has no place in this table cannot be called.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from typer.core import TyperGroup
from typer.main import get_command_from_info, get_command_name, get_group_from_info


class Place(NamedTuple):
    """The module of a command, and the name that it has there."""

    module: str
    name: str


class Group(NamedTuple):
    """Commands that belong together, by the name that each has in the group."""

    help: str
    members: Mapping[str, Place]


def _in(module: str, *names: str) -> dict[str, Place]:
    return {name: Place(module, name) for name in names}


EVERYDAY = {
    "add": ("add_commands", "Remember one or more messages."),
    "import": ("add_commands", "Import chats, transcripts, notes or an export."),
    "recall": ("recall_commands", "The memories that answer a question."),
    "ask": ("ask_commands", "The answer in words, with its sources."),
    "when": ("time_commands", "When something was, is or will be."),
    "timeline": ("time_commands", "What happened, in the order of time."),
    "forget": ("retention_commands", "Delete for good, derived data too."),
    "chat": ("ask_commands", "Talk with a model that remembers."),
    "setup": ("setup_commands", "Give a coding agent its memory."),
    "ui": ("serve_commands", "Open the page in a browser."),
    "serve": ("serve_commands", "HTTP and MCP for other programs."),
    "demo": ("demo", "See it work on a short story; keeps nothing."),
}
"""The module of each, and what the first screen says of it. At most twelve."""

GROUPS = {
    "show": Group(
        "What is remembered: turns, events, people, summaries.",
        {
            **_in("show_commands", "turns", "sessions", "grep", "events", "entities", "graph"),
            **_in("tree_commands", "tree", "profile", "map"),
            **_in("recall_commands", "context"),
        },
    ),
    "time": Group(
        "`compare` two events; `resolve` a time expression.",
        {**_in("time_commands", "compare"), "resolve": Place("time_commands", "when-is")},
    ),
    "bank": Group(
        "Look after a bank: health, backup, export, retention.",
        {
            "list": Place("bank_commands", "banks"),
            **_in("bank_commands", "stats", "doctor"),
            **_in("retention_commands", "export", "backup", "restore"),
            **_in("bank_commands", "move", "zone"),
            **_in("retention_commands", "retain"),
            **_in("add_commands", "process", "reextract"),
            **_in("tree_commands", "consolidate"),
            **_in("bank_commands", "reembed"),
        },
    ),
    "server": Group(
        "API keys, MCP over standard input, workers, hooks.",
        {**_in("serve_commands", "mcp", "keys"), **_in("db", "worker"), **_in("setup_commands", "resident")},
    ),
}
WHOLE = {
    "facts": ("facts", "What is true from when to when."),
    "db": ("db", "The PostgreSQL database that holds the banks."),
}
"""Groups that are one module each."""
if (Path(__file__).parents[3] / "benchmarks" / "everwhen_bench").is_dir():
    WHOLE["bench"] = ("bench", "Measure quality and speed (in a checkout).")

_UNLISTED = {"bench": Place("bench", "bench")}
"""In an installed package it only says where the benches are."""


class LazyGroup(TyperGroup):
    """A group that knows the names of its commands, and loads one when it is asked for."""

    def __init__(self, shown: Mapping[str, Place], also: Mapping[str, Place], **settings: Any) -> None:
        super().__init__(**settings)
        self.shown, self.places = shown, {**also, **shown}
        self.commands: Any = dict.fromkeys(self.places)  # the names, for "did you mean"

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.shown)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.places and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _load(self.places[cmd_name], cmd_name)
        return self.commands.get(cmd_name)


class FirstScreen(LazyGroup):
    """`everwhen` itself: the everyday commands, and the groups with the others."""

    def __init__(self, **settings: Any) -> None:
        shown = {name: Place(module, name) for name, (module, _) in {**EVERYDAY, **WHOLE}.items()}
        groups = {name: Place("", name) for name in GROUPS}
        super().__init__({**shown, **groups}, _UNLISTED, **{**settings, "commands": {}})

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups = {name: ("", group.help) for name, group in GROUPS.items()}
        for title, listed in (("Commands", EVERYDAY), ("Groups", {**groups, **WHOLE})):
            with formatter.section(title):
                formatter.write_dl([(name, help) for name, (_, help) in listed.items()])
        formatter.write_paragraph()
        formatter.write_text("`everwhen GROUP --help` lists the commands of a group.")
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """They stand above the options already."""


def _load(place: Place, name: str) -> Any:
    """The command or group at a place, under a name."""
    if not place.module:
        group = GROUPS[place.name]
        return LazyGroup(
            group.members, {}, name=name, help=group.help, no_args_is_help=True, rich_markup_mode=None
        )
    from everwhen.cli.app import app

    import_module(f"everwhen.cli.{place.module}")
    command: Any
    for one in app.registered_commands:
        if place.name == (one.name or get_command_name(one.callback.__name__ if one.callback else "")):
            command = get_command_from_info(one, pretty_exceptions_short=False, rich_markup_mode=None)
            break
    else:
        (info,) = (one for one in app.registered_groups if one.name == place.name)
        command = get_group_from_info(
            info, pretty_exceptions_short=False, rich_markup_mode=None, suggest_commands=True
        )
    command.name = name
    return command
