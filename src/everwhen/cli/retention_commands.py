"""`forget`, `retain`, `export`, `backup`, `restore`: keep what is to be kept, and nothing else."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Exit, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.progress import counting
from everwhen.cli.safe_printing import local
from everwhen.errors import UsageError

if TYPE_CHECKING:
    from everwhen.api.memory import Memory
    from everwhen.types import Receipt

SHOWN = 5
"""Turns of a dry run that are shown."""
WIDTH = 80
"""Characters of each."""
DryRun = Annotated[bool, Option("--dry-run", help="Only show what would go.")]


@app.command(epilog="`everwhen show grep WORD` shows the ids of turns.")
def forget(
    here: GlobalOptions,
    turn: Annotated[
        list[str] | None, Option("--turn", "-t", help="A turn's id; may be given several times.")
    ] = None,
    session: Annotated[str | None, Option(help="A whole session.")] = None,
    entity: Annotated[str | None, Option(help="Everything about somebody or something.")] = None,
    between: Annotated[
        str | None, Option(metavar="TIME", help="What was said then: 'July 2025', or from A to B as A..B.")
    ] = None,
    everything: Annotated[bool, Option("--everything", help="All that the bank holds.")] = False,
    dry_run: DryRun = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget for good: turns with all that was made of them, down to the bytes. They do not come back."""
    if not (turn or session or entity or between or everything):
        raise UsageError(
            "forget what? name it with --turn, --session, --entity, --between TIME or --everything "
            "(--dry-run only shows what would go)"
        )
    with here.reading() as (memory, clock):
        window = clock.window(between)
        go = partial(
            memory.forget, turns=turn, session=session, entity=entity, between=window, everything=everything
        )
        if not dry_run and not yes:
            if not sys.stdin.isatty():
                raise UsageError("forgetting cannot be undone: say --yes, or --dry-run to see what would go")
            planned = go(dry_run=True)
            _show(here, planned)
            _show_turns(here, memory, planned)
            typer.confirm("Forget all of this for good?", abort=True)
        receipt = go(dry_run=dry_run)
        _show(here, receipt)
        if dry_run:
            _show_turns(here, memory, receipt)
    if not dry_run and not receipt.erased:
        raise Exit(1)


@app.command()
def retain(
    here: GlobalOptions,
    rule: Annotated[
        str | None,
        Option(
            help='Set the rule: "keep raw turns 90 days, summaries for ever"; "" keeps everything. '
            "With --dry-run it is only tried."
        ),
    ] = None,
    now: Annotated[str | None, Option(help="Count ages from here [now].")] = None,
    dry_run: DryRun = False,
) -> None:
    """Delete what the bank's retention rule says has expired."""
    with here.reading() as (memory, clock):
        receipt = memory.retain(clock.first(now, "now"), rule=rule, dry_run=dry_run)
        said = rule if dry_run and rule is not None else memory.retention
    if not here.json:
        here.say(said or "no rule: everything is kept; --rule sets one")
    _show(here, receipt)


@app.command()
def export(
    here: GlobalOptions,
    file: Annotated[Path, Argument(help="The file to write; - is standard output, .gz is compressed.")],
    vectors: Annotated[
        bool, Option("--vectors/--no-vectors", help="With the vectors; without them it is far smaller.")
    ] = True,
) -> None:
    """Write the whole bank as JSON lines.

    With a checksum; `import` makes an equal bank of it.
    """
    with here.open() as memory, counting(here, f"exporting {memory.bank}") as tick:
        rows = memory.export(file, vectors=vectors, progress=tick)
    if str(file) == "-":
        return
    here.tell(
        {"bank": memory.bank, "file": file, "rows": rows, "bytes": file.stat().st_size},
        f"bank {memory.bank}: {rows:,} records in {file}",
    )


@app.command()
def backup(
    here: GlobalOptions,
    path: Annotated[Path, Argument(help="The file to write, or a folder for it.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace a file that is there.")] = False,
) -> None:
    """Copy the bank into one file, and verify the copy.

    Others may use the bank meanwhile.
    """
    with here.open() as memory:
        written = memory.backup(path, overwrite=overwrite)
    here.tell(
        {"bank": memory.bank, "file": written, "bytes": written.stat().st_size},
        f"bank {memory.bank} is saved in {written}, and the copy is verified",
    )


@app.command()
def restore(
    here: GlobalOptions,
    file: Annotated[Path, Argument(help="What `backup` wrote.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Take the place of a bank that is there.")] = False,
) -> None:
    """Bring a bank back from a backup. What was forgotten since then stays forgotten."""
    from everwhen.api.memory import Memory

    bank = here.bank or "default"
    turns = Memory.restore(file, here.home, bank, overwrite=overwrite)
    here.tell({"bank": bank, "file": file, "turns": turns}, f"bank {bank} is restored: {turns:,} turns")


def _show_turns(here: GlobalOptions, memory: Memory, planned: Receipt) -> None:
    """The first turns that would go, each with its day and its first words, and how many more."""
    if here.json:
        return
    for id_ in planned.turns[:SHOWN]:
        turn = memory.turn(id_)
        words = shorten(turn.text, WIDTH, placeholder="…")
        here.say(
            (f"  {local(turn.said_at, turn.zone):%Y-%m-%d} ", "cyan"), (f"{turn.speaker}: ", "bold"), words
        )
    if (more := len(planned.turns) - SHOWN) > 0:
        here.say(f"  and {more:,} more turns")


def _show(here: GlobalOptions, receipt: Receipt) -> None:
    """A receipt: how many of each went, and what was made again."""
    if here.printed(receipt):
        return
    counts = {
        "turns": len(receipt.turns),
        "sessions": len(receipt.sessions),
        "events": len(receipt.events),
        "narratives": len(receipt.narratives),
        "summaries": len(receipt.nodes),
        "facts": len(receipt.facts),
        "entities": len(receipt.entities),
        "vectors": receipt.vectors,
        "links": receipt.links,
        "cached": receipt.cached,
    }
    went = "would go" if receipt.dry_run else "gone"
    listed = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    here.say(f"{went}: {listed or 'nothing'}")
    if receipt.rebuilt:
        again = "would be" if receipt.dry_run else "are"
        here.say(f"{len(receipt.rebuilt):,} turns stay and {again} read again without it")
    for note in receipt.notes:
        here.say(note)
