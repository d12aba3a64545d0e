"""The Banks protocol: all the banks of one home, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from everwhen.store.base import Store

ForgetAgain: TypeAlias = Callable[[Store, Sequence[str], Sequence[str]], None]
"""Forgets turns and facts of a store, by their ids."""


class Banks(Protocol):
    """The banks of one home, whether they are open or not.

    Above: memory, serve and the command line, which know no database. Below: one kind of database. Every call but
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
