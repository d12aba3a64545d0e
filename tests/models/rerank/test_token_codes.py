"""Token vectors in 48 bytes: what is lost, and what is kept whatever comes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.models.embedder import (
    CODE_FORMAT,
    MOST_TOKENS,
    MOST_TOKENS_OF_PIECE,
    STEP,
    TOKEN_BYTES,
    WIDTH,
    WINDOW,
    ConversationEmbedder,
    decode_codes,
    encode_codes,
    is_readable,
    join_codes,
    normalised,
    pool_tokens,
)

EMBEDDER = ConversationEmbedder(threads=2)


def rows(seed: int, count: int) -> np.ndarray:
    return normalised(np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32))


@given(seed=st.integers(0, 1_000), counts=st.lists(st.integers(0, 5), max_size=6))
def test_texts_come_back_one_after_the_other_and_almost_as_they_were(seed: int, counts: list[int]) -> None:
    texts = [rows(seed + i, count) for i, count in enumerate(counts)]
    tokens, found = decode_codes([encode_codes(text) for text in texts])
    assert found.tolist() == counts
    if sum(counts):
        whole = np.concatenate([text for text in texts if len(text)])
        cosines = (tokens * whole).sum(axis=1) / np.linalg.norm(tokens, axis=1)
        assert cosines.min() > 0.97
        assert np.abs(np.linalg.norm(tokens, axis=1) - 1).max() < 0.1


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_the_pieces_of_a_text_are_joined(counts: list[int]) -> None:
    pieces = [encode_codes(rows(i, count)) for i, count in enumerate(counts)]
    tokens, found = decode_codes([join_codes(pieces)])
    assert found.tolist() == [sum(counts)]
    assert (tokens == decode_codes(pieces)[0]).all()


@given(seed=st.integers(0, 100), count=st.integers(1, 400), pieces=st.integers(1, 8))
def test_a_long_text_keeps_a_bounded_number_of_vectors_in_their_order(
    seed: int, count: int, pieces: int
) -> None:
    text = rows(seed, count)
    assert decode_codes([encode_codes(text)])[1].tolist() == [min(count, MOST_TOKENS)]
    code = join_codes([encode_codes(text)] * pieces)
    assert decode_codes([code])[1].tolist() == [
        min(min(count, MOST_TOKENS) * pieces, max(MOST_TOKENS, MOST_TOKENS_OF_PIECE * pieces))
    ]
    assert np.allclose(np.linalg.norm(pool_tokens(text), axis=1), 1, atol=1e-4)


def test_vectors_are_pooled_with_their_neighbours() -> None:
    text = rows(4, 2 * MOST_TOKENS)
    assert np.allclose(pool_tokens(text), normalised(text[::2] + text[1::2]), atol=1e-6)
    assert (pool_tokens(text[:MOST_TOKENS]) == text[:MOST_TOKENS]).all()


@pytest.mark.parametrize("code", [b"", b"\x00", b"\x01" + bytes(48), CODE_FORMAT + bytes(47), CODE_FORMAT])
def test_what_cannot_be_read_has_no_tokens(code: bytes) -> None:
    tokens, counts = decode_codes([code, encode_codes(rows(1, 2))])
    assert counts.tolist() == [0, 2]
    assert len(tokens) == 2


def test_a_text_s_codes_are_its_words_without_punctuation() -> None:
    _, (plain, marked) = EMBEDDER.embed_with_codes(["Ana: red bicycle", "Ana: red bicycle!!! ..."])
    assert len(plain) == 1 + 3 * TOKEN_BYTES == len(marked)
    assert is_readable(plain)


@pytest.mark.parametrize("text", ["", "!?", "…", "\ud800", " ", "我", "😀"])
def test_any_text_has_readable_codes(text: str) -> None:
    _, (code,) = EMBEDDER.embed_with_codes([text])
    assert is_readable(code)
    tokens, counts = decode_codes([code])
    assert len(tokens) == counts[0] == (0 if not text.strip() else counts[0])


def test_vectors_with_codes_are_the_vectors_without() -> None:
    texts = ["Ana: I sold the bicycle", "Ben: word " * 200, "short", "Ana: and then we went to the lake"]
    vectors, codes = EMBEDDER.embed_with_codes(texts, ["something else"])
    assert len(codes) == len(texts)
    assert np.allclose(vectors, EMBEDDER.embed([*texts, "something else"]), atol=1e-6)


@settings(deadline=None, max_examples=8)
@given(st.lists(st.sampled_from(["Ana: hello", "Ben: a red boat, sold.", "x " * 40, "?"]), max_size=6))
def test_codes_do_not_depend_on_batch_mates(texts: list[str]) -> None:
    together, counts = decode_codes(EMBEDDER.embed_with_codes(texts)[1])
    alone, expected = decode_codes([EMBEDDER.embed_with_codes([text])[1][0] for text in texts])
    assert counts.tolist() == expected.tolist()
    # Padding changes the last bit of a sum, which may be what a number was rounded by: one level, hardly anywhere.
    assert np.abs(together - alone).max(initial=0) < 1.01 * STEP
    assert (together != alone).mean() < 0.02 if texts else not len(together)


def test_a_text_beyond_the_window_has_the_codes_of_all_its_pieces() -> None:
    text = "Ana: " + "the red bicycle stood in the old shed " * 35
    pieces = EMBEDDER.pieces(text)
    assert len(pieces) > 1
    _, (code,) = EMBEDDER.embed_with_codes([text])
    assert code == join_codes(EMBEDDER.embed_with_codes(pieces)[1])


def test_a_question_is_asked_by_its_words_in_full_precision() -> None:
    vectors, tokens, words = EMBEDDER.embed_question("When did she sell the red bicycle?")
    assert vectors.shape == (1, EMBEDDER.dim)
    assert words == ["when", "did", "she", "sell", "the", "red", "bicycle"]
    assert tokens.shape == (7, WIDTH)
    assert np.allclose(np.linalg.norm(tokens, axis=1), 1, atol=1e-5)
    _, pieces, words = EMBEDDER.embed_question("Xylotheque?")
    assert len(pieces) > 1
    assert set(words) == {"xylotheque"}
    assert len(EMBEDDER.embed_question("?!")[1]) == 2
    assert len(EMBEDDER.embed_question("word " * 3 * WINDOW)[1]) <= WINDOW


def test_a_word_matches_itself_in_another_sentence() -> None:
    _, codes = EMBEDDER.embed_with_codes(["Ana: we bought a red bicycle", "Ana: it was raining all day"])
    _, question, _ = EMBEDDER.embed_question("bicycle")
    tokens, counts = decode_codes(codes)
    similar = tokens @ question[0]
    assert similar[: counts[0]].argmax() == counts[0] - 1
    assert similar[: counts[0]].max() > similar[counts[0] :].max() + 0.1
