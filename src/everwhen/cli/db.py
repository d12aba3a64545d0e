"""`db` and `worker`: banks in PostgreSQL, and the work behind the requests of several servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from everwhen.cli.app import Commands, GlobalOptions, app

if TYPE_CHECKING:
    from everwhen.store.opening import Database

db = Commands(help="The PostgreSQL database that holds the banks (--store).", no_args_is_help=True)
app.add_typer(db, name="db")


@db.command()
def init(here: GlobalOptions) -> None:
    """Check the server, and make the tables. Safe to run again, and by several at once."""
    _migrate(here)


@db.command()
def migrate(here: GlobalOptions) -> None:
    """Bring the tables to the newest schema. The first command of a newer everwhen does it as well."""
    _migrate(here)


@db.command()
def check(here: GlobalOptions) -> None:
    """Say what the database is, and whether it can be used."""
    found = _server(here).describe()
    if not here.printed(found):
        for name, value in found.items():
            here.console.print(f"{name:14}{value}")
    if found["missing"]:
        raise typer.Exit(1)


@db.command()
def index(here: GlobalOptions) -> None:
    """Make the indexes that large banks lack. Others may use the banks meanwhile; a worker does it by itself."""
    from everwhen.store.opening import index as build

    server = _server(here)
    assert here.store is not None
    server.migrate()
    made = build(here.store, None if here.json else lambda bank: here.console.print(f"{bank} …"))
    here.tell(
        {"database": server.where, "indexed": made},
        f"{server.where}: an index made for {', '.join(made)}" if made else f"{server.where}: nothing to do",
    )


@db.command()
def distribute(
    here: GlobalOptions,
    shards: Annotated[
        int, typer.Option(min=1, max=4096, help="Parts that the banks are spread over; fixed afterwards.")
    ] = 32,
) -> None:
    """Spread the banks over the machines of Citus, each bank on one. Stop servers and workers first."""
    from everwhen.store.opening import distribute as spread

    server = _server(here)
    assert here.store is not None
    made = spread(here.store, shards, None if here.json else lambda table: here.console.print(f"{table} …"))
    here.tell(
        {"database": server.where, "distributed": made},
        f"{server.where}: {len(made)} tables distributed" if made else f"{server.where}: nothing to do",
    )


@app.command()
def worker(
    here: GlobalOptions,
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits any more.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks.")] = 2.0,
) -> None:
    """Extract what waits, in all banks, until it is told to end. Several may run, on several machines."""
    import signal
    import threading

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    banks = here.banks()
    while True:
        done = 0
        for bank in banks.waiting():
            if stop.is_set():
                break
            here.bank = bank
            with here.open() as memory:
                count = memory.process()
                memory.consolidate()
            done += count
            if count:
                here.tell({"bank": bank, "processed": count}, f"bank {bank}: {count} turns extracted")
        if stop.is_set() or (once and not done):
            return
        if not done:
            stop.wait(every)


def _migrate(here: GlobalOptions) -> None:
    server = _server(here)
    made = server.migrate()
    here.tell(
        {"database": server.where, "made": made},
        f"{server.where}: {', '.join(made)}" if made else f"{server.where}: nothing to do",
    )


def _server(here: GlobalOptions) -> Database:
    from everwhen.errors import UsageError
    from everwhen.store.opening import open_database

    if here.store is None:
        raise UsageError("which database? give --store postgresql://USER@HOST/NAME, or set EVERWHEN_STORE")
    return open_database(here.store)
