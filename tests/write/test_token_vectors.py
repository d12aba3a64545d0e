"""Token vectors from the words of a turn to the bank: written with it, filled in later, gone with it."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from everwhen import Memory
from everwhen.models.embedder import (
    CODE_FORMAT,
    IN_CONTEXT,
    MOST_TOKENS,
    TOKEN_BYTES,
    ConversationEmbedder,
    decode_codes,
    is_readable,
)
from everwhen.models.fake_embedder import FakeEmbedder
from everwhen.store.sqlite.connection import SCHEMA
from everwhen.write.remember import SpokenTurn, embed_spoken

EMBEDDER = ConversationEmbedder(threads=1)
AT = datetime(2025, 3, 1, tzinfo=UTC)


def bank_codes(home: Path, bank: str = "b") -> dict[str, bytes]:
    with sqlite3.connect(home / "banks" / f"{bank}.db") as sql:
        return dict(sql.execute("SELECT u.id, c.codes FROM token_codes c JOIN units u ON u.seq = c.unit"))


def without_codes(home: Path, bank: str = "b") -> None:
    """The bank when its token vectors are lost."""
    with sqlite3.connect(home / "banks" / f"{bank}.db") as sql:
        sql.execute("DELETE FROM token_codes")


def test_a_turn_s_codes_are_those_of_its_own_words_with_their_speaker() -> None:
    spoken = [
        SpokenTurn("Ana", "I sold the red bicycle."),
        SpokenTurn("Ben", "To whom?", before="Ana: I sold the red bicycle."),
    ]
    one, other = embed_spoken(EMBEDDER, spoken)
    assert one.codes == EMBEDDER.embed_with_codes(["Ana: I sold the red bicycle."])[1][0]
    read = f"Ana: I sold the red bicycle.{IN_CONTEXT}Ben: To whom?"
    assert other.codes == EMBEDDER.embed_with_codes([read])[1][0]
    assert decode_codes([other.codes])[1].tolist() == [3]  # ben to whom


def test_vectors_are_what_they_are_without_codes() -> None:
    class Plain:
        name, dim, reads_context = EMBEDDER.name, EMBEDDER.dim, True
        embed, pieces = EMBEDDER.embed, EMBEDDER.pieces

    spoken = [
        SpokenTurn("Ana", "one two"),
        SpokenTurn("Ben", "three", before="Ana: one two"),
        SpokenTurn("Ana", "x " * 900),
    ]
    for with_codes, without in zip(
        embed_spoken(EMBEDDER, spoken), embed_spoken(Plain(), spoken), strict=True
    ):
        assert np.allclose(with_codes.vectors, without.vectors, atol=1e-6)
        assert with_codes.codes and not without.codes


def test_a_long_turn_stays_small() -> None:
    (one,) = embed_spoken(
        EMBEDDER, [SpokenTurn("assistant", "Here is another sentence about the garden. " * 120)]
    )
    assert len(one.vectors) > 3
    assert is_readable(one.codes)
    assert len(one.codes) <= 1 + max(MOST_TOKENS, 16 * len(one.vectors)) * TOKEN_BYTES


def test_an_embedder_without_token_vectors_gives_no_codes() -> None:
    (one,) = embed_spoken(FakeEmbedder(), [SpokenTurn("Ana", "hello")])
    assert one.codes == b""


def test_added_turns_have_codes_and_other_units_have_none(home: Path) -> None:
    with Memory.open(home, "b") as memory:
        memory.add([{"role": "user", "content": "I moved to Porto in May 2023.", "id": "a"}], at=AT)
        memory.add("!!!", at=AT)
        memory.flush()
        assert memory.stats().events > 0
        assert memory.doctor() == []
    codes = bank_codes(home)
    assert len(codes) == 2
    assert decode_codes([codes["a"]])[1][0] == 9  # user I moved to Porto in May 202 ##3


def test_a_bank_without_codes_is_read_as_before_and_doctor_fills_them_in(home: Path) -> None:
    with Memory.open(home, "b", extract="none") as memory:
        memory.add(
            [{"role": "user", "content": f"I planted {i} trees.", "id": f"t{i}"} for i in range(5)], at=AT
        )
    before = bank_codes(home)
    without_codes(home)
    with Memory.open(home, "b", extract="none") as memory:
        assert memory.stats().schema == SCHEMA
        assert memory.recall("trees").memories
        (finding,) = memory.doctor()
        assert finding.check == "tokens" and not finding.fixed
        assert "5 turns" in finding.problem and "everwhen bank doctor --fix" in finding.problem
        memory.add([{"role": "user", "content": "And a sixth.", "id": "t6"}], at=AT)
        (mended,) = memory.doctor(fix=True)
        assert mended.fixed
        assert memory.doctor() == []
    after = bank_codes(home)
    assert after.pop("t6").startswith(CODE_FORMAT)
    assert after == before


def test_another_embedder_brings_its_own_codes_or_none(home: Path) -> None:
    with Memory.open(home, "b", embedder="fake", reader="none", extract="none") as memory:
        memory.add("We planted a tree.", at=AT)
        assert memory.doctor() == []
        assert bank_codes(home) == {}
        memory.reembed("conversation-1")
        assert len(bank_codes(home)) == 1 and memory.doctor() == []
        memory.reembed("fake")
        assert bank_codes(home) == {} and memory.doctor() == []


def test_codes_go_with_their_unit(home: Path) -> None:
    with Memory.open(home, "b", extract="none") as memory:
        memory.add(
            [{"role": "user", "content": "one", "id": "a"}, {"role": "user", "content": "two", "id": "b"}],
            at=AT,
        )
    from everwhen.store.base import remove_units
    from everwhen.store.sqlite.connection import SqliteSql

    with sqlite3.connect(home / "banks" / "b.db") as sql:
        sql.execute("PRAGMA foreign_keys = ON")
        (unit,) = sql.execute("SELECT seq FROM units WHERE id = 'a'").fetchone()
        remove_units(SqliteSql(sql), [unit])
    assert list(bank_codes(home)) == ["b"]
