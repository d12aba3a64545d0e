"""Writing into PostgreSQL: as many statements for many units as for a few, each of which looks its rows up."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.connection import PostgresConnection
from everwhen.store.postgres.server import Lent, compiled
from everwhen.store.rows import Mention, Moment
from everwhen.store.sql.store import Store
from everwhen.write.links import link_causes, link_in_meaning, link_in_time
from tests.conformance.turns import START, turn
from tests.conformance.units import event
from tests.store.test_postgres_statements import numbered

LOOKED_UP = (
    "turn_units turns_told_of known_units insert_turn insert_unit insert_vector insert_derived_unit posted_units "
    "set_posted timeline drop_links links_of_type insert_mention insert_entity_name seen_entity insert_extraction "
    "release_leases "
    "raw_units derived_from told_with unpost_units delete_vectors delete_unit_turns delete_units drop_all_links "
    "drop_mentions drop_past_mentions drop_moments drop_extraction drop_failures linked_to count_links count_vectors "
    "units_resting_on names_mentioned_by reseat_units delete_provenance delete_turns units_holding words_of_units"
)


def opened(postgres: str, bank: str) -> Store:
    return PostgresBanks(postgres).open(bank, embedder="fake", dimension=8, zone="UTC")


def write_batch(store: Store, first: int, count: int) -> None:
    """What extraction writes for some turns: an event and a name each, and links of every kind."""
    ids = [f"t{n}" for n in range(first, first + count)]
    store.append([turn(id_, hours=n) for n, id_ in enumerate(ids, start=first)])
    with store.graph.writing(store.info.model) as write:
        raws = write.unit_of_turns(ids)
        seqs = write.add_units([event(f"e{id_}", id_) for id_ in ids], "rules", "1")
        ana = write.add_entity(f"Ana {first}", "PERSON")
        write.mention([Mention(raws[id_], ana, f"Ana {first}", "PERSON") for id_ in ids])
        write.add_to_timeline([Moment(unit, "turn", START) for unit in raws.values()])
        link_in_time(write, raws.values())
        link_in_meaning(write, {unit: [(other, 0.95) for other in raws.values()] for unit in raws.values()})
        events = list(seqs.values())
        link_causes(write, [(one, other, 0.5) for one, other in pairwise(events)])
        write.mark_done(ids, "rules", "1")


def test_a_long_batch_takes_as_many_statements_of_postgres_as_a_short_one(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    execute = Lent.execute

    def counted(self: Lent, text: str, values: Any = None) -> Any:
        statements.append(text)
        return execute(self, text, values)

    def refused(*_: Any) -> None:
        raise AssertionError("a statement was run for each row")

    monkeypatch.setattr(Lent, "execute", counted)
    with_store = opened(postgres, "ana")
    monkeypatch.setattr("everwhen.store.postgres.connection.PostgresSql.run_many", refused)
    counts = []
    for first, count in ((0, 3), (3, 40)):
        statements.clear()
        write_batch(with_store, first, count)
        counts.append(len(statements))
    assert counts[0] == counts[1]
    assert with_store.check() == []


def plan_of(way: PostgresConnection, name: str) -> list[str]:
    """How the server reads for a statement in a transaction that writes."""
    with way.transaction() as sql:
        sql.raw.execute(f"PREPARE asked AS {numbered(compiled(name))}".encode())
        try:
            row = sql.raw.execute(
                "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'asked'"
            ).fetchone()
            assert row is not None
            asked = f"EXPLAIN EXECUTE asked ({', '.join(['NULL'] * row[0])})"
            return [line for (line,) in sql.raw.execute(asked.encode()).fetchall()]
        finally:
            sql.raw.execute("DEALLOCATE asked")


@pytest.fixture
def new_bank(postgres: str) -> PostgresConnection:
    """A way to a bank that is none of those in the server's statistics."""
    write_batch(opened(postgres, "old"), 0, 300)
    with PostgresBanks(postgres).connect("old").use() as sql:
        sql.raw.execute("ANALYZE")
        # As if there were ten thousand such banks: of a few rows it is all the same how they are read.
        sql.raw.execute(
            "UPDATE pg_class SET reltuples = reltuples * 10000 "
            "WHERE relnamespace = 'everwhen'::regnamespace AND reltuples > 0"
        )
    opened(postgres, "new")
    return PostgresBanks(postgres).connect("new")


def test_what_is_written_into_a_new_bank_is_looked_up_by_more_than_the_bank(
    new_bank: PostgresConnection,
) -> None:
    plans = {name: plan_of(new_bank, name) for name in LOOKED_UP.split()}
    whole = {name: plan for name, plan in plans.items() if any(reads_a_bank(*two) for two in pairwise(plan))}
    assert not whole, "\n".join(line for plan in whole.values() for line in plan)


def reads_a_bank(scan: str, condition: str) -> bool:
    """Whether two lines of a plan read all rows of a table or a bank; the totals of a bank are two rows."""
    by_bank = re.search(r"(Index|Recheck) Cond: \(bank_id = \$\d+\)$", condition)
    return "Seq Scan" in scan or bool(by_bank and "posting_totals" not in scan)
