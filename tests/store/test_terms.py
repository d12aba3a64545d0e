"""Terms and BM25 against FTS5, which is the truth of keyword search."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.store.base import TOKENIZE, Tokenizer, hash_term
from everwhen.store.rows import Filter
from everwhen.store.sqlite import SqliteStore
from tests.conformance.finding import by_words
from tests.conformance.turns import DIMENSION, turn

TEXTS = [
    "The violin lesson is on Tuesday, and the violinist comes early.",
    "I bought a new violin case; running late!",
    "Nothing about music here, only running shoes.",
    "Café Nero at noon? The café was closed.",
    "Tuesday Tuesday Tuesday",
]


def full_text_store(folder: Path) -> tuple[SqliteStore, sqlite3.Connection]:
    """A bank, and FTS5 over the same texts."""
    store = SqliteStore.open(folder / "b.db", embedder="fake", dimension=DIMENSION, zone="UTC")
    store.append([turn(f"t{i}", text, hours=i) for i, text in enumerate(TEXTS)])
    sql = sqlite3.connect(":memory:")
    sql.execute(f"CREATE VIRTUAL TABLE full USING fts5 (speaker, text, tokenize = '{TOKENIZE}')")
    sql.executemany("INSERT INTO full (rowid, speaker, text) VALUES (?, 'Ana', ?)", enumerate(TEXTS, 1))
    return store, sql


def test_postings_find_exactly_the_rows_that_fts5_finds(tmp_path: Path) -> None:
    store, sql = full_text_store(tmp_path)
    for word in ("violin", "violinist", "runs", "cafe", "tuesday", "music", "absent"):
        expected = {row[0] for row in sql.execute("SELECT rowid FROM full WHERE full MATCH ?", (word,))}
        assert {found.unit for found in by_words(store, word, 99, Filter())} == expected, word
    store.close()


def test_order_is_that_of_fts5_for_a_single_word(tmp_path: Path) -> None:
    # For one word the idf is a common factor, so the two formulas must agree in order and in proportion.
    store, sql = full_text_store(tmp_path)
    for word in ("tuesday", "violin", "running"):
        rows = sql.execute(
            "SELECT rowid, -bm25(full) FROM full WHERE full MATCH ? ORDER BY bm25(full)",
            (word,),
        ).fetchall()
        found = by_words(store, word, 99, Filter())
        assert [unit for unit, _ in found] == [row[0] for row in rows]
        ratios = np.array([score for _, score in found]) / np.array([row[1] for row in rows])
        np.testing.assert_allclose(ratios, ratios[0], rtol=1e-4)
    store.close()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=5))
def test_any_text_can_be_tokenized_and_texts_do_not_mix(texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    tokenizer = Tokenizer()
    together = tokenizer.counts(texts)
    assert together == [tokenizer.counts([text])[0] for text in texts]


def test_a_query_keeps_its_content_words_only_unless_it_has_none() -> None:
    tokenizer = Tokenizer()
    assert tokenizer.query("When did she say that the violin was his?") == [hash_term("violin")]
    assert len(tokenizer.query("where were you")) == 3
    assert tokenizer.query("?!") == []


def test_words_keep_their_terms_however_many_others_were_asked() -> None:
    tokenizer = Tokenizer()
    asked = ["running", "the", "violins", "running"]
    terms = [[hash_term("run")], [], [hash_term("violin")], [hash_term("run")]]
    assert tokenizer.terms(asked) == terms
    for number in range(0, 5_000, 500):
        others = [f"word{one}" for one in range(number, number + 500)]
        assert tokenizer.terms(others) == [[hash_term(word)] for word in others]
        assert tokenizer.terms(asked) == terms
    assert len(tokenizer._terms_of) < 5_000
