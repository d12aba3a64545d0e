"""The `everwhen` command: its first screen, the options of every command, errors in one line, and Ctrl-C."""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, TextIO, TypeVar

import typer
from typer import Option

from everwhen.cli.command_table import FirstScreen
from everwhen.errors import EverwhenError, UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from everwhen.api.memory import Memory
    from everwhen.store.banks import Banks
    from everwhen.types.times import TimeReader

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
    asked: Any = None
    """The operation, of a command that is made of one."""
    at_the_end: ExitStack = field(default_factory=ExitStack)
    """What is closed when the command has been shown."""

    def open(self, *, create: bool = False, **settings: Any) -> Memory:
        """The bank that the command is about. Its times are read in `--zone`, where that is given."""
        from everwhen.api.memory import Memory

        self.memory = Memory.open(
            self.home, self.bank or "default", store=self.store, create=create, **settings
        )
        if self.zone is not None:
            self.memory.read_times_in(self.zone)
        return self.memory

    def use(self, *, create: bool = False, **settings: Any) -> Memory:
        """The same, open until the command ends."""
        return self.at_the_end.enter_context(self.open(create=create, **settings))

    @cached_property
    def memory(self) -> Memory:
        """The bank that was opened last."""
        return self.use()

    @contextmanager
    def reading(self) -> Iterator[tuple[Memory, TimeReader]]:
        """The bank that the command is about, open, and what reads the times of the command."""
        with self.open() as memory:
            yield memory, self.clock()

    def clock(self) -> TimeReader:
        """Reads the times of a command."""
        from everwhen.types.times import TimeReader

        return TimeReader(self.shown_zone)

    @property
    def shown_zone(self) -> str:
        """The zone in which times of this command are meant and shown."""
        return self.zone_of(self.memory)

    def expect_models(self) -> None:
        """Begin to open the packaged networks: the command will ask them. Others may have been chosen."""
        if "EVERWHEN_EMBEDDER" in os.environ or "EVERWHEN_READER" in os.environ:
            return
        from everwhen.models.embedder import PACKAGED, open_ahead

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

    def report(self, value: Any, line: str) -> None:
        """What was done: as JSON where that is asked for, else as a remark."""
        if not self.printed(value):
            self.remark(line, style=None)

    def remark(self, *parts: str | tuple[str, str] | Text, style: str | None = "dim") -> None:
        """A line that is not what was asked for: `--quiet` leaves it out."""
        if not self.quiet:
            self.say(*parts, style=style)

    def say(self, *parts: str | tuple[str, str] | Text, style: str | None = None) -> None:
        """One line for people, of parts as `styled` takes them."""
        from everwhen.cli.printing import printable, styled

        alone = len(parts) == 1 and isinstance(parts[0], str)
        self.console.print(printable(str(parts[0])) if alone else styled(*parts), style=style)

    @cached_property
    def console(self) -> Console:
        from rich.console import Console

        # No markup: square brackets in a message are square brackets.
        return Console(highlight=False, markup=False, soft_wrap=not sys.stdout.isatty())

    def zone_of(self, memory: Memory) -> str:
        """The zone in which times of this command are meant."""
        from everwhen.types.times import known_zone

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
    context.obj = here = GlobalOptions(home, bank, zone, json, quiet, store, bool(context.obj))
    if context.invoked_subcommand not in _LONG:
        context.with_resource(_telling_what_is_missing())
    context.with_resource(here.at_the_end)


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
    from everwhen.types.times import is_time

    value = given[:1]
    del given[:1]
    if given and not given[0].startswith("-") and ".." not in value[0] and is_time(given[0]):
        value = [f"{value[0]}..{given.pop(0)}"]
    return value


def main(arguments: list[str] | None = None) -> None:
    """The `everwhen` command: runs, and exits with a code that means something (see `docs/cli.md`)."""
    end_at_once_on_ctrl_c()
    # A stream that is closed is one that nobody reads.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal's encoding
    code: list[int] = []
    if arguments is None:  # the process is this command's
        atexit.register(_leave, code)  # before all others, so that it comes after them
    code.append(run(sys.argv[1:], own_process=True) if arguments is None else run(arguments))
    sys.exit(code[0])


def _leave(code: list[int]) -> None:
    """End here: to take the interpreter apart costs each command a tenth of a second, and nothing is left to do."""
    if code:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code[0])


