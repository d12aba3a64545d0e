"""PostgreSQL under the store: one writer of a bank, lost connections, migrations, and values as they come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from everwhen.errors import EverwhenError, NotFound, Refused, Unavailable, UsageError
from everwhen.store.base import PACKED, Tokenizer, hash_term
from everwhen.store.index import Postings
from everwhen.store.postgres import server as servers
from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.connection import OF_A_BANK, PostgresConnection, PostgresSql, term_key
from everwhen.store.postgres.server import SCHEMA, Server
from everwhen.store.postgres.store import PostgresStore
from tests.conformance.turns import DIMENSION, START, turn


@pytest.fixture
def banks(postgres: str) -> PostgresBanks:
    return PostgresBanks(postgres)


@pytest.fixture
def store(banks: PostgresBanks) -> PostgresStore:
    return banks.open("b", embedder="fake", dimension=DIMENSION, zone="UTC")


@pytest.fixture
def bank(banks: PostgresBanks) -> PostgresConnection:
    return banks.connect("b")


@pytest.fixture
def empty_database(postgres_address: str) -> Iterator[str]:
    """A database that nothing has been made in."""
    with psycopg.connect(postgres_address, autocommit=True) as sql:
        sql.execute("DROP DATABASE IF EXISTS everwhen_bare WITH (FORCE)")
        sql.execute("CREATE DATABASE everwhen_bare TEMPLATE template0")
        yield make_conninfo(postgres_address, dbname="everwhen_bare")
        sql.execute("DROP DATABASE everwhen_bare WITH (FORCE)")


def end_connections(address: str) -> int:
    """End every connection of everwhen to a database, as a restart of the server does."""
    with psycopg.connect(address, autocommit=True) as sql:
        return len(
            sql.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = 'everwhen'"
            ).fetchall()
        )


# The schema


def test_ten_servers_that_start_at_once_on_postgres_make_one_schema(empty_database: str) -> None:
    started = [Server(empty_database) for _ in range(10)]
    with ThreadPoolExecutor(10) as pool:
        made = list(pool.map(Server.migrate, started))
    assert sum(map(bool, made)) == 1
    assert Server(empty_database).migrate() == []


def test_a_postgres_schema_of_a_newer_everwhen_is_refused(empty_database: str, postgres: str) -> None:
    Server(empty_database).migrate()
    with psycopg.connect(empty_database, autocommit=True) as sql:
        sql.execute("INSERT INTO everwhen.migrations (version, name) VALUES (%s, 'later')", (SCHEMA + 1,))
    with pytest.raises(Refused, match="newer everwhen"):
        Server(empty_database).migrate()


def test_a_bank_that_a_newer_everwhen_upgraded_meanwhile_is_not_written(bank: PostgresConnection) -> None:
    with bank.use() as sql:
        sql.raw.execute("INSERT INTO migrations (version, name) VALUES (%s, 'later')", (SCHEMA + 1,))
    try:
        with pytest.raises(Refused, match="upgraded by a newer everwhen"), bank.transaction():
            pass
    finally:
        with bank.use() as sql:
            sql.raw.execute("DELETE FROM migrations WHERE version > %s", (SCHEMA,))
    with bank.transaction():
        pass


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (
            ("0.8.3", "0.8.3"),
            "is version 0.8.3, and versions before 0.8.4 can damage an index: install 0.8.4",
        ),
        (("0.7.0", "0.8.5"), "run ALTER EXTENSION vector UPDATE"),
        ((None, None), "has no pgvector; install version 0.8.4"),
    ],
)
def test_an_old_pgvector_is_refused_by_postgres_banks(
    postgres: str, monkeypatch: pytest.MonkeyPatch, versions: tuple[str | None, str | None], said: str
) -> None:
    monkeypatch.setattr(servers, "_vector_versions", lambda raw: versions)
    with pytest.raises(Refused, match=said):
        Server(postgres).migrate()


def test_an_old_postgres_is_refused(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_OLDEST_SERVER", 99)
    with pytest.raises(Refused, match="everwhen needs 99 or newer"):
        Server(postgres).migrate()


def test_a_postgres_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(Unavailable, match=r"PostgreSQL at 127\.0\.0\.1:9/x cannot be reached") as told:
        Server("postgresql://ana:hidden@127.0.0.1:9/x").migrate()
    assert "hidden" not in str(told.value)
    with pytest.raises(UsageError, match="write postgresql://"):
        Server("postgresql://[")


# One writer


def test_a_postgres_bank_has_one_writer_at_a_time(banks: PostgresBanks) -> None:
    one, two = banks.connect("b"), banks.connect("b")
    with one.transaction():
        with pytest.raises(Unavailable, match="locked by another process"), two.transaction(wait=0.1):
            pass
        with banks.connect("other").transaction(wait=0.1):
            pass  # another bank waits for nobody
    with two.transaction(wait=0.1):
        pass


def test_the_order_of_numbers_in_postgres_is_the_order_of_commits(banks: PostgresBanks) -> None:
    committed: list[int] = []

    def write(connection: PostgresConnection) -> None:
        for _ in range(10):
            with connection.transaction() as sql:
                (number,) = sql.numbers("turns", 1)
                time.sleep(0.001)
                committed.append(number)

    writers = [banks.connect("b") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, writers))
    assert committed == list(range(1, 41))


def test_a_postgres_transaction_that_fails_leaves_nothing(bank: PostgresConnection) -> None:
    with pytest.raises(ZeroDivisionError), bank.transaction() as sql:
        sql.run("put_bank_value", ("a", "1"))
        with bank.use() as same:
            assert same.run("bank_values").fetchall() == [("a", "1")]
        1 / 0  # noqa: B018
    with bank.use() as sql:
        assert sql.run("bank_values").fetchall() == []
    with pytest.raises(EverwhenError, match="within another one"), bank.transaction(), bank.transaction():
        pass


def test_a_postgres_snapshot_stands_still(banks: PostgresBanks) -> None:
    writer, reader = banks.connect("b"), banks.connect("b")
    with reader.snapshot() as sql:
        assert sql.run("bank_values").fetchall() == []
        with writer.transaction() as other:
            other.run("put_bank_value", ("a", "1"))
        assert sql.run("bank_values").fetchall() == []
    with reader.use() as sql:
        assert sql.run("bank_values").fetchall() == [("a", "1")]


def test_work_that_met_another_transaction_in_postgres_is_done_again(bank: PostgresConnection) -> None:
    tries = []

    def work(sql: PostgresSql) -> int:
        tries.append(1)
        sql.run("put_bank_value", ("tries", str(len(tries))))
        if len(tries) < 3:
            raise psycopg.errors.SerializationFailure("could not serialize access")
        return len(tries)

    assert bank.retried(work) == 3
    with pytest.raises(Unavailable, match="changed by another process at the same time"), bank.transaction():
        raise psycopg.errors.DeadlockDetected("deadlock detected")


# Lost connections


def test_a_lost_connection_to_postgres_is_replaced_where_nothing_was_done_yet(
    bank: PostgresConnection, postgres: str
) -> None:
    with bank.use() as sql:
        assert sql.run("bank_values").fetchall() == []
        assert end_connections(postgres) >= 1
        assert sql.run("bank_values").fetchall() == []
    end_connections(postgres)
    with bank.transaction() as sql:
        sql.run("put_bank_value", ("a", "1"))
    end_connections(postgres)
    with bank.snapshot() as sql:
        assert sql.run("bank_values").fetchall() == [("a", "1")]


def test_a_connection_to_postgres_lost_in_a_transaction_is_told_and_nothing_is_half_done(
    bank: PostgresConnection, postgres: str
) -> None:
    with pytest.raises(Unavailable, match="was lost"), bank.transaction() as sql:
        sql.run("put_bank_value", ("a", "1"))
        end_connections(postgres)
        sql.run("put_bank_value", ("b", "2"))
    with bank.use() as sql:
        assert sql.run("bank_values").fetchall() == []
    with bank.transaction() as sql:
        sql.run("put_bank_value", ("a", "1"))


def test_threads_share_a_postgres_bank(store: PostgresStore) -> None:
    problems: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for number in range(5):
                store.append([turn(f"{name}{number}")])
                assert list(store.turns(ids=[f"{name}{number}"]))
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [] and store.stats().turns == 20 and store.check() == []


def test_a_postgres_bank_knows_who_has_spoken(store: PostgresStore) -> None:
    assert store.voices().speakers == frozenset()
    store.append(
        [turn(f"{who}{number}", speaker=who) for number in range(3) for who in ("Ana", "Zoë", "ana")]
    )
    assert store.voices().speakers == {"Ana", "Zoë", "ana"}
    with store.keep.forgetting() as eraser:
        eraser.expire([f"ana{number}" for number in range(3)], (), START)
    assert store.voices().speakers == {"Ana", "Zoë"}


# Banks


def test_postgres_banks_keep_their_rows_apart(banks: PostgresBanks) -> None:
    one, two = (banks.open(name, embedder="fake", dimension=DIMENSION, zone="UTC") for name in ("a", "b"))
    for store in (one, two):
        store.append([turn("same"), turn("other")])
    assert [row.seq for row in one.turns()] == [row.seq for row in two.turns()] == [1, 2]
    banks.drop("a")
    assert [row.id for row in two.turns()] == ["same", "other"] and two.check() == []
    with pytest.raises(Unavailable, match="was removed"):
        one.append([turn("late")])
    with banks.server.lent() as lent:
        assert lent.raw.execute("SELECT count(*) FROM banks").fetchone() == (1,)
        for table in (*OF_A_BANK, "counters", "posting_totals"):
            assert lent.raw.execute(f"SELECT count(DISTINCT bank_id) FROM {table}").fetchone() in [(0,), (1,)]


def test_postgres_plans_for_a_bank_without_a_guess_at_its_size(
    store: PostgresStore, bank: PostgresConnection
) -> None:
    """A bank that is new beside a very large one would count as empty, and be joined with itself row by row."""
    with bank.use() as sql:
        rows = sql.raw.execute(
            "SELECT c.relname, a.attstattarget FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid "
            "WHERE c.relnamespace = 'everwhen'::regnamespace AND c.relkind = 'r' AND a.attname = 'bank_id'"
        ).fetchall()
    counted = {name for name, target in rows if target != 0}
    assert len(rows) > 40 and counted == {"banks"}


def test_postgres_banks_made_by_many_at_once_are_one(banks: PostgresBanks) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: banks.connect("b").bank, range(8)))
    assert len(set(made)) == 1 and banks.names() == ["b"]


def test_a_bank_in_postgres_is_copied_by_the_means_of_postgres(banks: PostgresBanks, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="pg_dump"):
        banks.back_up("b", tmp_path / "copy")
    with pytest.raises(Refused, match="pg_restore"):
        banks.restore("b", tmp_path / "copy", replace=True, forget=lambda *_: None)
    with pytest.raises(NotFound):
        banks.connect("b", create=False)


def test_a_closed_postgres_bank_says_so(store: PostgresStore) -> None:
    store.close()
    with pytest.raises(Unavailable, match="was closed"):
        store.stats()


# Values


def test_instants_come_back_from_postgres_as_text(bank: PostgresConnection) -> None:
    said = "2024-02-29T23:59:59.000001Z"
    with bank.use() as sql:
        row = sql.raw.execute(
            "SELECT %s::timestamptz, '-infinity'::timestamptz, 'infinity'::timestamptz, '0002-01-01Z'::timestamptz, "
            "'9999-12-31T23:59:59.999999Z'::timestamptz, NULL::timestamptz",
            (said,),
            binary=True,
        ).fetchone()
    assert row == (said, "", "~", "0002-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999Z", None)


def test_vectors_come_back_from_postgres_with_half_the_bits(store: PostgresStore) -> None:
    vector = np.linspace(-1, 1, DIMENSION, dtype=np.float32)
    vector /= np.linalg.norm(vector)
    store.append([turn("a", vectors=[vector])])
    found = store.graph.vectors(["a"])[0]
    assert found.dtype == np.float32 and np.abs(found - vector).max() < 5e-4
    near = store.graph.similar(vector[None], "turn", 0.5, 3)
    assert [unit for unit, _ in near[0]] == [1] and abs(near[0][0][1] - 1.0) < 1e-3


def test_postings_of_postgres_are_those_of_the_embedded_index(
    store: PostgresStore, banks: PostgresBanks
) -> None:
    texts = {"a": "the violin in the hall", "b": "a hall for two violins", "c": "nothing of that"}
    store.append([turn(id_, text) for id_, text in texts.items()])
    with store.keep.forgetting() as eraser:
        eraser.remove(["b"], (), ())
    store.append([turn("d", "violin again")])
    kept = [f"Ana {texts['a']}", f"Ana {texts['c']}", "Ana violin again"]
    with banks.connect("b").use() as sql:
        speaker = sql.raw.execute("SELECT DISTINCT speaker FROM turns").fetchone()
        assert speaker is not None
        packed = Tokenizer().packed([one.replace("Ana", speaker[0]) for one in kept], ["", "", ""])
        sizes = np.array([len(one) // PACKED.itemsize for one in packed])
        built = Postings.build(np.frombuffer(b"".join(packed), dtype=PACKED), sizes)
        rows = sql.raw.execute(
            "SELECT term, unit, halves, length FROM postings ORDER BY term, unit"
        ).fetchall()
        wanted = [
            (term_key(int(term)), [1, 3, 4][row], int(halves), float(built.lengths[row]))
            for term, start, end in zip(built.vocabulary, built.offsets, built.offsets[1:], strict=False)
            for row, halves in zip(built.rows[start:end], built.halves[start:end], strict=True)
        ]
        assert rows == sorted(wanted)
        totals = sql.raw.execute("SELECT units, halves FROM posting_totals WHERE NOT node").fetchone()
        assert totals == (3, round(2 * float(built.lengths.sum())))
    index = store.index()
    violin = next(iter(Tokenizer().counts(["violin"])[0]))
    (held,) = index.holding([[hash_term(violin)]], np.array([0], dtype=np.int16))
    assert held.tolist() == [1, 4]
