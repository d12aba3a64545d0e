"""Our WordPiece gives what the `tokenizers` package gives for the same vocabulary: tokens, places and words."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from everwhen.cli.story.story import story
from everwhen.models import embedder
from everwhen.models.embedder import WordPiece

VOCABULARY = Path(embedder.__file__).parent / "reader_2" / "tokenizer.json"
NEWER = frozenset("\u166d\u1734\u1885\u1886")
"""Letters whose category changed since the tables of `tokenizers`; those that came later are left out as well."""


@pytest.fixture(scope="module")
def ours() -> WordPiece:
    return WordPiece.load(VOCABULARY)


@pytest.fixture(scope="module")
def theirs() -> Tokenizer:
    found = Tokenizer.from_file(str(VOCABULARY))
    found.encode_special_tokens = True  # "[SEP]" in a message is what somebody wrote, not a command
    return found


def is_same(ours: WordPiece, theirs: Tokenizer, text: str) -> bool:
    mine, other = ours.encode(text), theirs.encode(text, add_special_tokens=False)
    words = other.word_ids
    begins = [not place or words[place] != words[place - 1] for place in range(len(words))]
    return (mine.ids, mine.offsets, mine.begins) == (other.ids, other.offsets, begins)


LETTERS = st.characters(exclude_categories=("Cs",)).filter(
    lambda one: unicodedata.ucd_3_2_0.category(one) != "Cn" and one not in NEWER
)


@given(st.text(LETTERS, max_size=60))
@example("Café déjà-vu — naïve İstanbul ΣΊΣΥΦΟΣ ﬁn")
@example("我住在北京。\u3000東京 각하 क्षि")
@example("a\x00b\x0bc\u200bd\ufffde\x85f g\u00a0h")
@example("[SEP] [CLS]## ##ing 👩‍👩‍👧 ❤️ " + "x" * 101)
def test_any_text_has_the_same_tokens_at_the_same_places(
    ours: WordPiece, theirs: Tokenizer, text: str
) -> None:
    assert is_same(ours, theirs, text)


def test_the_story_has_the_same_tokens(ours: WordPiece, theirs: Tokenizer) -> None:
    assert all(is_same(ours, theirs, message.text) for message in story())


def test_both_packaged_networks_have_the_same_vocabulary() -> None:
    words = WordPiece.load(VOCABULARY).encode("Marta moved to Porto")
    other = WordPiece.load(VOCABULARY.parents[1] / "conversation_1" / "tokenizer.json")
    assert other.encode("Marta moved to Porto") == words


def test_a_text_is_framed_and_a_part_of_its_tokens_keeps_its_places(ours: WordPiece) -> None:
    assert ours.framed("") == [101, 102]
    tokens = ours.encode("Zwiebelkuchen today")
    assert ours.framed("Zwiebelkuchen today") == [101, *tokens.ids, 102]
    assert tokens[-1:].offsets == [(14, 19)] and [ours.token(one) for one in tokens[-1:].ids] == ["today"]


def test_a_lone_surrogate_is_passed_over(ours: WordPiece) -> None:
    assert ours.encode("a \ud800 b").offsets == [(0, 1), (4, 5)]
