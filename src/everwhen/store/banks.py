"""The Banks protocol, all the banks of one home by name, and the one place that chooses which database they are in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from everwhen.errors import Unavailable, UsageError
from everwhen.store.answers import Shared
from everwhen.store.files.home import home_folder, is_address, store_address
from everwhen.store.sql.store import ForgetAgain, Store
from everwhen.store.sqlite.banks import SqliteBanks

if TYPE_CHECKING:
    from everwhen.store.postgres.server import Server

    Database = Server


class Banks(Protocol):
    """The banks of one home, whether they are open or not.

    Used by: memory, serve and the command line, which know no database. Uses: one kind of database. Every call but
    `names` refuses what is no name of a bank here (`UsageError`), as `check_name` does.
    """

    def check_name(self, bank: str) -> None:
        """That a bank has this name, or may get it."""
        ...

    def names(self) -> list[str]:
        """The banks that exist, sorted."""
        ...

    def exists(self, bank: str) -> bool: ...

    def waiting(self) -> list[str]:
        """The banks in which turns wait for extraction, sorted. One that cannot be read is left out."""
        ...

    def size(self, bank: str) -> int:
        """The bytes that a bank takes; 0 for one that does not exist."""
        ...

    def embedder_of(self, bank: str) -> str | None:
        """The embedder that a bank was made with; None for one that does not exist, or cannot be read."""
        ...

    def open(
        self, bank: str, *, embedder: str, dimension: int | Callable[[], int], zone: str, create: bool = True
    ) -> Store:
        """Open a bank, or make it. Its embedder must be the one it was made with.

        `dimension` is asked for only when the bank is new. One that cannot be written is opened for reading.
        """
        ...

    def alone(self, bank: str) -> AbstractContextManager[None]:
        """Inside, no other server that asks for this has the bank: for a write that looks first (If-Match).

        Banks in files are served by one process, or by workers that do not look at each other: nothing happens there.
        """
        ...

    def drop(self, bank: str) -> None:
        """Delete a bank with all that belongs to it; nothing happens where there is none."""
        ...

    def back_up(self, bank: str, target: Path) -> None:
        """A verified copy of a bank in one file, whoever writes meanwhile."""
        ...

    def restore(self, bank: str, source: Path, *, replace: bool, forget: ForgetAgain) -> int:
        """Put a backup into a bank's place; how many turns it holds. A bank that exists needs `replace`.

        What the bank has forgotten since the backup is forgotten again, by `forget`.
        """
        ...

    def salvage(self, bank: str) -> Iterator[dict[str, Any]]:
        """The turns that can be read in a damaged bank, as messages for an import."""
        ...

    def loaded(self, bank: str, embedder: str, forget: ForgetAgain) -> AbstractContextManager[Store]:
        """What `KeepStore.loader` has made beside a bank, open inside the block, which may complete it.

        At the end of the block it forgets what the bank has forgotten. `KeepStore.take_over` then puts it into the
        bank's place.
        """
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
        from everwhen.store.postgres import banks
        from everwhen.store.postgres.server import server_of
    return banks.distribute(server_of(address), shards=shards, progress=progress)


def index(address: str, progress: Callable[[str], None] | None = None) -> list[str]:
    """Make the indexes that large banks of a database lack; the banks that got one."""
    with _postgres(address):
        from everwhen.store.postgres.server import server_of
        from everwhen.store.postgres.store import build_index, large_banks
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
