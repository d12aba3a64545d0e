"""`banks`, `stats`, `doctor`, `reembed`: look after the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.progress import counting


@app.command()
def banks(here: GlobalOptions) -> None:
    """The banks in the home folder, or in the database."""
    from everwhen.home import home_folder

    kept = here.banks()
    found = {name: kept.size(name) for name in kept.names()}
    if here.printed([{"bank": name, "bytes": size} for name, size in found.items()]):
        return
    for name, size in found.items():
        here.console.print(f"{name}  {_size(size)}")
    if not found:
        where = "the database" if here.store else home_folder(here.home)
        here.console.print(f"no bank in {where}; `everwhen add TEXT` makes one")


@app.command()
def stats(here: GlobalOptions) -> None:
    """How much a bank holds."""
    with here.open() as memory:
        found = memory.stats()
    if here.printed(found):
        return
    rows = {
        "bank": found.bank,
        "turns": f"{found.turns:,}",
        "sessions": f"{found.sessions:,}",
        "exchanges": f"{found.segments:,}",
        "vectors": f"{found.passages:,} of {found.dimension} ({found.embedder})",
        "events": f"{found.events:,}",
        "narratives": f"{found.narratives:,}",
        "entities": f"{found.entities:,}",
        "links": f"{found.links:,}",
        "nodes": f"{found.nodes:,}",
        "recalls": f"{found.recalls:,} counted",
        "pending": f"{found.pending:,} turns" if found.pending else "none",
        "first": f"{found.first:%Y-%m-%d %H:%M} UTC" if found.first else "-",
        "last": f"{found.last:%Y-%m-%d %H:%M} UTC" if found.last else "-",
        "on disk": _size(found.bytes),
        "schema": str(found.schema),
    }
    for name, value in rows.items():
        here.console.print(f"{name:<10} {value}")


@app.command()
def doctor(
    here: GlobalOptions,
    fix: Annotated[
        bool, typer.Option("--fix", help="Rebuild what is derived; turns are never touched.")
    ] = False,
    salvage: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.jsonl", help="Write every turn that can be read in a damaged file, for `import`."
        ),
    ] = None,
) -> None:
    """Check that a bank is whole; --fix mends it.

    Exit code 1 when something was found and not mended.
    """
    if salvage is not None:
        _salvage(here, salvage)
        return
    with here.open() as memory:
        findings = memory.doctor(fix=fix)
    if here.json:
        here.print({"bank": memory.bank, "findings": findings})
    elif not findings:
        here.console.print(f"bank {memory.bank} is sound")
    else:
        for finding in findings:
            here.console.print(
                f"{'mended' if finding.fixed else 'found'} ({finding.check}): {finding.problem}"
            )
    if any(not finding.fixed for finding in findings):
        raise typer.Exit(1)


def _salvage(here: GlobalOptions, out: Path) -> None:
    from everwhen.memory import Memory

    bank = here.bank or "default"
    count = Memory.salvage(out, here.home, bank)
    if here.json:
        here.print({"bank": bank, "turns": count, "file": out})
    elif str(out) != "-":
        here.console.print(
            f"{count:,} turns of bank {bank} can be read, and are in {out}; "
            f"`everwhen import {out} --bank NAME` makes a new bank of them"
        )


@app.command()
def zone(
    here: GlobalOptions,
    name: Annotated[
        str | None, typer.Argument(help="Europe/Lisbon, +05:30, …; without it the zone is only told.")
    ] = None,
) -> None:
    """The zone in which a bank counts days.

    It is that of questions, and of messages that come without one; what was read before stays as it was read.
    """
    with here.open(zone=name) as memory:
        here.tell(
            {"bank": memory.bank, "zone": memory.zone}, f"bank {memory.bank} counts days in {memory.zone}"
        )


@app.command()
def reembed(
    here: GlobalOptions,
    bank: Annotated[str, typer.Argument(help="The bank.")],
    model: Annotated[
        str, typer.Option(help="conversation-1, fastembed:…, openai:… or sentence-transformers:…")
    ],
) -> None:
    """Give a bank the vectors of another embedding model."""
    here.bank = bank
    current = here.banks().embedder_of(bank)  # whatever EVERWHEN_EMBEDDER says
    with here.open(embedder=current) as memory:
        with counting(here, f"embedding with {model}", memory.stats().turns) as tick:
            memory.reembed(model, progress=tick)
        found = memory.stats()
    here.tell(found, f"bank {bank}: {found.passages:,} vectors of {found.dimension} by {found.embedder}")


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
