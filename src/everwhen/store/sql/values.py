"""What a bank says of itself: texts under a key."""

from __future__ import annotations

from collections.abc import Mapping

from everwhen.store.sql.session import Sql


def bank_values(sql: Sql) -> dict[str, str]:
    return dict(sql.run("bank_values").fetchall())


def put_values(sql: Sql, values: Mapping[str, str]) -> None:
    sql.run_many("put_bank_value", list(values.items()))


def next_epoch(sql: Sql) -> None:
    """Tell every process that rows which its index has seen are no longer as they were."""
    put_values(sql, {"epoch": str(int(bank_values(sql).get("epoch", "0")) + 1)})


def changed_model(bank: str, embedder: str) -> str:
    return f"bank '{bank}' was given the vectors of {embedder} meanwhile; open it again"
