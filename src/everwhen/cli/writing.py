"""`add`: remember something from the shell."""

from __future__ import annotations

from typing import Annotated

import typer

from everwhen.cli.app import Here, app
from everwhen.cli.extraction import Wait, extract, extracting
from everwhen.cli.times import instant


@app.command()
def add(
    context: typer.Context,
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
    here: Here = context.obj
    with here.open(create=True, **extracting(wait)) as memory:
        zone = here.zone or memory.zone
        words = [typer.get_text_stream("stdin").read() if one == "-" else one for one in text]
        added = memory.add(
            [{"role": role, "content": one, "name": name} for one in words],
            session=session,
            at=instant(at, zone),
            zone=zone,
        )
        extract(here, memory)
    if here.json:
        here.print(added)
    else:
        many = "1 turn" if added.new == 1 else f"{added.new} turns"
        here.console.print(f"remembered {many} in session {added.session} of bank {memory.bank}")
