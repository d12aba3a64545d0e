"""Coded token vectors: kept with their turn, read for a few candidates, gone with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from everwhen.store.rows import Filter, NewTurn
from everwhen.store.sql.store import Store
from tests.conformance.conftest import Reopen
from tests.conformance.finding import by_meaning, codes_of
from tests.conformance.turns import MODEL, direction, turn


def coded(id: str, codes: bytes, **arguments: Any) -> NewTurn:
    return replace(turn(id, **arguments), codes=codes)


def seqs(store: Store) -> dict[str, int]:
    found = by_meaning(store, direction(1.0), 100, Filter())
    return {row.id: seq for seq, row in store.units([one.unit for one in found]).items()}


def test_codes_come_back_for_the_units_that_have_them(reopen: Reopen) -> None:
    store = reopen()
    store.append([coded("a", b"\x01aa"), turn("b"), coded("c", b"\x01" + bytes(range(256)) * 100)])
    known = seqs(reopen())
    found = codes_of(store, [known["c"], known["b"], known["a"], 10_000])
    assert found == {known["a"]: b"\x01aa", known["c"]: b"\x01" + bytes(range(256)) * 100}
    assert codes_of(store, []) == {}


def test_a_turn_that_was_there_keeps_its_codes(store: Store) -> None:
    store.append([coded("a", b"\x01first")])
    assert store.append([coded("a", b"\x01second")]) == [False]
    assert list(codes_of(store, list(seqs(store).values())).values()) == [b"\x01first"]


def test_turns_without_codes_of_a_format_are_named_and_can_be_given_them(store: Store) -> None:
    store.append([coded("a", b"\x01x"), coded("b", b"\x02y"), turn("c")])
    assert store.turns_without_codes(b"\x01") == ["b", "c"]
    store.put_codes({"b": b"\x01y", "c": b"\x01z", "gone": b"\x01"}, MODEL)
    assert store.turns_without_codes(b"\x01") == []
    known = seqs(store)
    assert codes_of(store, [known["b"], known["c"]]) == {known["b"]: b"\x01y", known["c"]: b"\x01z"}


def test_other_vectors_bring_other_codes_or_none(store: Store) -> None:
    store.append([coded("a", b"\x01x"), coded("b", b"\x01y")])
    known = seqs(store)
    vectors = {id_: np.stack([direction(0.0, 1.0)]) for id_ in known}
    assert store.replace_vectors("fake", 8, vectors, {"b": b"\x01new", "a": b""}) == []
    assert codes_of(store, list(known.values())) == {known["b"]: b"\x01new"}
    assert store.replace_vectors("fake", 8, vectors) == []
    assert codes_of(store, list(known.values())) == {}


def test_a_sound_bank_with_codes_has_no_findings(store: Store) -> None:
    store.append([coded("a", b"\x01x"), turn("b", hours=1)])
    assert store.check() == []
