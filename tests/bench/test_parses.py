"""Parses that a bench keeps: the same as fresh ones, and found again by another process."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from everwhen.write.extract import grammar
from everwhen.write.extract.grammar import CachingParser, Parse
from everwhen_bench.parses import Parses, packed, unpacked

TEXTS = [
    "Ana moved to Porto last week. My flight leaves on Friday, and Dr. Silva's dog swam!",
    "  ok \n\n – 🙂",
    "",
]


def told(parse: Parse) -> object:
    """All that a parse says, its tree included."""
    words = [
        (one.i, one.text, one.lemma, one.tag, one.pos, one.dep, one.start, one.end, one.sentence)
        for one in parse.words
    ]
    tree = [(one.head.i, [child.i for child in one.children]) for one in parse.words]
    sentences = [[one.i for one in sentence] for sentence in parse.sentences]
    return parse.text, words, tree, sentences, [(one.text, one.label) for one in parse.names]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "cache" / "parses.db"


def test_a_packed_parse_says_the_same() -> None:
    for parse in CachingParser().parse(TEXTS):
        assert told(unpacked(packed(parse))) == told(parse)


def test_what_was_kept_is_not_parsed_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = CachingParser()
    first.use(Parses(path).read)
    fresh = first.parse(TEXTS)
    assert all(stat.S_IMODE(one.stat().st_mode) == 0o600 for one in path.parent.iterdir())

    def refused(texts: list[str]) -> list[Parse]:
        assert texts == []
        return []

    monkeypatch.setattr(grammar, "parse_uncached", refused)
    second = CachingParser()
    second.use(Parses(path).read)
    assert [told(one) for one in second.parse(TEXTS)] == [told(one) for one in fresh]


def test_a_memory_keeps_no_parses(tmp_path: Path) -> None:
    from everwhen import Memory

    with Memory.open(tmp_path, "ana") as memory:
        memory.add("I moved to Porto last week.")
        memory.process()
    assert not list(tmp_path.rglob("parses*"))
