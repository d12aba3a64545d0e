"""Many small banks, in files and in PostgreSQL: how long a recall in any of them takes, and what the process needs.

One bank is filled as `speed` does and then copied, by file or by rows. Each measured recall is of a bank that nobody
has asked yet, in a process that keeps all of them open, as a server does with banks that are in use.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Any

from everwhen.api.memory import Memory
from everwhen.store.banks import open_banks
from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.connection import OF_A_BANK
from everwhen.store.sqlite.banks import SqliteBanks
from everwhen_bench.speed import LOW, build, percentiles, questions, vocabulary

ASKED = 500
AT_ONCE = 500


def run(store: str, units: int, count: int, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Make so many banks of so many units in a temporary folder and in a database, and measure both in one run."""
    os.environ.pop("EVERWHEN_STORE", None)
    prefix = f"many-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home, remote = Path(folder), PostgresBanks(store)
        stack.callback(_drop, remote, prefix)
        for banks in (open_banks(home), remote):
            build(banks, units, vocabulary(random.Random(7)), random.Random(7), None, f"{prefix}-0")
        start = perf_counter()
        copy_rows(remote, prefix, count, progress)
        copied = perf_counter() - start
        copy_files(home, prefix, min(count, ASKED + 1))
        chosen = random.Random(5).sample(range(1, count), min(ASKED, count - 1))
        return {
            "banks": count,
            "units": units,
            "copied_s": copied,
            "bytes_per_unit": _bytes(remote) / (count * units),
            "sqlite": _asked(home, None, [f"{prefix}-{one}" for one in range(1, len(chosen) + 1)], units),
            "postgresql": _asked(home, store, [f"{prefix}-{one}" for one in chosen], units),
        }


def copy_files(home: Path, prefix: str, count: int) -> None:
    """As many as are asked: a file does not know how many others there are."""
    first = SqliteBanks(home).path(f"{prefix}-0")
    for place in range(1, count):
        shutil.copy(first, SqliteBanks(home).path(f"{prefix}-{place}"))


def copy_rows(banks: PostgresBanks, prefix: str, count: int, progress: Callable[[int], None] | None) -> None:
    """All rows of the first bank under other numbers, by statements of the server."""
    source = banks.number(f"{prefix}-0")
    tables = ("banks", "counters", "posting_totals", *reversed(OF_A_BANK))
    with banks.server.directly() as raw:
        raw.execute("SET search_path = everwhen, public")
        for first in range(1, count, AT_ONCE):
            places = list(range(first, min(first + AT_ONCE, count)))
            numbers = [secrets.randbits(62) for _ in places]
            names = [f"{prefix}-{place}" for place in places]
            with raw.transaction():
                raw.execute(
                    "INSERT INTO banks (bank_id, name) SELECT * FROM unnest(%s::bigint[], %s::text[])",
                    (numbers, names),
                )
                for table in tables[1:]:
                    columns = [
                        row[0]
                        for row in raw.execute(
                            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'everwhen' "
                            "AND table_name = %s AND column_name <> 'bank_id' ORDER BY ordinal_position",
                            (table,),
                        )
                    ]
                    listed, taken = (
                        ", ".join(f'{before}"{column}"' for column in columns) for before in ("", "t.")
                    )
                    raw.execute(
                        f"INSERT INTO {table} (bank_id, {listed}) SELECT n.bank, {taken} FROM {table} t "
                        "CROSS JOIN unnest(%s::bigint[]) AS n (bank) WHERE t.bank_id = %s".encode(),
                        (numbers, source),
                    )
            if progress:
                progress(places[-1] + 1)
        raw.execute("VACUUM ANALYZE")


def _asked(home: Path, store: str | None, banks: list[str], units: int) -> dict[str, Any]:
    """The first recall of each bank, with its opening; and the memory of the process, bank by bank."""
    times, memory = [], {}
    asked = questions(units, random.Random(7))
    with ExitStack() as stack:
        for place, (bank, question) in enumerate(zip(banks, asked * len(banks), strict=False)):
            start = perf_counter()
            opened = stack.enter_context(
                Memory.open(home, bank, store=store, cache_entries=0, extract="none", create=False)
            )
            opened.recall(question, recipe=LOW)
            times.append((perf_counter() - start) * 1000)
            if place + 1 in (10, 100, len(banks)):
                memory[str(place + 1)] = _rss_mb()
    return {"first_recall_ms": percentiles(times[10:]), "rss_mb": memory}


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _bytes(banks: PostgresBanks) -> int:
    with banks.server.directly() as raw:
        row = raw.execute(
            "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c "
            "WHERE c.relnamespace = 'everwhen'::regnamespace AND c.relkind = 'r'"
        ).fetchone()
    return row[0] if row else 0


def _drop(banks: PostgresBanks, prefix: str) -> None:
    """All of them at once."""
    with banks.server.directly() as raw:
        raw.execute("SET search_path = everwhen, public")
        numbers = [
            row[0] for row in raw.execute("SELECT bank_id FROM banks WHERE name LIKE %s", (f"{prefix}-%",))
        ]
        for table in (*OF_A_BANK, "posting_totals", "counters", "banks"):
            raw.execute(f"DELETE FROM {table} WHERE bank_id = ANY (%s)".encode(), (numbers,))