def run(arguments: list[str], own_process: bool = False) -> int:
    """Run one command and return its exit code; nothing of a stack trace reaches a user."""
    # Sensible threads for small matrices, unless the user has chosen: one BLAS thread is the fastest.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        arguments = hoisted(arguments)
        command = typer.main.get_command(app)
        code = command.main(arguments, prog_name="everwhen", standalone_mode=False, obj=own_process)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except EverwhenError as error:
        return _fail(str(error), type(error).__name__, error.exit_code, as_json)
    except Exception as error:
        return _unexpected(error, as_json)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # Typer would have it that this is an error
            return _unexpected(end.__context__, as_json)
        raise


def _unexpected(error: Exception, as_json: bool) -> int:
    """Typer's own errors, the operating system's, and at last our own mistakes, which are to be reported."""
    kind = type(error).__name__
    if kind == "Exit":
        return int(getattr(error, "exit_code", 0))
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        message = error.format_message()
        if kind == "NoArgsIsHelpError" and not as_json:
            print(message, file=sys.stderr)
            return 2
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "everwhen") if context is not None else "everwhen"
        if context is not None and message.startswith("Got unexpected extra argument"):
            message = _too_many_words(context.command, path, message)
        message += "" if message.endswith((".", "?", ")")) else "."
        return _fail(f"{message} Try '{path} --help'.", "UsageError", 2, as_json)
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader has seen enough
        return 0
    if isinstance(error, FileNotFoundError):
        return _fail(f"{error.filename}: {error.strerror}", "NotFound", 3, as_json)
    if isinstance(error, PermissionError):
        return _fail(f"{error.filename}: {error.strerror}", "Refused", 4, as_json)
    if isinstance(error, OSError):
        return _fail(f"{error.filename or 'output'}: {error.strerror}", "Unavailable", 6, as_json)
    if os.environ.get("EVERWHEN_DEBUG"):
        raise error
    said = f"this is a bug, please report it: {kind}: {error} (EVERWHEN_DEBUG=1 shows where)"
    return _fail(said, "Bug", 1, as_json)


def _too_many_words(command: Any, path: str, message: str) -> str:
    """What a command takes, where it was given words that it has no place for."""
    words = message.partition("(s) ")[2]
    taken = [one.name.upper() for one in command.params if one.param_type_name == "argument"]
    options = ", ".join(one.opts[0] for one in command.params if one.param_type_name == "option")
    if taken:
        return f"'{path}' takes {' '.join(taken)} and nothing more: put several words into quotes {words}."
    only = f", only options: {options}" if options else ""
    return f"'{path}' takes no words {words}{only}. {command.epilog or ''}".rstrip()


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def _fail(message: str, kind: str, code: int, as_json: bool) -> int:
    from everwhen.cli.printing import printable

    if as_json:
        print(json.dumps({"error": {"kind": kind, "message": message, "exit_code": code}}), file=sys.stderr)
    else:
        print(f"everwhen: {printable(' '.join(message.splitlines()))}", file=sys.stderr)
    return code


# Ctrl-C, at any moment: one line and exit code 130. Nothing is lost, since what was committed is on disk.
#
# Python's own way, an exception wherever the program happens to be, turns into a stack trace when it strikes an
# import or a model that computes in another thread. So the process ends at once, after what it registered.

INTERRUPTED = 130
_CLEAN_UPS: list[Callable[[], object]] = []
_sentence = "interrupted"


def end_at_once_on_ctrl_c() -> None:
    """From now on Ctrl-C ends the process."""
    signal.signal(signal.SIGINT, _end_process)


def before_the_end(clean_up: Callable[[], object]) -> None:
    """Something to do when Ctrl-C comes, such as removing a temporary folder."""
    _CLEAN_UPS.append(clean_up)


def interrupted_says(sentence: str) -> None:
    """What Ctrl-C says, for a command that can be taken up again."""
    global _sentence  # noqa: PLW0603
    _sentence = sentence


def _end_process(_signal: int, _frame: FrameType | None) -> None:
    for clean_up in _CLEAN_UPS:
        clean_up()
    show_cursor = "\x1b[?25h" if sys.stderr and sys.stderr.isatty() else ""  # a progress bar hides it
    os.write(2, f"{show_cursor}everwhen: {_sentence}\n".encode())
    os._exit(INTERRUPTED)
