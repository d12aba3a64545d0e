"""Banks over several machines: with Citus, every statement of a bank is one task on one machine.

`EVERWHEN_TEST_CITUS_DSN` names a database of a coordinator in which `CREATE EXTENSION citus` was run, and which may be
emptied. One machine is enough: a coordinator that holds shards itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import psycopg
import pytest

from everwhen import Memory
from everwhen.cli.app import run
from everwhen.store.postgres.banks import DISTRIBUTED, REFERENCE, PostgresBanks
from everwhen.store.postgres.server import compiled, server_of
from tests.store.test_postgres_statements import numbered, parts_of, runnable

ADDRESS = os.environ["EVERWHEN_TEST_CITUS_DSN"]


@pytest.fixture(scope="module")
def citus() -> Iterator[str]:
    """A database that was distributed after it held a bank."""
    with psycopg.connect(ADDRESS, autocommit=True) as sql:
        sql.execute("DROP SCHEMA IF EXISTS everwhen CASCADE")
    with Memory.open(ADDRESS, "before", embedder="fake", reader="none", extract="none") as memory:
        memory.add("I live in Leeds", session="s")
    assert run(["db", "distribute", "--shards", "4", "--store", ADDRESS]) == 0
    yield ADDRESS
    server_of(ADDRESS).close()


def test_tables_are_spread_by_bank_and_lie_together(citus: str) -> None:
    with psycopg.connect(citus) as sql:
        rows = sql.execute(
            "SELECT table_name::text, citus_table_type, distribution_column, colocation_id FROM citus_tables "
            "WHERE table_name::text LIKE 'everwhen.%'"
        ).fetchall()
    found = {name.removeprefix("everwhen."): (kind, column) for name, kind, column, _ in rows}
    assert {name for name, (kind, _) in found.items() if kind == "reference"} == set(REFERENCE)
    assert {
        name for name, (kind, column) in found.items() if (kind, column) == ("distributed", "bank_id")
    } == {*DISTRIBUTED}
    assert len({together for _, kind, _, together in rows if kind == "distributed"}) == 1


def test_distributing_again_does_nothing(citus: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["db", "distribute", "--store", citus]) == 0
    assert "nothing to do" in capsys.readouterr().out


@pytest.mark.parametrize("name", runnable())
def test_a_statement_of_a_bank_is_one_task(citus: str, name: str) -> None:
    text = compiled(name, parts_of(name))
    order = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    with PostgresBanks(citus).connect("before").use() as sql:
        sql.raw.execute("SET plan_cache_mode = force_custom_plan")
        sql.raw.execute(f"PREPARE asked AS {numbered(text)}".encode())
        try:
            values = ", ".join(str(sql.bank) if one == "bank" else "NULL" for one in order)
            plan = "\n".join(row[0] for row in sql.raw.execute(f"EXPLAIN EXECUTE asked ({values})".encode()))
        finally:
            sql.raw.execute("DEALLOCATE asked")
    tasks = [int(count) for count in re.findall(r"Task Count: (\d+)", plan)]
    assert all(count <= 1 for count in tasks) and len(tasks) <= 1, plan
    # Rows that are given as lists are made on the coordinator, which then writes them where they belong.
    made_here = "INSERT/SELECT method: pull to coordinator" in plan
    assert tasks or made_here or "One-Time Filter: false" in plan or "Custom Scan" not in plan, plan


def test_a_bank_lives_as_it_does_on_one_machine(citus: str) -> None:
    with Memory.open(citus, "before", create=False, embedder="fake", reader="none") as memory:
        assert [turn.text for turn in memory.turns()] == ["I live in Leeds"]
        added = memory.add("Ana moved to Porto in May 2025", session="s")
        memory.flush()
        assert memory.stats().pending == 0 and memory.doctor() == []
        assert "Porto" in memory.recall("where does Ana live? Porto")[0].text
        memory.facts.correct("Ana", "lives in", "Lisbon")
        memory.consolidate()
        memory.forget(turns=list(added.turns))
        assert memory.doctor() == []
    for name in ("one", "two", "three"):
        with Memory.open(citus, name, embedder="fake", reader="none", extract="none") as memory:
            memory.add(f"this is {name}")
            assert memory.stats().turns == 1
    banks = PostgresBanks(citus)
    banks.drop("two")
    assert banks.names() == ["before", "one", "three"]
