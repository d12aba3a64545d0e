"""Every database must pass this suite: a new one adds its banks to the fixture `banks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everwhen.store.banks import Banks
from everwhen.store.sql.store import Store
from everwhen.store.sqlite.banks import SqliteBanks
from tests.conformance.turns import DIMENSION

Reopen = Callable[[], Store]
Open = Callable[[str], Store]

DATABASES = ("sqlite", "postgres")
with_files = pytest.mark.parametrize("banks", ["sqlite"], indirect=True)
"""For what a bank in a file of its own can do: PostgreSQL copies and restores databases by its own means."""


@pytest.fixture(params=DATABASES)
def banks(request: pytest.FixtureRequest, tmp_path: Path) -> Banks:
    """The banks of a home that is empty."""
    if request.param == "postgres":
        from everwhen.store.postgres.banks import PostgresBanks

        return PostgresBanks(request.getfixturevalue("postgres"))
    return SqliteBanks(tmp_path)


@pytest.fixture
def opened(banks: Banks) -> Iterator[Open]:
    """Open a bank by its name, as often as wanted; all are closed in the end."""
    stores: list[Store] = []

    def again(bank: str) -> Store:
        stores.append(banks.open(bank, embedder="fake", dimension=DIMENSION, zone="UTC"))
        return stores[-1]

    yield again
    for store in stores:
        store.close()


@pytest.fixture
def reopen(opened: Open) -> Reopen:
    """Open the same bank, as often as wanted."""
    return lambda: opened("b")


@pytest.fixture
def store(reopen: Reopen) -> Store:
    return reopen()
