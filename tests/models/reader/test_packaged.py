"""The packaged reader: what it finds in a passage, whatever the passage is."""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.errors import ModelError
from everwhen.models.comparison import (
    KINDS,
    LONGEST_SPAN,
    READER_FOLDER,
    STATUSES,
    PackagedReader,
    Passage,
    Reading,
)

READER = PackagedReader(threads=2)
WHO = "Who bought Ana's bicycle?"
SOLD = Passage("Ana", "I sold my red bicycle to Tom in May.")
PASSAGES = [
    SOLD,
    Passage("Ben", "The soup needs salt."),
    Passage("Ana", "Yes, in May.", "Ben: Did you sell the bicycle?"),
    Passage("Cleo", "No, I have never been to Lisbon."),
    Passage("Ana", "My brother paints boats, and he will show them in Porto next year. " * 4),
    Passage("Dan", "ok"),
]
ALPHABET = st.sampled_from("ab é한我!'\n\t😀\u0301İ≠[SEP]") | st.characters(exclude_categories=["Cs"])


def one(question: str, passage: Passage) -> Reading:
    (reading,) = READER.read(question, [passage])
    return reading


def assert_sound(reading: Reading, passage: Passage) -> None:
    assert np.isfinite(reading.relevance)
    for chances, names in ((reading.kinds, KINDS), (reading.statuses, STATUSES)):
        assert chances.shape == (len(names),)
        assert chances.min() >= 0
        assert chances.sum() == pytest.approx(1, abs=1e-4)
    start, end = reading.span
    assert 0 <= start <= end <= len(passage.text)
    assert 0 <= reading.span_chance <= 1 + 1e-6


def test_a_pair_that_was_just_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, read = PackagedReader(threads=2), []
    first = reader.relevance(WHO, PASSAGES[:4])
    runs = reader._runs
    monkeypatch.setattr(
        reader, "_runs", lambda pairs, wanted, own: read.extend(pairs) or runs(pairs, wanted, own=own)
    )
    again = reader.relevance(WHO, PASSAGES[::-1])
    assert sorted(passage.speaker for _, passage in read) == ["Ana", "Dan"]
    assert again[2:].tolist() == first[::-1].tolist()
    assert again[0] == PackagedReader(threads=1).relevance(WHO, [PASSAGES[-1]])[0]


def test_no_words_stay_with_the_reader() -> None:
    reader = PackagedReader(threads=1)
    reader.relevance(WHO, [SOLD] * 3)
    assert [type(key) for key in reader._read] == [bytes] and SOLD.text not in repr(vars(reader))


