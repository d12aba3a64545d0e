"""Banks on several database machines: Citus spreads the tables by `bank_id`.

All rows of a bank lie in one group of shards (the tables are colocated), so that a statement which names one bank runs
on one machine. What is small and asked for with any bank (`banks`, `migrations`) is a copy on every machine. What is
of the servers (`answers`, `keys`, `audit`) stays on the coordinator, to which all connections go.
"""

from __future__ import annotations

from collections.abc import Callable

from everwhen.errors import Refused
from everwhen.store.postgres.server import Raw, Server
from everwhen.store.postgres.tables import OF_A_BANK

REFERENCE = ("migrations", "banks")
ANCHOR = "counters"
"""The table that the others are colocated with."""
DISTRIBUTED = (ANCHOR, "posting_totals", *reversed(OF_A_BANK))
"""In an order in which what is referred to comes first, as Citus asks for."""
OLDEST = 13

_HOW_TO = "see https://docs.citusdata.com for its installation"


def distribute(
    server: Server, *, shards: int = 32, progress: Callable[[str], None] | None = None
) -> list[str]:
    """Distribute the tables that are not yet; their names. Safe to run again: what was done is left as it is.

    Nobody may use the banks meanwhile: while some tables are distributed and some are not, statements fail.
    """
    made = []
    with server.changing() as raw:
        check(raw, server.where)
        raw.execute("SELECT set_config('citus.shard_count', %s, false)", (str(shards),))
        # Tables that refer to a copy on every machine cannot be changed by several connections of a transaction.
        raw.execute("SET citus.multi_shard_modify_mode TO 'sequential'")
        for table in (*REFERENCE, *DISTRIBUTED):
            if _is_done(raw, table):
                continue
            if progress:
                progress(table)
            with raw.transaction():
                raw.execute(_call(table).encode())
            made.append(table)
        for table in reversed(made):  # what refers to others first
            raw.execute(
                "SELECT truncate_local_data_after_distributing_table(%s::regclass)", (f"everwhen.{table}",)
            )
    return made


def check(raw: Raw, where: str) -> None:
    """That the database has Citus, and a version that we know."""
    row = raw.execute(
        "SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'citus'"
    ).fetchone()
    if row is None:
        raise Refused(
            f"PostgreSQL at {where} has no Citus: install Citus {OLDEST} or newer on all its machines, name it in "
            f"shared_preload_libraries and restart them ({_HOW_TO})"
        )
    installed, available = row
    if installed is None:
        raise Refused(
            f"the database at {where} does not use Citus yet: run CREATE EXTENSION citus in it, name its machines with "
            f"citus_set_coordinator_host and citus_add_node, and run this again ({_HOW_TO})"
        )
    if int(installed.split(".")[0].split("-")[0]) < OLDEST:
        raise Refused(
            f"Citus at {where} is version {installed}, and everwhen needs {OLDEST} or newer (its machine offers "
            f"{available}): upgrade it"
        )


def _is_done(raw: Raw, table: str) -> bool:
    found = raw.execute(
        "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = %s::regclass AND partmethod IN ('h', 'n') "
        "AND (partmethod = 'h' OR repmodel = 't')",
        (f"everwhen.{table}",),
    )
    return found.fetchone() is not None


def _call(table: str) -> str:
    """What distributes a table."""
    if table in REFERENCE:
        return f"SELECT create_reference_table('everwhen.{table}')"
    where = "none" if table == ANCHOR else f"everwhen.{ANCHOR}"
    return f"SELECT create_distributed_table('everwhen.{table}', 'bank_id', colocate_with => '{where}')"
