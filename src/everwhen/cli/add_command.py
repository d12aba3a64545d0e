"""`add`: remember something from the shell."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Annotated

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.extraction_commands import Wait, extract, extracting
from everwhen.cli.progress import working
from everwhen.cli.safe_printing import printable
from everwhen.errors import UsageError

LONG = 20_000
"""Characters that take so long to embed that one wants to see it working."""


@app.command()
def add(
    here: GlobalOptions,
    text: Annotated[
        list[str],
        typer.Argument(help="What was said, one message an argument; - reads a message from standard input."),
    ],
    role: Annotated[str, typer.Option(help="user, assistant, system or tool.")] = "user",
    name: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    session: Annotated[str | None, typer.Option(help="Conversation [the day's].")] = None,
    at: Annotated[str | None, typer.Option(help="When: ISO 8601 or 'last Friday' [now].")] = None,
    wait: Wait = True,
) -> None:
    """Remember one or more messages."""
    with here.open(create=True, **extracting(wait)) as memory:
        words = [_standard_input() if one == "-" else one for one in text]
        many = sum(map(len, words))
        with working(here, f"embedding {many:,} characters") if many > LONG else nullcontext():
            added = memory.add(
                [{"role": role, "content": one, "name": name} for one in words],
                session=session,
                at=at,
                zone=here.zone,
            )
        extract(here, memory)
    turns = "1 turn" if added.new == 1 else f"{added.new} turns"
    here.tell(added, f"remembered {turns} in session {printable(added.session)} of bank {memory.bank}")


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except AttributeError:
        raise UsageError("there is no standard input to read; give the text as an argument") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 (byte {error.start}); convert it, with iconv for example"
        ) from None