def test_the_packaged_files_are_the_ones_that_the_build_script_wrote() -> None:
    sums = [line.split() for line in (READER_FOLDER / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in sums} == {"model.onnx", "tokenizer.json"}
    for digest, name in sums:
        assert hashlib.sha256((READER_FOLDER / name).read_bytes()).hexdigest() == digest, name


def test_a_passage_that_answers_is_more_relevant_than_all_others() -> None:
    relevance = READER.relevance(WHO, PASSAGES)
    assert relevance.dtype == np.float32
    assert relevance[0] > 0 > relevance[1:].max()


def test_an_answer_is_read_with_the_question_before_it() -> None:
    of_bicycle, of_soup = (
        Passage("Ana", "Yes, in May.", f"Ben: {asked}?")
        for asked in ("Did you sell the bicycle", "Is the soup too salty")
    )
    asked, other = READER.relevance("When did Ana sell her bicycle?", [of_bicycle, of_soup])
    assert asked > other + 1


@pytest.mark.parametrize(("question", "answer"), [(WHO, "Tom"), ("When did Ana sell her bicycle?", "in May")])
def test_the_span_is_the_answer_in_the_passage(question: str, answer: str) -> None:
    reading = one(question, SOLD)
    assert SOLD.text[slice(*reading.span)] == answer
    assert reading.span_chance > 0.5
    assert reading.kind == "span"


@pytest.mark.parametrize(
    ("question", "text", "kind", "status"),
    [
        ("Has Cleo been to Lisbon?", "No, I have never been to Lisbon.", "no", "denied"),
        ("Who bought the bicycle?", "The soup needs salt.", "none", "true"),
        ("Where will Cleo live?", "I'm planning to move to Lisbon next year.", "span", "planned"),
    ],
)
def test_kinds_and_statuses_are_told_apart(question: str, text: str, kind: str, status: str) -> None:
    reading = one(question, Passage("Cleo", text))
    assert (reading.kind, reading.status) == (kind, status)


def test_a_passage_reads_the_same_whatever_is_read_with_it() -> None:
    together = READER.read(WHO, PASSAGES)
    assert READER.relevance(WHO, PASSAGES) == pytest.approx([row.relevance for row in together], abs=1e-5)
    for passage, reading in zip(PASSAGES, together, strict=True):
        alone = one(WHO, passage)
        assert reading.relevance == pytest.approx(alone.relevance, abs=0.05)
        assert reading.kinds == pytest.approx(alone.kinds, abs=0.03)
        assert reading.statuses == pytest.approx(alone.statuses, abs=0.03)
        assert reading.span == alone.span


def test_several_threads_may_read_at_once() -> None:
    expected = READER.relevance(WHO, PASSAGES)
    shared = PackagedReader()
    with ThreadPoolExecutor(4) as pool:  # the model is loaded by whoever is first
        for relevance in pool.map(shared.relevance, [WHO] * 4, [PASSAGES] * 4):
            assert relevance == pytest.approx(expected, abs=1e-4)


def test_nothing_to_read_is_read() -> None:
    assert READER.read(WHO, []) == []
    assert READER.relevance(WHO, []).shape == (0,)


@pytest.mark.parametrize("passage", [Passage("", ""), Passage("Ana", ""), Passage("", " \n", "Ben: ")])
@pytest.mark.parametrize("question", [WHO, ""])
def test_an_empty_text_has_no_answer(question: str, passage: Passage) -> None:
    reading = one(question, passage)
    assert_sound(reading, passage)
    assert passage.text[slice(*reading.span)].strip() == ""


def test_a_text_beyond_the_window_is_read_as_far_as_it_fits() -> None:
    filler = "and then we went on and on along the river "
    early = Passage("Ana", SOLD.text + " " + filler * 300, "Ben: " + filler * 50)
    reading = one(WHO, early)
    assert early.text[slice(*reading.span)] == "Tom"
    assert reading.relevance > one(WHO, Passage("Ana", filler * 300)).relevance
    assert_sound(one("Who " + filler * 100, early), early)
    assert_sound(one(WHO, Passage("Ana" * 2000, "I sold it.")), Passage("", "I sold it."))


def test_a_long_question_of_two_long_turns_fits_the_network() -> None:
    long = "the blue kettle on the shelf " * 60
    (logit,) = READER.renews(long, [(Passage("Ana", long), Passage("assistant", long))])
    assert np.isfinite(logit)
    assert np.isfinite(READER.relevance(long, [Passage("Ana", long, long)])).all()


def test_a_span_is_no_longer_than_it_was_in_training() -> None:
    words = " ".join(f"w{n % 10}" for n in range(100))
    start, end = one("What did Ana say?", Passage("Ana", words)).span
    assert len(words[start:end].split()) <= LONGEST_SPAN


@settings(max_examples=8)
@given(
    text=st.text(ALPHABET, max_size=60), speaker=st.text(ALPHABET, max_size=8), before=st.text(max_size=20)
)
def test_any_text_is_read(text: str, speaker: str, before: str) -> None:
    passage = Passage(speaker, text, before)
    assert_sound(one(text[::-1], passage), passage)


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("broken \ud83d emoji?", SOLD),
        (WHO, Passage("Ana", "broken \ud83d emoji")),
        (WHO, Passage("A\udc00", "hello", "\ud800")),
    ],
)
def test_a_lone_surrogate_is_read(question: str, passage: Passage) -> None:
    assert_sound(one(question, passage), passage)


def test_special_tokens_in_a_text_are_ordinary_words() -> None:
    text = "[SEP] Tom [SEP] bought Ana's bicycle [PAD] [CLS]"
    assert text[slice(*one(WHO, Passage("Ben", text)).span)] == "Tom"


def test_a_damaged_model_file_is_reported_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_bytes((READER_FOLDER / "tokenizer.json").read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match="reinstall everwhen"):
        PackagedReader(folder=tmp_path).relevance(WHO, [SOLD])


def test_making_a_reader_loads_no_runtime() -> None:
    code = (
        "import sys; from everwhen.models.comparison import PackagedReader; PackagedReader();"
        "print([m for m in ('onnxruntime', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "[]"
