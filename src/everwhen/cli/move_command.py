"""`move`: banks from one home or database to another."""

from __future__ import annotations

from typing import Annotated

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.progress import telling


@app.command()
def move(
    here: GlobalOptions,
    to: Annotated[str, typer.Option("--to", help="The home folder, or postgresql://…, that gets the banks.")],
    banks: Annotated[
        list[str] | None,
        typer.Argument(metavar="BANK…", help="The banks [--bank, else all].", show_default=False),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The home or database that has them [--store, --home].",
            show_default=False,
        ),
    ] = None,
    delete_source: Annotated[
        bool,
        typer.Option("--delete-source", help="Delete each bank at the source once its copy is verified."),
    ] = False,
) -> None:
    """Copy banks to another home or database.

    Each record is verified. After an interruption the same command goes on.
    """
    from everwhen.errors import UsageError
    from everwhen.home import home_folder, is_address
    from everwhen.maintenance.move import move_bank
    from everwhen.store.opening import banks_at

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
        here.console.print(f"bank {one.bank} {how}: {sum(one.records.values()):,} records, verified{gone}")
    if not moved:
        here.console.print(f"no bank in {ours}")
