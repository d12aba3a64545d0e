"""What the shared SQL code asks of a database: named statements, run inside a transaction.

Above: the modules of this folder, which hold everything that SQLite and PostgreSQL have in common. Below: a connection
of either, with statements of the same names and parameters in its own words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

R = TypeVar("R")
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""The parameters of a statement, by place or by name. A list is one value: the statement reads its elements."""


class Rows(Protocol):
    """What a statement returns."""

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int, /) -> list[Any]: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Sql(Protocol):
    """One bank's rows, inside one transaction or for a few reads."""

    def run(self, name: str, values: Values = (), **parts: str) -> Rows:
        """Run a named statement. `parts` fill its `{…}`: the name of another statement, or SQL both databases know."""
        ...

    def together(self, asked: Iterable[tuple[str, Values, Mapping[str, str]]]) -> list[list[Any]]:
        """The rows of several named statements with their values and parts, in one round trip where there is one."""
        ...

    def run_many(self, name: str, rows: Iterable[Values]) -> None:
        """Run a named statement for each row of values, in as few round trips as the database can."""
        ...

    def run_batch(self, name: str, rows: Sequence[Values]) -> None:
        """The same by a statement that takes all rows at once, where the database is faster so: it then gets each
        parameter as the list of a column."""
        ...

    def pipeline(self) -> AbstractContextManager[None]:
        """Statements of the block whose rows are not read go out together, in one round trip where there is one."""
        ...

    def numbers(self, table: str, count: int) -> range:
        """So many new numbers for rows of a table; none is ever given twice."""
        ...

    def insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write new rows as they are, with values as they are read; what the database keeps beside them follows."""
        ...

    def vector(self, vector: Sequence[float] | NDArray[np.float32]) -> Any:
        """A vector as a value. Read again it is the bytes of little-endian 32-bit floats."""
        ...

    def post_terms(self, terms: Mapping[int, bytes]) -> None:
        """Index the search terms of units, packed as their rows have them, where the database searches by itself."""
        ...

    def unpost(self, units: Iterable[int]) -> Any:
        """Take units out of that index, before they are deleted."""
        ...

    def empty(self, but: frozenset[str]) -> None:
        """Delete all rows of the bank but those of some tables."""
        ...


class Connection(Protocol):
    """A way to one bank's rows, usable from any thread."""

    def use(self) -> AbstractContextManager[Sql]:
        """For a few reads."""
        ...

    def snapshot(self) -> AbstractContextManager[Sql]:
        """For reads that see the bank at one moment."""
        ...

    def transaction(self, *, wait: float | None = None) -> AbstractContextManager[Sql]:
        """For writing: all or nothing, by one writer of a bank at a time.

        `wait` is for how many seconds another writer is waited for; None is as the bank was opened.
        """
        ...

    def retried(self, work: Callable[[Sql], R]) -> R:
        """Run a function in a transaction, and again where another transaction was in its way."""
        ...

    def close(self) -> None: ...


class UnitIndex(Protocol):
    """What writers ask of the search index."""

    def neighbours(
        self, vectors: NDArray[np.float32], kinds: NDArray[np.int16], floor: float, limit: int
    ) -> list[list[tuple[int, float]]]:
        """For each vector the units of some kinds with a cosine above the floor, best first."""
        ...

    def holding(
        self, words: Sequence[Sequence[int]], kinds: NDArray[np.int16], limit: int | None = None
    ) -> list[NDArray[np.int64]]:
        """For each word, given by its terms, the units of some kinds that have all of them: first those that have them
        in their own words, and so many at the most."""
        ...
