"""Which commands there are, and the line that help says of each. A command is made, or loaded, when somebody runs it.

This table is all that `everwhen --help` reads, so that it comes at once: a command that is an operation is made of the
operation's fields when it is run; the others are written in a module, with `@app.command()`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from typer.core import TyperGroup
from typer.main import get_command_from_info, get_command_name, get_group_from_info


class Entry(NamedTuple):
    """One command: what help says of it, and the operation that it is, or the module in which it is written."""

    help: str
    operation: str = ""
    """The name of its method: `recall`, `facts.current`."""
    module: str = ""
    name: str = ""
    """The name under which the module registers it."""


class Group(NamedTuple):
    """Commands that belong together, by the name that each has in the group."""

    help: str
    members: dict[str, Entry]


def does(operation: str, help: str) -> Entry:
    return Entry(help, operation)


def written(module: str, name: str, help: str) -> Entry:
    return Entry(help, module=module, name=name)


EVERYDAY = {
    "add": does("add", "Remember one or more messages."),
    "import": written("import_command", "import", "Import chats, transcripts, notes or an export."),
    "recall": does("recall", "The memories that answer a question."),
    "ask": does("ask", "The answer in words, with its sources."),
    "when": does("when", "When something was, is or will be."),
    "timeline": does("timeline", "What happened, in the order of time."),
    "forget": does("forget", "Delete for good, derived data too."),
    "chat": written("chat", "chat", "Talk with a model that remembers."),
    "setup": written("server_commands", "setup", "Give a coding agent its memory."),
    "ui": written("server_commands", "ui", "Open the page in a browser."),
    "serve": written("server_commands", "serve", "HTTP and MCP for other programs."),
    "demo": written("demo", "demo", "See it work on a short story; keeps nothing."),
}
"""At most twelve."""

GROUPS = {
    "show": Group(
        "What is remembered: turns, events, people, summaries.",
        {
            "turns": does("turns", "What was said, in the order of time."),
            "turn": does("turn", "One turn by its id."),
            "around": does("turns_around", "A turn with those before and after it."),
            "sessions": does("sessions", "The conversations, oldest first."),
            "grep": does("grep", "Every turn that contains a pattern."),
            "events": does("events", "The event calendar: who did what, and when."),
            "entities": does("entities", "Everyone and everything that has a name."),
            "graph": written("bank_commands", "graph", "One entity: its events, and who is beside it."),
            "links": does("links", "The neighbours of a memory in the graph."),
            "tree": does("tree", "Summaries by session, day, week and month."),
            "profile": does("profile", "What it says of people over all of time."),
            "map": written("map_command", "map", "Draw the vectors of the summaries."),
            "context": does("context", "What a prompt gets of the memory."),
            "accessed": does("accessed", "The memories that were recalled most often."),
        },
    ),
    "time": Group(
        "`compare` two events; `resolve` a time expression.",
        {
            "compare": does("compare", "Which of two events came first."),
            "resolve": written("bank_commands", "resolve", "The interval that a time expression means."),
        },
    ),
    "entity": Group(
        "Who is who: merge, split and rename names.",
        {
            "show": does("entity", "One entity by its id or one of its names."),
            "merge": does("merge_entities", "Say that two entities are one."),
            "split": does("split_entity", "Give names an identity of their own."),
            "rename": does("rename_entity", "Give an entity another name."),
            "undo": does("undo_entities", "Take back the last merge, split or rename."),
            "mentions": does("mentions", "The memories that mention an entity."),
            "seen-with": does("seen_with", "Who is mentioned where an entity is."),
        },
    ),
    "bank": Group(
        "Look after a bank: health, backup, export, retention.",
        {
            "list": written("bank_commands", "list", "The banks of the home folder or database."),
            "stats": does("stats", "How much a bank holds."),
            "usage": does("usage", "What language models took so far."),
            "doctor": does("doctor", "Check that a bank is whole; --fix mends it."),
            "salvage": written("bank_commands", "salvage", "Save the turns of a damaged file."),
            "export": does("export", "Write the whole bank as JSON lines."),
            "backup": does("backup", "Copy the bank into one verified file."),
            "restore": written("bank_commands", "restore", "Bring a bank back from a backup."),
            "move": written("bank_commands", "move", "Copy banks to another home or database."),
            "zone": written("bank_commands", "zone", "The zone in which a bank counts days."),
            "retain": does("retain", "Delete what the retention rule lets expire."),
            "process": does("process", "Extract from the turns that wait for it."),
            "reextract": does("reextract", "Derive events, entities and links again."),
            "consolidate": does("consolidate", "Build the summaries since the last build."),
            "reembed": does("reembed", "Give a bank another embedding model."),
        },
    ),
    "server": Group(
        "API keys, MCP over standard input, workers, hooks.",
        {
            "mcp": written("server_commands", "mcp", "The memory as MCP tools."),
            "keys": written("server_commands", "keys", "API keys: who may do what in which banks."),
            "worker": written("server_commands", "worker", "Extract what waits in all banks."),
            "resident": written("server_commands", "resident", "Answer the hooks of `setup`."),
        },
    ),
    "facts": Group(
        "What is true from when to when.",
        {
            "current": does("facts.current", "What holds now."),
            "as-of": does("facts.as_of", "What held at an instant."),
            "history": does("facts.history", "What is believed of a thing over all of time."),
            "about": does("facts.about", "All that is believed of somebody or something."),
            "timeline": written("bank_commands", "timeline", "Draw what held from when to when, as bars."),
            "diff": does("facts.diff", "What changed between two instants."),
            "get": does("facts.get", "One fact by its id."),
            "assert": does("facts.assert_", "Say that something is so."),
            "correct": does("facts.correct", "Say what is right: your word wins, at once."),
            "end": does("facts.end", "Say that something stopped being so."),
            "retract": does("facts.retract", "Take a fact back: it was never so."),
            "stale": does("facts.stale", "What should be checked before it is relied on."),
            "review": does("facts.review", "What only a person can decide."),
            "resolve": does("facts.resolve", "Decide a conflict."),
            "confirm": does("facts.confirm", "Say that a fact is still so, or a proposal is."),
            "reject": does("facts.reject", "Say that a proposal is not so."),
            "report-missing": does(
                "facts.report_missing", "Say that a file, project or person no longer exists."
            ),
            "report-change": does("facts.report_change", "Say that something outside changed."),
            "define": does("facts.define_predicate", "Declare a predicate: one object or several."),
            "half-life": does("facts.set_half_life", "Say how fast facts of a domain fade."),
            "export": written("bank_commands", "export-facts", "Write every version as JSON or CSV."),
        },
    ),
}
WHOLE = {"db": written("server_commands", "db", "The PostgreSQL database that holds the banks.")}
"""Groups that a module writes as a whole."""
if (Path(__file__).parents[3] / "benchmarks" / "everwhen_bench").is_dir():
    WHOLE["bench"] = written("bench", "bench", "Measure quality and speed (in a checkout).")

_UNLISTED = {"bench": written("bench", "bench", "Measure quality and speed.")}
"""In an installed package it only says where the benches are."""


class LazyGroup(TyperGroup):
    """A group that knows the names of its commands, and loads one when it is asked for."""

    def __init__(self, shown: Mapping[str, Entry], also: Mapping[str, Entry], **settings: Any) -> None:
        super().__init__(**settings)
        self.shown, self.entries = shown, {**also, **shown}
        self.commands: Any = dict.fromkeys(self.entries)  # the names, for "did you mean"

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.shown)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.entries and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _load(self.entries[cmd_name], cmd_name)
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self.shown.items()])


class FirstScreen(LazyGroup):
    """`everwhen` itself: the everyday commands, and the groups with the others."""

    def __init__(self, **settings: Any) -> None:
        groups = {name: Entry(group.help) for name, group in GROUPS.items()}
        super().__init__({**EVERYDAY, **groups, **WHOLE}, _UNLISTED, **{**settings, "commands": {}})

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups = {name: entry for name, entry in self.shown.items() if name not in EVERYDAY}
        for title, listed in (("Commands", EVERYDAY), ("Groups", groups)):
            with formatter.section(title):
                formatter.write_dl([(name, entry.help) for name, entry in listed.items()])
        formatter.write_paragraph()
        formatter.write_text("`everwhen GROUP --help` lists the commands of a group.")
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """They stand above the options already."""


def _load(entry: Entry, name: str) -> Any:
    """The command or group of an entry, under a name."""
    if entry.operation:
        from everwhen.cli.operation_command import operation_command

        return operation_command(name, entry)
    if not entry.module:
        group = GROUPS[name]
        return LazyGroup(
            group.members, {}, name=name, help=group.help, no_args_is_help=True, rich_markup_mode=None
        )
    from everwhen.cli.app import app

    import_module(f"everwhen.cli.{entry.module}")
    command: Any
    for one in app.registered_commands:
        if entry.name == (one.name or get_command_name(one.callback.__name__ if one.callback else "")):
            command = get_command_from_info(one, pretty_exceptions_short=False, rich_markup_mode=None)
            break
    else:
        (info,) = (one for one in app.registered_groups if one.name == entry.name)
        command = get_group_from_info(
            info, pretty_exceptions_short=False, rich_markup_mode=None, suggest_commands=True
        )
    command.name = name
    return command
