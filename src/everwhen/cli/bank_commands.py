"""`bank list`, `stats`, `doctor`, `zone`, `reembed`, `move`: look after the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Exit, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.progress import counting, telling
from everwhen.cli.safe_printing import local
from everwhen.errors import UsageError


@app.command()
def banks(here: GlobalOptions) -> None:
    """The banks in the home folder, or in the database."""
    from everwhen.store.files.home import home_folder

    kept = here.banks()
    found = {name: kept.size(name) for name in kept.names()}
    if here.printed([{"bank": name, "bytes": size} for name, size in found.items()]):
        return
    for name, size in found.items():
        here.say(f"{name}  {_size(size)}")
    if not found:
        where = "the database" if here.store else home_folder(here.home)
        here.say(f"no bank in {where}; `everwhen add TEXT` makes one")


@app.command()
def stats(here: GlobalOptions) -> None:
    """How much a bank holds."""
    with here.open() as memory:
        found, zone = memory.stats(), here.zone_of(memory)
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
        "first": f"{local(found.first, zone):%Y-%m-%d %H:%M} {zone}" if found.first else "-",
        "last": f"{local(found.last, zone):%Y-%m-%d %H:%M} {zone}" if found.last else "-",
        "on disk": _size(found.bytes),
        "schema": str(found.schema),
    }
    for name, value in rows.items():
        here.say(f"{name:<10} {value}")


@app.command()
def doctor(
    here: GlobalOptions,
    fix: Annotated[bool, Option("--fix", help="Rebuild what is derived; turns are never touched.")] = False,
    salvage: Annotated[
        Path | None,
        Option(
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
    if not here.printed({"bank": memory.bank, "findings": findings}):
        for one in findings:
            here.say(f"{'mended' if one.fixed else 'found'} ({one.check}): {one.problem}")
        if not findings:
            here.say(f"bank {memory.bank} is sound")
        elif not fix:
            here.remark(
                "`everwhen bank doctor --fix` rebuilds what is derived; what was said is never touched"
            )
    if any(not one.fixed for one in findings):
        raise Exit(1)


def _salvage(here: GlobalOptions, out: Path) -> None:
    from everwhen.api.memory import Memory

    bank = here.bank or "default"
    count = Memory.salvage(out, here.home, bank)
    if not here.printed({"bank": bank, "turns": count, "file": out}) and str(out) != "-":
        here.say(
            f"{count:,} turns of bank {bank} can be read, and are in {out}; "
            f"`everwhen import {out} --bank NAME` makes a new bank of them"
        )


@app.command()
def zone(
    here: GlobalOptions,
    name: Annotated[
        str | None, Argument(help="Europe/Lisbon, +05:30, …; without it the zone is only told.")
    ] = None,
) -> None:
    """The zone in which a bank counts days.

    It is that of questions, and of messages that come without one; what was read before stays as it was read.
    """
    with here.open(zone=name) as memory:
        found = {"bank": memory.bank, "zone": memory.zone}
        if not here.printed(found):
            here.say(f"bank {memory.bank} counts days in {memory.zone}")


@app.command()
def reembed(
    here: GlobalOptions,
    bank: Annotated[str, Argument(help="The bank.")],
    model: Annotated[str, Option(help="conversation-1, fastembed:…, openai:… or sentence-transformers:…")],
) -> None:
    """Give a bank the vectors of another embedding model."""
    here.bank = bank
    current = here.banks().embedder_of(bank)  # whatever EVERWHEN_EMBEDDER says
    with here.open(embedder=current) as memory:
        with counting(here, f"embedding with {model}", memory.stats().turns) as tick:
            memory.reembed(model, progress=tick)
        found = memory.stats()
    here.tell(found, f"bank {bank}: {found.passages:,} vectors of {found.dimension} by {found.embedder}")


@app.command()
def move(
    here: GlobalOptions,
    to: Annotated[str, Option("--to", help="The home folder, or postgresql://…, that gets the banks.")],
    banks: Annotated[
        list[str] | None, Argument(metavar="BANK…", help="The banks [--bank, else all].", show_default=False)
    ] = None,
    source: Annotated[
        str | None,
        Option("--from", help="The home or database that has them [--store, --home].", show_default=False),
    ] = None,
    delete_source: Annotated[
        bool, Option("--delete-source", help="Delete each bank at the source once its copy is verified.")
    ] = False,
) -> None:
    """Copy banks to another home or database.

    Each record is verified. After an interruption the same command goes on.
    """
    from everwhen.store.banks import banks_at
    from everwhen.store.files.home import home_folder, is_address
    from everwhen.upkeep.transfer import move_bank

    ours, theirs = (
        where if is_address(where) else str(home_folder(where).resolve())
        for where in (source or here.store or str(here.home or ""), to)
    )
    if ours == theirs:
        raise UsageError(f"{to} is where the banks are already; name another home (--to)")
    kept, target = banks_at(ours), banks_at(theirs)
    moved = []
    with telling(here) as told:
        for name in banks or ([here.bank] if here.bank else kept.names()):

            def tick(done: int, total: int, name: str = name) -> None:
                told(f"{name} (records)", done, total)

            moved.append(move_bank(kept, target, name, delete_source=delete_source, progress=tick))
    if here.printed(moved):
        return
    for one in moved:
        how = "was there already" if one.was_there else "is moved"
        gone = ", and deleted at the source" if one.deleted else ""
        here.say(f"bank {one.bank} {how}: {sum(one.records.values()):,} records, verified{gone}")
    if not moved:
        here.say(f"no bank in {ours}")


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
