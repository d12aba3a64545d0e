"""The Typer application and what all commands share: where the bank is, and how to print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer import Option

from everwhen.cli.command_table import FirstScreen
from everwhen.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from everwhen.api.memory import Memory
    from everwhen.store.banks import Banks
    from everwhen.types.time_arguments import TimeReader

Command = TypeVar("Command", bound=Callable[..., Any])


class Commands(typer.Typer):
    """A group of commands. One that has the parameter `here` gets the options of every command as that."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        add = super().command(name, **settings)

        def register(function: Command) -> Command:
            add(_with_options(function) if "here" in function.__annotations__ else function)
            return function

        return register


def _with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as Typer calls it: with a context, which holds the options."""

    @wraps(function)
    def command(here: typer.Context, **given: Any) -> Any:
        return function(here.obj, **given)

    command.__annotations__ = {**function.__annotations__, "here": typer.Context}  # what Typer looks at
    return command


app = Commands(
    name="everwhen",
    cls=FirstScreen,
    help="Memory that knows when: a temporal memory engine for AI agents. No LLM, key or download needed.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_WITH_VALUE = ("--home", "--store", "--bank", "-b", "--zone")
_ALONE = ("--json", "--quiet", "-q")
_LONG = ("chat", "serve", "server", "ui")
"""Commands that answer many questions, each of which waits for extraction by itself."""
PATIENCE = 6
"""What a command added just before is waited for: on a busy machine 20 seconds are not enough to load the extractor."""


@dataclass
class GlobalOptions:
    """The options that hold for every command."""

    home: Path | None = None
    bank: str | None = None
    zone: str | None = None
    json: bool = False
    quiet: bool = False
    store: str | None = None
    own_process: bool = False
    """Whether the process ends with the command, and not after others."""

    def open(self, *, create: bool = False, **settings: Any) -> Memory:
        """The bank that the command is about."""
        from everwhen.api.memory import Memory

        return Memory.open(self.home, self.bank or "default", store=self.store, create=create, **settings)

    @contextmanager
    def reading(self, at: str | None = None, **settings: Any) -> Iterator[tuple[Memory, TimeReader]]:
        """The bank that the command is about, open, and what reads the times of the command."""
        from everwhen.types.time_arguments import TimeReader

        with self.open(**settings) as memory:
            yield memory, TimeReader(self.zone_of(memory), at)

    def expect_models(self) -> None:
        """Begin to open the packaged networks: the command will ask them. Others may have been chosen."""
        if "EVERWHEN_EMBEDDER" in os.environ or "EVERWHEN_READER" in os.environ:
            return
        from everwhen.models.onnx import PACKAGED, open_ahead

        open_ahead(*PACKAGED)

    def banks(self) -> Banks:
        """All banks of the home folder or the database."""
        from everwhen.store.banks import open_banks
        from everwhen.store.files.home import home_folder

        return open_banks(home_folder(self.home), store=self.store)

    def print(self, value: Any) -> None:
        """A value as JSON on standard output."""
        from everwhen.types.jsonable import jsonable

        print(json.dumps(jsonable(value), ensure_ascii=False, indent=2))

    def printed(self, value: Any) -> bool:
        """Whether JSON is asked for: then the value is printed as such."""
        if self.json:
            self.print(value)
        return self.json

    def tell(self, value: Any, line: str) -> None:
        """What was done: as JSON where that is asked for, else as a remark."""
        if not self.printed(value):
            self.remark(line, style=None)

    def remark(self, *parts: str | tuple[str, str] | Text, style: str | None = "dim") -> None:
        """A line that is not what was asked for: `--quiet` leaves it out."""
        if not self.quiet:
            self.say(*parts, style=style)

    def say(self, *parts: str | tuple[str, str] | Text, style: str | None = None) -> None:
        """One line for people, of parts as `styled` takes them."""
        from everwhen.cli.safe_printing import printable, styled

        alone = len(parts) == 1 and isinstance(parts[0], str)
        self.console.print(printable(str(parts[0])) if alone else styled(*parts), style=style)

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        # No markup: square brackets in a message are square brackets.
        return Console(highlight=False, markup=False, soft_wrap=not sys.stdout.isatty())

    def zone_of(self, memory: Memory) -> str:
        """The zone in which times of this command are meant."""
        from everwhen.types.time_arguments import known_zone

        return known_zone(self.zone or memory.zone)


def _tell_version(wanted: bool) -> None:
    if wanted:
        from everwhen import __version__

        typer.echo(f"everwhen {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    home: Annotated[Path | None, Option(envvar="EVERWHEN_HOME", help="Folder that holds the banks.")] = None,
    store: Annotated[
        str | None, Option(envvar="EVERWHEN_STORE", help="Or a database: postgresql://USER@HOST/NAME.")
    ] = None,
    bank: Annotated[
        str | None, Option("--bank", "-b", envvar="EVERWHEN_BANK", help="Bank to use [default].")
    ] = None,
    zone: Annotated[str | None, Option(help="Zone of times without one: Europe/Lisbon, +05:30.")] = None,
    json: Annotated[bool, Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print only results.")] = False,
    version: Annotated[
        bool, Option("--version", help="Print the version.", is_eager=True, callback=_tell_version)
    ] = False,
) -> None:
    """Options that work before or after any command."""
    context.obj = GlobalOptions(home, bank, zone, json, quiet, store, bool(context.obj))
    if context.invoked_subcommand not in _LONG:
        context.with_resource(_telling_what_is_missing())


@contextmanager
def _telling_what_is_missing() -> Iterator[None]:
    """A command waits for extraction once, and says what it did not wait for."""
    from everwhen.api.extraction_wait import one_wait

    with one_wait(PATIENCE) as wait:
        yield
        if wait.pending:
            typer.echo(
                f"note: {wait.pending} turns are not read yet, so something may be missing; "
                "`everwhen bank process` reads them",
                err=True,
            )


def hoisted(arguments: Iterable[str]) -> list[str]:
    """The same arguments with the shared options in front, so that they may stand after the command too, and
    `--between A B` as `--between A..B`."""
    front: list[str] = []
    rest: list[str] = []
    given = list(arguments)
    while given:
        word = given.pop(0)
        if word == "--":
            rest += [word, *given]
            break
        name, equals, value = word.partition("=")
        if name in _WITH_VALUE and (equals or given):
            value = value if equals else given.pop(0)
            if not value:  # a variable of the shell that is not set: the default bank is not what was meant
                raise UsageError(f"{name} is empty; leave it out, or give it a value")
            front += [name, value]
        elif word in _ALONE:
            front.append(word)
        elif word == "--between":
            rest += [word, *_one_value(given)]
        else:
            rest.append(word)
    return front + rest


def _one_value(given: list[str]) -> list[str]:
    """What follows `--between`, taken from the arguments: one value, of two times where two stand there."""
    from everwhen.types.time_arguments import is_time

    value = given[:1]
    del given[:1]
    if given and not given[0].startswith("-") and ".." not in value[0] and is_time(given[0]):
        value = [f"{value[0]}..{given.pop(0)}"]
    return value
