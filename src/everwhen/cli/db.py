"""`db` and `worker`: banks in PostgreSQL, and the work behind the requests of several servers."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

from typer import Exit, Option

from everwhen.cli.app import Commands, GlobalOptions, app
from everwhen.errors import EverwhenError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from everwhen.store.banks import Database

db = Commands(help="The PostgreSQL database that holds the banks (--store).", no_args_is_help=True)
app.add_typer(db, name="db")


@db.command()
def init(here: GlobalOptions) -> None:
    """Check the server, and make the tables. Safe to run again, and by several at once."""
    migrate(here)


@db.command()
def migrate(here: GlobalOptions) -> None:
    """Bring the tables to the newest schema. The first command of a newer everwhen does it as well."""
    server = _server(here)
    _told(here, server, "made", server.migrate())


@db.command()
def check(here: GlobalOptions) -> None:
    """Say what the database is, and whether it can be used."""
    found = _server(here).describe()
    if not here.printed(found):
        for name, value in found.items():
            here.say(f"{name:14}{value}")
    if found["missing"]:
        raise Exit(1)


@db.command()
def index(here: GlobalOptions) -> None:
    """Make the indexes that large banks lack. Others may use the banks meanwhile; a worker does it by itself."""
    from everwhen.store.banks import index as build

    server = _server(here)
    assert here.store is not None
    server.migrate()
    made = build(here.store, None if here.json else lambda bank: here.remark(f"{bank} …", style=None))
    _told(here, server, "indexed", made, f"an index made for {', '.join(made)}")


@db.command()
def distribute(
    here: GlobalOptions,
    shards: Annotated[
        int, Option(min=1, max=4096, help="Parts that the banks are spread over; fixed afterwards.")
    ] = 32,
) -> None:
    """Spread the banks over the machines of Citus, each bank on one. Stop servers and workers first."""
    from everwhen.store.banks import distribute as spread

    server = _server(here)
    assert here.store is not None
    made = spread(
        here.store, shards, None if here.json else lambda table: here.remark(f"{table} …", style=None)
    )
    _told(here, server, "distributed", made, f"{len(made)} tables distributed")


@app.command()
def worker(
    here: GlobalOptions,
    once: Annotated[bool, Option("--once", help="End when nothing waits any more.")] = False,
    every: Annotated[float, Option(min=0.1, help="Seconds between two looks.")] = 2.0,
) -> None:
    """Extract what waits in all banks, until it is told to end.

    Once a day it looks for facts to verify. Several may run, on several machines.
    """
    import signal
    import threading
    import time

    from everwhen.settings import load

    between, due = load().stale_scan_seconds, 0.0
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
        if between and not once and time.monotonic() >= due:
            due = time.monotonic() + between
            for bank in banks.names():
                here.bank = bank
                with suppress(EverwhenError), here.open() as memory:  # a broken one says so where it is used
                    if count := len(memory.facts.stale()):
                        here.tell({"bank": bank, "stale": count}, f"bank {bank}: {count} facts to verify")
        if not done:
            stop.wait(every)


def _told(here: GlobalOptions, server: Database, what: str, made: Sequence[str], said: str = "") -> None:
    said = said or ", ".join(made)
    here.tell({"database": server.where, what: made}, f"{server.where}: {said if made else 'nothing to do'}")


def _server(here: GlobalOptions) -> Database:
    from everwhen.store.banks import open_database

    if here.store is None:
        raise UsageError("which database? give --store postgresql://USER@HOST/NAME, or set EVERWHEN_STORE")
    return open_database(here.store)
