"""The command line: thin commands, each a call of `Memory`. Errors are one line with the fix."""

from __future__ import annotations

import json
import os
import sys

from everwhen.errors import EverwhenError

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """The `everwhen` command: runs, and exits with a code that means something (see `docs/cli.md`)."""
    code = run(sys.argv[1:] if arguments is None else arguments)
    if code == INTERRUPTED:
        # At once: a model that is still computing in another thread must not be torn down under it. What was
        # committed is on disk.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; nothing of a stack trace reaches a user."""
    import typer

    from everwhen.cli.app import app, hoisted

    # Sensible threads for small matrices, unless the user has chosen: one BLAS thread is the fastest.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    arguments = hoisted(arguments)
    as_json = "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments
    command = typer.main.get_command(app)
    try:
        code = command.main(arguments, prog_name="everwhen", standalone_mode=False)
        # Typer makes an exit code of Ctrl-C, and says nothing.
        return _interrupted(as_json) if code == INTERRUPTED else code if isinstance(code, int) else 0
    except EverwhenError as error:
        return _fail(str(error), type(error).__name__, error.exit_code, as_json)
    except KeyboardInterrupt:
        return _interrupted(as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough
        return 0
    except Exception as error:
        return _unexpected(error, as_json)


def _unexpected(error: Exception, as_json: bool) -> int:
    """Typer's own errors (wrong usage, Ctrl-C) and the filesystem's; anything else is a bug and is raised."""
    kind = type(error).__name__
    if kind == "Abort":
        return _interrupted(as_json)
    if kind == "Exit":
        return int(getattr(error, "exit_code", 0))
    if hasattr(error, "format_message") and hasattr(error, "exit_code"):
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "everwhen") if context is not None else "everwhen"
        return _fail(f"{error.format_message()} Try '{path} --help'.", "UsageError", 2, as_json)
    if isinstance(error, OSError) and error.filename:
        return _fail(f"{error.filename}: {error.strerror}", "NotFound", 3, as_json)
    raise error


def _interrupted(as_json: bool) -> int:
    said = "interrupted; what was added is kept, and the same command goes on from there"
    return _fail(said, "Interrupted", INTERRUPTED, as_json)


def _fail(message: str, kind: str, code: int, as_json: bool) -> int:
    if as_json:
        print(json.dumps({"error": {"kind": kind, "message": message, "exit_code": code}}), file=sys.stderr)
    else:
        print(f"everwhen: {message}", file=sys.stderr)
    return code
