"""`import`: conversations from files of other systems, with a progress bar; Ctrl-C and go on later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everwhen.cli import interrupt
from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.extraction_commands import Wait, extract, extracting
from everwhen.cli.progress import counting
from everwhen.cli.safe_printing import printable

if TYPE_CHECKING:
    from everwhen.types import Added


@app.command("import")
def import_(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="An export of everwhen, JSONL, LoCoMo, LongMemEval, ChatGPT or Claude.")
    ],
    format: Annotated[
        str, typer.Option(help="auto, everwhen, jsonl, locomo, longmemeval, chatgpt or claude.")
    ] = "auto",
    wait: Wait = True,
) -> None:
    """Import conversations. Several in one file become one bank each; with --bank, one bank for all."""
    from everwhen.errors import NotFound
    from everwhen.ingest.importers import detect, merged, read
    from everwhen.time_arguments import known_zone

    here: GlobalOptions = context.obj
    local = known_zone(here.zone) if here.zone else None
    if not file.is_file():
        raise NotFound(f"there is no file {file}")
    if format in ("auto", "everwhen") and _is_export(file, format):
        _import_export(here, file, wait)
        return
    interrupt.say("interrupted; what was added is kept, and the same command goes on from there")
    kind = detect(file) if format == "auto" else format
    several = kind in ("locomo", "longmemeval")
    done: dict[str, Added] = {}
    with counting(here, f"importing {file.name}") as tick:
        if here.bank or not several:
            conversations = read(file, kind, local)
            messages = merged(conversations) if several else (m for c in conversations for m in c.messages)
            with here.open(create=True, **extracting(False)) as memory:
                done[memory.bank] = memory.add_many(messages, zone=local, progress=tick)
        else:
            for conversation in read(file, kind, local):
                here.bank = conversation.name
                with here.open(create=True, **extracting(False)) as memory:
                    done[memory.bank] = memory.add_many(conversation.messages, zone=local, progress=tick)
    for bank in done if wait else ():
        here.bank = bank
        with here.open() as memory:
            extract(here, memory)
    conflicts = [turn for added in done.values() for turn in added.conflicts]
    if here.json:
        new = {bank: added.new for bank, added in done.items()}
        here.print({"banks": new, "new": sum(new.values()), "conflicts": conflicts, "format": kind})
    else:
        for bank, added in done.items():
            here.console.print(f"bank {bank}: {added.new} new turns")
        if conflicts:
            here.console.print(
                f"{len(conflicts)} messages were left out: their ids are there already with other words "
                f"(the first is '{printable(conflicts[0])}')"
            )
    if conflicts:
        raise typer.Exit(1)


def _is_export(file: Path, format: str) -> bool:
    from everwhen.files.export import is_export

    return format == "everwhen" or is_export(file)


def _import_export(here: GlobalOptions, file: Path, wait: bool) -> None:
    """A whole bank, named as it was unless --bank says otherwise."""
    from everwhen.files.export import read_header

    interrupt.say("interrupted; what was loaded is kept aside, and the same command goes on from there")
    header = read_header(file)
    here.bank = here.bank or header.bank
    with here.open(create=True, embedder=header.embedder, **extracting(False)) as memory:
        with counting(here, f"importing {file.name}", sum(header.counts.values())) as tick:
            rows = memory.import_(file, progress=tick)
        turns = memory.stats().turns
    if wait:
        with here.open() as memory:
            extract(here, memory)
    here.tell(
        {"bank": here.bank, "rows": rows, "turns": turns, "format": "everwhen"},
        f"bank {here.bank}: {rows:,} rows, {turns:,} turns",
    )
