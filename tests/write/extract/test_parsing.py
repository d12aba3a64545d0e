"""The parser behind the rules."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from everwhen.write.extract import grammar


def test_texts_that_several_threads_parse_at_once_are_parsed_as_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grammar, "TEXTS_PER_ZONE", 4)  # a zone ends after a few texts
    texts = [f"Ana{number} moved to Porto{number} with her dog on Monday." for number in range(12)]

    def words(text: str) -> list[str]:
        return [word.lemma for word in grammar.parse_uncached([text])[0].words]

    alone = [words(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(words, texts * 10))
    assert together == alone * 10
