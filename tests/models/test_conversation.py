"""The packaged model: its file, its vectors, its pieces."""

import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.errors import ModelError
from everwhen.models import embedder
from everwhen.models.embedder import (
    CONTEXT,
    CONVERSATION_FOLDER,
    IN_CONTEXT,
    TOKEN_BYTES,
    WINDOW,
    ConversationEmbedder,
)

EMBEDDER = ConversationEmbedder(threads=2)
SENTENCES = [
    f"Person {i} {verb} the {i + 2} old bicycles." for i in range(6) for verb in ("sold", "painted", "lost")
]
ALPHABET = st.sampled_from("ab é한我!'\n\t😀\u0301İ≠[SEP]\ud800") | st.characters()


def tokens(text: str) -> int:
    return len(EMBEDDER._model().token_ids(text))


def test_the_packaged_files_are_the_ones_that_the_build_script_wrote() -> None:
    sums = [line.split() for line in (CONVERSATION_FOLDER / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in sums} == {"compare.npz", "model.onnx", "reference.json", "tokenizer.json"}
    for digest, name in sums:
        assert hashlib.sha256((CONVERSATION_FOLDER / name).read_bytes()).hexdigest() == digest, name


def test_vectors_agree_with_the_float32_model() -> None:
    reference = json.loads((CONVERSATION_FOLDER / "reference.json").read_text(encoding="utf-8"))
    vectors = EMBEDDER.embed([row["text"] for row in reference])
    for row, vector in zip(reference, vectors, strict=True):
        assert vector @ np.array(row["vector"]) >= 0.99, row["text"]


def test_vectors_are_unit_float32_rows_in_the_order_of_the_texts() -> None:
    texts = ["a much longer sentence about nothing in particular", "short", ""]
    vectors = EMBEDDER.embed(texts)
    assert vectors.shape == (3, EMBEDDER.dim)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[1], EMBEDDER.embed(["short"])[0], atol=1e-5)


def test_no_texts_give_no_rows() -> None:
    assert EMBEDDER.embed([]).shape == (0, 384)


def test_a_vector_does_not_depend_on_its_batch_mates() -> None:
    odd = ["ok", "SELECT * FROM t;", "word " * 200, *SENTENCES]
    together = EMBEDDER.embed(odd)
    alone = np.concatenate([EMBEDDER.embed([text]) for text in odd])
    assert (together * alone).sum(axis=1).min() > 0.99999


def test_the_number_of_threads_does_not_change_vectors() -> None:
    assert np.allclose(ConversationEmbedder(threads=1).embed(SENTENCES), EMBEDDER.embed(SENTENCES), atol=1e-5)


def test_several_threads_may_embed_at_once() -> None:
    expected = EMBEDDER.embed(SENTENCES)
    shared = ConversationEmbedder()
    with ThreadPoolExecutor(4) as pool:  # the model is loaded by whoever is first
        for vectors in pool.map(shared.embed, [SENTENCES] * 3):
            assert np.allclose(vectors, expected, atol=1e-5)


def test_paraphrases_are_nearer_than_strangers() -> None:
    a, b, c = EMBEDDER.embed(
        ["Anna moved house to Lisbon", "Anna relocated to Portugal", "The soup needs salt"]
    )
    assert a @ b > 0.5 > a @ c


def test_special_tokens_in_a_text_are_ordinary_words() -> None:
    ids = EMBEDDER._model().token_ids("[SEP] [PAD]")
    assert len(ids) > 4
    assert ids.count(102) == 1
    assert 0 not in ids


@pytest.mark.parametrize("text", ["broken \ud83d emoji", f"broken \ud83d{IN_CONTEXT}hello", "\udc00" * 300])
def test_a_lone_surrogate_is_embedded(text: str) -> None:
    assert np.isfinite(EMBEDDER.embed([text])).all()
    assert np.isfinite(EMBEDDER.embed_question(text)[0]).all()


ANSWER = "Ana: Yes, in May."


def after(before: str, text: str = ANSWER) -> str:
    return before + IN_CONTEXT + text


def test_an_answer_is_read_with_the_question_before_it() -> None:
    moved, sold = after("Ben: Did you move to Lisbon?"), after("Ben: Did you sell your bicycle?")
    alone, after_moved, after_sold = EMBEDDER.embed([ANSWER, moved, sold])
    ((question,), _, _) = EMBEDDER.embed_question("When did Ana move to Lisbon?")
    assert question @ after_moved > question @ alone + 0.05
    assert question @ after_moved > question @ after_sold + 0.05


