"""The banks of a home, or of a database: the one place that chooses which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from everwhen.errors import Unavailable, UsageError
from everwhen.store.answers import Shared
from everwhen.store.banks import Banks
from everwhen.store.files.home import home_folder, is_address, store_address
from everwhen.store.sqlite.banks import SqliteBanks


class Database(Protocol):
    """What holds the banks of several servers, as a whole."""

    where: str
    """Its address, without the password."""

    def migrate(self) -> list[str]:
        """Bring the schema to the newest version; the names of the changes that were made."""
        ...

    def describe(self) -> dict[str, Any]:
        """Versions, and the changes of the schema that it lacks."""
        ...


def open_banks(home: Path, busy_seconds: float = 30.0, *, store: str | None = None) -> Banks:
    """The banks of a PostgreSQL database (`store`, else EVERWHEN_STORE), or those in files of a home folder.

    `busy_seconds` is how long a write waits for another one.
    """
    address = store_address(store)
    if address is None:
        return SqliteBanks(home, busy_seconds)
    with _postgres(address):
        from everwhen.store.postgres.banks import PostgresBanks
    return PostgresBanks(address, busy_seconds)


def open_shared(store: str | None, hours: float = 24.0) -> Shared | None:
    """What servers over one PostgreSQL database share, answers of the last hours among it; None for banks in files."""
    address = store_address(store)
    if address is None:
        return None
    with _postgres(address):
        from everwhen.store.postgres.answers import PostgresAnswers
    return PostgresAnswers(address, hours)


def banks_at(where: str) -> Banks:
    """The banks of one place, the address of a database or a home folder, whatever the environment names."""
    return open_banks(Path(), store=where) if is_address(where) else SqliteBanks(home_folder(where))


def open_database(address: str) -> Database:
    """The database itself, for `everwhen db`."""
    with _postgres(address):
        from everwhen.store.postgres.server import server_of
    return server_of(address)


def distribute(address: str, shards: int, progress: Callable[[str], None] | None = None) -> list[str]:
    """Spread the tables of a database over the machines of its Citus, by bank; the tables that were moved."""
    with _postgres(address):
        from everwhen.store.postgres import citus
        from everwhen.store.postgres.server import server_of
    return citus.distribute(server_of(address), shards=shards, progress=progress)


def index(address: str, progress: Callable[[str], None] | None = None) -> list[str]:
    """Make the indexes that large banks of a database lack; the banks that got one."""
    with _postgres(address):
        from everwhen.store.postgres.server import server_of
        from everwhen.store.postgres.vector_index import build_index, large_banks
    made, server = [], server_of(address)
    for bank, number, dimension in large_banks(server):
        if progress:
            progress(bank)
        if build_index(server, number, dimension):
            made.append(bank)
    return made


@contextmanager
def _postgres(address: str) -> Iterator[None]:
    """What loads its code: only here is it known to be wanted."""
    if not is_address(address):
        raise UsageError("a store is the address of a PostgreSQL database: postgresql://USER@HOST/NAME")
    try:
        yield
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"PostgreSQL needs {error.name}; install it with: pip install 'everwhen[postgres]'"
        ) from error
