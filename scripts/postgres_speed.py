"""Times the search of one large bank in SQLite and in PostgreSQL, in one run: the same turns, questions and moments.

    python scripts/postgres_speed.py postgresql://USER@HOST/NAME --units 10000

The turns are those of `everwhen bench speed`. PostgreSQL gets the rows of the SQLite bank by COPY.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from everwhen.memory import DEFAULT_EMBEDDER, Memory
from everwhen.models.embed import gives_tokens, open_embedder
from everwhen.recall import MID
from everwhen.settings import load
from everwhen.store import Filter, NewTurn, Store
from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.connection import term_key
from everwhen.store.postgres.store import PostgresStore
from everwhen.store.postgres.values import HalfVector
from everwhen.store.search import SaidBy, SearchQuery, Wanted
from everwhen.store.sqlite import SqliteStore
from everwhen.store.sqlite.files import bank_path
from everwhen.store.terms import PACKED
from everwhen_bench import speed
from everwhen_bench.metrics import percentile

COPIED = {
    "turns": "seq, said_at, recorded_at, tokens, id, session, segment, role, speaker, text, zone, metadata",
    "units": "seq, turn, context_turn, mentioned_at, recorded_at, level, pieces, id, kind, network, context",
}
WHERE = Filter(kinds=frozenset({"turn", "fact"}))


def build(home: Path, units: int) -> SqliteStore:
    """A bank of so many turns, without links."""
    chance, noise = random.Random(7), np.random.default_rng(7)
    words, embedder = speed._vocabulary(chance), open_embedder(DEFAULT_EMBEDDER)
    pool, codes = speed._pool(embedder, speed._pool_sentences())
    store = SqliteStore.open(
        bank_path(home, "speed"), embedder=DEFAULT_EMBEDDER, dimension=embedder.dim, zone="UTC"
    )
    for first in range(0, units, speed.BATCH):
        count = min(speed.BATCH, units - first)
        vectors = speed._mixtures(pool, count, noise)
        turns = speed._turns(first, count, words, chance)
        store.append(
            [
                NewTurn(
                    turn,
                    vectors[i : i + 1],
                    store.info.model,
                    context=turn.text[-80:],
                    codes=codes[i % len(codes)],
                )
                for i, turn in enumerate(turns)
            ]
        )
    return store


def copy(source: Path, target: PostgresStore) -> None:
    """Give a bank that is empty the rows of another one."""
    rows = sqlite3.connect(source)
    bank = target._rows.bank
    with target._rows.server.lent() as lent, lent.raw.transaction():
        raw = lent.raw

        def put(table: str, columns: str, types: list[str], lines: Iterator[tuple[Any, ...]]) -> None:
            binary = "(FORMAT BINARY)" if types else ""
            with raw.cursor().copy(f"COPY {table} ({columns}) FROM STDIN {binary}".encode()) as stream:
                if types:
                    stream.set_types(types)
                for line in lines:
                    stream.write_row(line)

        for table, columns in COPIED.items():
            found = rows.execute(f"SELECT {columns} FROM {table} ORDER BY seq")
            put(table, f"bank_id, {columns}", [], ((bank, *row) for row in found))
        put(
            "unit_turns",
            "bank_id, unit, turn",
            ["int8"] * 3,
            ((bank, *row) for row in rows.execute("SELECT unit, turn FROM unit_turns")),
        )
        put(
            "token_codes",
            "bank_id, unit, codes",
            ["int8", "int8", "bytea"],
            ((bank, *row) for row in rows.execute("SELECT unit, codes FROM token_codes")),
        )
        raw.execute("CREATE TEMP TABLE given (unit bigint, piece int, vector halfvec) ON COMMIT DROP")
        vectors = rows.execute("SELECT unit, piece, vector FROM vectors ORDER BY unit, piece")
        put(
            "given",
            "unit, piece, vector",
            ["int8", "int4", "halfvec"],
            ((unit, piece, HalfVector(np.frombuffer(one, "<f4"))) for unit, piece, one in vectors),
        )
        raw.execute(
            """INSERT INTO vectors (bank_id, unit, piece, vector, mentioned_at, recorded_at, kind, network, role,
                                 speaker)
            SELECT u.bank_id, u.seq, g.piece, g.vector, u.mentioned_at, u.recorded_at, u.kind, u.network, t.role,
                   t.speaker
            FROM given g JOIN units u ON u.bank_id = %s AND u.seq = g.unit
            JOIN turns t ON (t.bank_id, t.seq) = (u.bank_id, u.turn) ORDER BY g.unit, g.piece""",
            (bank,),
        )
        raw.execute(
            """UPDATE units u SET session = t.session FROM turns t
            WHERE u.bank_id = %s AND (t.bank_id, t.seq) = (u.bank_id, u.turn)""",
            (bank,),
        )
        raw.execute("CREATE TEMP TABLE packed (unit bigint, halves bigint, terms bytea) ON COMMIT DROP")
        held = [
            (unit, np.frombuffer(terms, PACKED))
            for unit, terms in rows.execute("SELECT seq, terms FROM units")
        ]
        put(
            "packed",
            "unit, halves, terms",
            ["int8", "int8", "bytea"],
            ((unit, int(terms["halves"].sum(dtype=int)), terms.tobytes()) for unit, terms in held),
        )
        raw.execute(
            "UPDATE units u SET terms = p.terms, halves = p.halves FROM packed p "
            "WHERE u.bank_id = %s AND u.seq = p.unit",
            (bank,),
        )
        put(
            "postings",
            "bank_id, term, unit, length, halves, node",
            ["int8", "int8", "int8", "float4", "int2", "bool"],
            (
                (bank, term_key(term), unit, terms["halves"].sum(dtype=int) / 2, halves, False)
                for unit, terms in held
                for term, halves in terms.tolist()
            ),
        )
        raw.execute(
            "INSERT INTO terms SELECT bank_id, term, count(*), 0 FROM postings WHERE bank_id = %s GROUP BY 1, 2",
            (bank,),
        )
        raw.execute(
            """UPDATE posting_totals t SET units = s.units, halves = s.halves
            FROM (SELECT count(*) AS units, sum(halves) AS halves FROM units WHERE bank_id = %(bank)s) s
            WHERE t.bank_id = %(bank)s AND NOT t.node""",
            {"bank": bank},
        )
        raw.execute(
            """UPDATE counters SET last = (SELECT max(seq) FROM units WHERE bank_id = %(bank)s)
            WHERE bank_id = %(bank)s AND name IN ('turns', 'units')""",
            {"bank": bank},
        )
    with target._rows.server.lent() as lent:
        lent.raw.execute("VACUUM ANALYZE")


def timed(stores: dict[str, Store], work: Callable[[Store, int], Any], times: int) -> dict[str, list[float]]:
    """How long something takes in each store, turn by turn."""
    took: dict[str, list[float]] = {name: [] for name in stores}
    for number in range(times):
        for name, store in stores.items():
            start = perf_counter()
            work(store, number)
            took[name].append((perf_counter() - start) * 1000)
    return {name: several[5:] for name, several in took.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--units", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--home", type=Path)
    given = parser.parse_args()
    home = given.home or Path(tempfile.mkdtemp())
    banks = PostgresBanks(given.address)
    name = f"speed{given.units}"
    path = bank_path(home, "speed")
    if not path.exists():
        build(home, given.units).close()
    embedder = open_embedder(DEFAULT_EMBEDDER)
    made = not banks.exists(name)
    remote = banks.open(name, embedder=DEFAULT_EMBEDDER, dimension=embedder.dim, zone="UTC")
    if made:
        start = perf_counter()
        copy(path, remote)
        print(f"copied in {perf_counter() - start:.0f} s")
    local = SqliteStore.open(path, embedder=DEFAULT_EMBEDDER, dimension=embedder.dim, zone="UTC")
    stores: dict[str, Store] = {"sqlite": local, "postgres": remote}
    chance = random.Random(3)
    questions = speed._questions(given.units, chance)
    assert gives_tokens(embedder)
    vectors = [embedder.embed_question(one)[0][0] for one in questions[: given.times]]

    def candidates(store: Store, number: int) -> Any:
        query = SearchQuery(vectors[number], questions[number], WHERE)
        who = SaidBy(frozenset({speed.SPEAKERS[number % 2]}))
        return store.search(query).candidates(Wanted(100, whose=(None, who)))

    def evidence(store: Store, number: int) -> Any:
        found = candidates(store, number)
        units = {one.unit for several in (*found.meaning, *found.words) for one in several}
        search = store.search(SearchQuery(vectors[number], questions[number], WHERE))
        return search.evidence(units, tokens=("garden",), sessions=True, codes=True)

    for number in range(3):
        same(candidates(local, number), candidates(remote, number))
    for title, work in {"candidates": candidates, "candidates + evidence": evidence}.items():
        for store, took in timed(stores, work, given.times).items():
            print(f"{title:24}{store:10} p50 {percentile(took, 50):7.1f}  p95 {percentile(took, 95):7.1f} ms")
    settings = load(extract="none", cache_entries=0)
    for title, recipe in {
        "recall": MID,
        "recall without the reader": speed.UNREAD,
        "recall, low": speed.LOW,
    }.items():
        memories = {key: Memory(store, embedder, settings) for key, store in stores.items()}
        took = {key: [] for key in memories}
        for number in range(given.times):
            for key, memory in memories.items():
                start = perf_counter()
                memory.recall(questions[number], recipe=recipe)
                took[key].append((perf_counter() - start) * 1000)
        for key, several in took.items():
            print(
                f"{title:24}{key:10} p50 {percentile(several[5:], 50):7.1f}  p95 {percentile(several[5:], 95):7.1f} ms"
            )


def same(one: Any, other: Any) -> None:
    """The same candidates, but for what rounding exchanges."""
    for mine, theirs in zip((*one.meaning, *one.words), (*other.meaning, *other.words), strict=True):
        shared = {unit for unit, _ in mine} & {unit for unit, _ in theirs}
        print(f"same candidates: {len(shared)} of {len(mine)}, {len(theirs)}")


if __name__ == "__main__":
    main()
