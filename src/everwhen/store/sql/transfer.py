"""Builds a whole bank from records, which will take another one's place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from everwhen.errors import Damaged, EverwhenError
from everwhen.store.maintenance import Record
from everwhen.store.sql.records import SqlSnapshot, write_records
from everwhen.store.sql.session import Connection, Sql
from everwhen.store.sql.units import texts_of_units
from everwhen.store.terms import Tokenizer

_LOADING = "loading"
"""The key under which a bank that is being built says from what, and how far it came."""


class SqlLoader:
    """The `Loader` of a bank that nobody uses yet. It keeps its own progress: an interrupted load goes on there."""

    def __init__(self, connection: Connection, source: str) -> None:
        self._connection = connection
        self._source = source
        with connection.use() as sql:
            begun = progress(sql)
        self.offset, self.chain = begun[1:] if begun else (0, "")

    def put(self, records: Sequence[Record], offset: int, chain: str) -> None:
        try:
            with self._connection.transaction() as sql:
                write_records(sql, records)
                sql.run("put_kept_value", (_LOADING, json.dumps([self._source, offset, chain])))
        except EverwhenError as error:
            if type(error) is not EverwhenError:
                raise
            raise Damaged(f"the export has a record that the bank cannot hold ({error})") from error
        self.offset, self.chain = offset, chain

    def finish(self, counts: Mapping[str, int], name: str) -> None:
        with self._connection.transaction() as sql:
            found = SqlSnapshot(sql).counts()
            for kind, count in counts.items():
                if found.get(kind) != count:
                    raise Damaged(
                        f"the export promises {count} records of kind {kind}, and {found.get(kind, 0)} came"
                    )
            make_terms(sql)
            sql.run("put_bank_value", ("name", name))
            sql.run("drop_kept_value", (_LOADING,))

    def close(self) -> None:
        self._connection.close()


def progress(sql: Sql) -> tuple[str, int, str] | None:
    """What a bank is being built from, and how far that came; None where nobody builds it."""
    row = sql.run("kept_value", (_LOADING,)).fetchone()
    if row is None:
        return None
    source, offset, chain = json.loads(row[0])
    return source, offset, chain


def make_terms(sql: Sql) -> None:
    """Give every unit its search terms, which follow from its words."""
    tokenizer = Tokenizer()
    for page in texts_of_units(sql):
        fresh = tokenizer.packed([f"{row[1]} {row[2]}" for row in page], [row[3] for row in page])
        made = {row[0]: terms for row, terms in zip(page, fresh, strict=True)}
        sql.run_many("set_terms", [(terms, unit) for unit, terms in made.items()])
        sql.post_terms(made)
