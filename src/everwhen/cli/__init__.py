"""The command line: thin commands, each a call of `Memory`. Errors are one line with the fix."""

from __future__ import annotations

import atexit
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from everwhen.cli.interrupt import end_at_once_on_ctrl_c
from everwhen.errors import EverwhenError


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
    import typer

    from everwhen.cli.app import app, hoisted

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
    from everwhen.cli.safe_printing import printable

    if as_json:
        print(json.dumps({"error": {"kind": kind, "message": message, "exit_code": code}}), file=sys.stderr)
    else:
        print(f"everwhen: {printable(' '.join(message.splitlines()))}", file=sys.stderr)
    return code