def test_what_is_read_before_a_text_is_none_of_its_words() -> None:
    vectors, codes = EMBEDDER.embed_with_codes([ANSWER, after("Ben: Did you sell the red bicycle?")])
    assert [len(code) for code in codes] == [1 + 4 * TOKEN_BYTES] * 2  # ana, yes, in, may
    assert vectors[0] @ vectors[1] > 0.8


def test_only_the_end_of_what_is_read_before_counts() -> None:
    end = "one two three four " * 8  # 32 words of a token each
    long, short = EMBEDDER.embed([after("and on we went " * 40 + end), after(end)])
    assert np.allclose(long, short, atol=1e-5)


@pytest.mark.parametrize("before", ["", " ", "\n"])
def test_nothing_before_a_text_leaves_it_as_it_is(before: str) -> None:
    with_nothing, alone = EMBEDDER.embed([after(before), ANSWER])
    assert np.allclose(with_nothing, alone, atol=1e-5)


def test_a_text_that_leaves_no_room_is_read_by_itself() -> None:
    full = "word " * (WINDOW - CONTEXT)
    with_context, alone = EMBEDDER.embed([after("Ben: Did you move to Lisbon?", full), full])
    assert np.allclose(with_context, alone, atol=1e-5)


def test_a_question_is_told_from_the_same_words_as_a_text() -> None:
    asked = "When did Anna move to Lisbon?"
    question, text = EMBEDDER.embed_question(asked)[0][0], EMBEDDER.embed([asked])[0]
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-5)
    assert 0.9 < question @ text < 0.999


def test_a_text_beyond_the_window_is_embedded_as_the_mean_of_its_pieces() -> None:
    text = " ".join(SENTENCES * 3)
    pieces = EMBEDDER.pieces(text)
    assert len(pieces) > 1
    mean = EMBEDDER.embed(pieces).mean(axis=0)
    assert np.allclose(EMBEDDER.embed([text])[0], mean / np.linalg.norm(mean), atol=1e-5)


def test_a_text_that_fits_is_its_only_piece() -> None:
    for text in ("", "hello", "word " * 250, "a" * 5000):
        assert EMBEDDER.pieces(text) == [text]


def assert_pieces_cover(text: str) -> None:
    pieces = EMBEDDER.pieces(text)
    assert text.startswith(pieces[0])
    start, covered = 0, len(pieces[0])
    for piece in pieces[1:]:
        # Each starts further on than the one before, and before its end.
        start = max(at for at in range(start + 1, covered) if text.startswith(piece, at))
        covered = max(covered, start + len(piece))
    assert all(tokens(piece) <= WINDOW for piece in pieces)
    assert covered == len(text)
    if len(pieces) > 1:  # with room for what is read before the first of them
        assert all(tokens(piece) <= WINDOW - CONTEXT for piece in pieces)
    if len(text) <= 8 * WINDOW or tokens(text) <= WINDOW - CONTEXT:
        assert (len(pieces) == 1) == (tokens(text) <= WINDOW)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(ALPHABET, max_size=12), max_size=60), st.integers(1, 8))
def test_pieces_fit_overlap_and_cover_any_text(words: list[str], repeats: int) -> None:
    assert_pieces_cover(" ".join(words * repeats))


def test_pieces_of_a_text_of_several_blocks_cover_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("everwhen.models.embedder.BLOCK", 500)
    assert_pieces_cover(" ".join(f"sentence number {i}, nothing more." for i in range(400)))
    assert_pieces_cover(" ".join(chr(97 + i % 26) + "qxzj" * 15 for i in range(60)))
    assert_pieces_cover("x" * 3000 + " end " + " " * 3000 + "and on " * 600)


def test_cutting_takes_time_linear_in_the_text() -> None:
    def seconds(text: str) -> float:
        """The best of three: a busy machine makes one of them slow, and an algorithm all."""
        taken = []
        for _ in range(3):
            start = time.process_time()
            EMBEDDER.pieces(text)
            taken.append(time.process_time() - start)
        return min(taken)

    for unit in ("the quick brown fox. ", "a", " "):
        once = seconds(unit * (100_000 // len(unit)))
        assert seconds(unit * (400_000 // len(unit))) < 12 * once + 0.1


def test_a_damaged_model_file_is_reported_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tokenizer.json").write_bytes((CONVERSATION_FOLDER / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    monkeypatch.setattr(embedder, "CONVERSATION_FOLDER", tmp_path)
    with pytest.raises(ModelError, match="reinstall everwhen"):
        ConversationEmbedder().embed(["hello"])


def test_importing_and_opening_load_no_runtime() -> None:
    code = (
        "import sys; from everwhen.models.embedder import open_embedder;"
        "e = open_embedder('conversation-1'); e.pieces('short');"
        "print([m for m in ('onnxruntime', 'tokenizers', 'tiktoken', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "[]"
