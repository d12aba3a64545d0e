"""`import`: conversations from files of other systems, with a progress bar; Ctrl-C and go on later."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everwhen.cli.app import Here, app
from everwhen.cli.extraction import Wait, extract, extracting
from everwhen.cli.progress import counting


@app.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="JSONL, LoCoMo, LongMemEval, ChatGPT or Claude export.")],
    format: Annotated[
        str, typer.Option(help="auto, jsonl, locomo, longmemeval, chatgpt or claude.")
    ] = "auto",
    wait: Wait = True,
) -> None:
    """Import conversations. Several in one file become one bank each; with --bank, one bank for all."""
    from everwhen.errors import NotFound
    from everwhen.ingest.importers import detect, merged, read

    here: Here = context.obj
    if not file.is_file():
        raise NotFound(f"there is no file {file}")
    kind = detect(file) if format == "auto" else format
    several = kind in ("locomo", "longmemeval")
    done: dict[str, int] = {}
    with counting(here, f"importing {file.name}") as tick:
        if here.bank or not several:
            conversations = read(file, kind, here.zone)
            messages = merged(conversations) if several else (m for c in conversations for m in c.messages)
            with here.open(create=True, zone=here.zone, **extracting(False)) as memory:
                added = memory.add_many(messages, progress=tick)
                done[memory.bank] = added.new
        else:
            for conversation in read(file, kind, here.zone):
                here.bank = conversation.name
                with here.open(create=True, zone=here.zone, **extracting(False)) as memory:
                    done[memory.bank] = memory.add_many(conversation.messages, progress=tick).new
    for bank in done if wait else ():
        here.bank = bank
        with here.open() as memory:
            extract(here, memory)
    if here.json:
        here.print({"banks": done, "new": sum(done.values()), "format": kind})
        return
    for bank, new in done.items():
        here.console.print(f"bank {bank}: {new} new turns")
