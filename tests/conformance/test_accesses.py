"""Access counts: added up over connections, the most used first, and only for what is there."""

from __future__ import annotations

from datetime import timedelta

from everwhen.store.rows import Access
from tests.conformance.conftest import Reopen
from tests.conformance.turns import START, turn


def test_counts_of_two_connections_add_up_and_the_newest_time_stays(reopen: Reopen) -> None:
    store, other = reopen(), reopen()
    store.append([turn("a"), turn("b")])
    later = START + timedelta(days=1)
    store.count_accesses(3, {"a": Access(1, later), "b": Access(3, START), "gone": Access(9, later)})
    other.count_accesses(4, {"a": Access(4, START)})
    found = store.accesses(10)
    ids = {seq: row.id for seq, row in store.units(list(found)).items()}
    assert [(ids[seq], one) for seq, one in found.items()] == [
        ("a", Access(5, later)),
        ("b", Access(3, START)),
    ]
    assert list(store.accesses(1)) == list(found)[:1] and store.accesses(0) == {}
    assert store.stats().recalls == other.stats().recalls == 7


def test_a_bank_that_nobody_asked_has_no_counts(reopen: Reopen) -> None:
    store = reopen()
    store.append([turn("a")])
    assert store.accesses(10) == {} and store.stats().recalls == 0
