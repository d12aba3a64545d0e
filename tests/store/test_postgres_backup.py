"""Backup and restore by PostgreSQL's own programs: what `docs/scale.md` tells to do."""

from __future__ import annotations

import psycopg

from everwhen import Memory
from tests.postgres import OwnServer


def test_a_dump_that_is_restored_is_the_same_memory(own_server: OwnServer) -> None:
    with Memory.open(own_server.address, "ana", embedder="fake", reader="none") as memory:
        memory.add([f"Ana moved to Leeds in 20{year}" for year in range(10, 26)], session="s")
        memory.flush()
        memory.consolidate()
        memory.facts.correct("Ana", "lives in", "Porto")
        before = _seen(memory)
    dump = str(own_server.folder / "memories.dump")
    own_server.run("pg_dump", "--format=custom", f"--file={dump}", own_server.address)
    with psycopg.connect(own_server.address, autocommit=True) as sql:
        sql.execute("CREATE DATABASE restored TEMPLATE template0")
    restored = own_server.address.removesuffix("postgres") + "restored"
    own_server.run("pg_restore", "--exit-on-error", f"--dbname={restored}", dump)
    with Memory.open(restored, "ana", create=False, reader="none") as memory:
        assert memory.doctor() == []
        assert _seen(memory) == before
        assert memory.add("and now in Faro", session="s").new == 1
        memory.flush()
        assert memory.doctor() == []


def _seen(memory: Memory) -> object:
    memory.flush()
    turns, facts = memory.turns(), memory.facts.current("Ana")
    found = memory.recall("where does Ana live?", budget=50, max_tokens=10**6)
    return turns, facts, [(one.id, one.text) for one in found], memory.stats().turns
