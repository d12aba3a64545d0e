"""Banks that are being built beside those whose place they will take: rows of another number, under another name.

When such a bank is complete, the name is given to it in one transaction: others see the old bank or the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from everwhen.store.postgres.connection import PostgresConnection
from everwhen.store.sql.maintenance import SqlMaintenance
from everwhen.store.sql.store import SqlStore
from everwhen.store.sql.transfer import SqlLoader


class Parts(Protocol):
    """What loading asks of the banks of a database."""

    def building(self, bank: str, source: str) -> PostgresConnection:
        """A way to what is built beside a bank: by an earlier attempt from the same source, or empty."""
        ...

    def replace(self, bank: str) -> None:
        """Give the bank's name to what was built beside it."""
        ...

    def number(self, bank: str) -> int | None:
        """The number of a bank; None where there is none."""
        ...


class PostgresMaintenance(SqlMaintenance):
    """The `MaintenanceStore` of a bank. The contract of each method is in `everwhen.store.maintenance`."""

    def __init__(self, store: SqlStore, parts: Parts, ways: Sequence[PostgresConnection]) -> None:
        super().__init__(store)
        self._bank = store.info.name
        self._parts = parts
        self._ways = ways

    def loader(self, source: str) -> SqlLoader:
        return SqlLoader(self._parts.building(self._bank, source), source)

    def take_over(self) -> None:
        self._parts.replace(self._bank)
        self.follow()

    def follow(self) -> None:
        """Go to the bank that has the name now, where another one took the place of this one."""
        number = self._parts.number(self._bank)
        for way in self._ways:
            way.bank = way.bank if number is None else number
