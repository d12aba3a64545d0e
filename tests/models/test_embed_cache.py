"""The embedding cache: what it saves, and that it never stands in the way."""

import multiprocessing
import random
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from everwhen.models import embedder as cache_module
from everwhen.models.embedder import CachedEmbedder, Vectors
from everwhen.models.fake_embedder import FakeEmbedder


class Counting(FakeEmbedder):
    """Remembers what it was asked for."""

    def __init__(self, name: str = "fake", dim: int = 64) -> None:
        super().__init__(dim)
        self.name = name
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked.extend(texts)
        return super().embed(texts)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


@pytest.fixture
def cached(path: Path) -> Iterator[CachedEmbedder]:
    embedder = CachedEmbedder(Counting(), path)
    yield embedder
    embedder.close()


def asked(embedder: CachedEmbedder) -> list[str]:
    assert isinstance(embedder.inner, Counting)
    return embedder.inner.asked


def test_only_new_texts_are_embedded(cached: CachedEmbedder) -> None:
    first = cached.embed(["one", "two"])
    again = cached.embed(["two", "three", "one"])
    assert asked(cached) == ["one", "two", "three"]
    assert (again[[2, 0]] == first).all()
    assert cached.problem is None


def test_duplicates_in_one_call_are_embedded_once(cached: CachedEmbedder) -> None:
    vectors = cached.embed(["same", "other", "same"])
    assert asked(cached) == ["same", "other"]
    assert (vectors[0] == vectors[2]).all()


def test_cached_vectors_are_the_embedded_ones_to_the_last_bit(cached: CachedEmbedder, path: Path) -> None:
    texts = ["", "ünïcode", "lone \ud800 surrogate", *(f"text {i}" for i in range(1200))]
    cached.embed(texts)
    reopened = CachedEmbedder(Counting(), path)
    assert (reopened.embed(texts) == FakeEmbedder().embed(texts)).all()
    assert asked(reopened) == []
    reopened.close()


def test_models_do_not_share_vectors(cached: CachedEmbedder, path: Path) -> None:
    cached.embed(["one"])
    for inner in (Counting(name="other"), Counting(dim=32)):
        other = CachedEmbedder(inner, path)
        assert other.embed(["one"]).shape == (1, inner.dim)
        assert inner.asked == ["one"]
        other.close()


def test_no_texts_give_no_rows(cached: CachedEmbedder) -> None:
    assert cached.embed([]).shape == (0, 64)


def test_the_file_is_readable_by_its_owner_only(cached: CachedEmbedder, path: Path) -> None:
    cached.embed(["one"])
    assert path.exists()
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_forgotten_texts_leave_no_trace_in_the_files(cached: CachedEmbedder, path: Path) -> None:
    vector = cached.embed(["secret", "kept"])[0]
    assert cached.forget(["secret"])
    assert all(vector.tobytes() not in file.read_bytes() for file in path.parent.iterdir())
    cached.embed(["secret", "kept"])
    assert asked(cached) == ["secret", "kept", "secret"]


class Coded(FakeEmbedder):
    """Gives vectors that are told apart in a file, and codes of many sizes."""

    code_format = b"x"

    def embed(self, texts: Sequence[str]) -> Vectors:
        made = [np.random.default_rng([*text.encode()]).standard_normal(self.dim) for text in texts]
        return np.array(made, np.float32).reshape(-1, self.dim)

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[Vectors, list[bytes]]:
        sizes = [random.Random(text).choice((200, 800, 2000, 4000)) for text in texts]
        return self.embed([*texts, *plain]), [b"x" * size for size in sizes]


def test_a_vector_that_sqlite_moved_before_it_was_forgotten_is_overwritten_where_it_was(path: Path) -> None:
    chance = random.Random(2)
    cached = CachedEmbedder(Coded(384), path)
    known: list[str] = []
    for round_ in range(2):
        new = [f"text {round_} {number}" for number in range(200)]
        cached.embed(new[:100])
        cached.embed_with_codes(new[100:])
        known += new
        cached.embed_with_codes(chance.sample(known, 60))  # what gets its codes later needs more room
        gone = chance.sample(known, 150)
        known = [text for text in known if text not in set(gone)]
        assert cached.forget(gone) and cached.scrub()
        content = b"".join(file.read_bytes() for file in path.parent.iterdir())
        vectors = [row.tobytes() for row in Coded(384).embed(gone)]
        assert not [row for row in vectors if any(row[at : at + 64] in content for at in range(0, 1536, 256))]
    assert (cached.embed(known) == Coded(384).embed(known)).all() and cached.problem is None
    cached.close()


def test_forgetting_without_a_cache_file_makes_none(cached: CachedEmbedder, path: Path) -> None:
    assert cached.forget(["anything"])
    assert not path.exists()


def test_the_oldest_vectors_are_evicted_beyond_the_limit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "EVICT_EVERY", 10)
    cached = CachedEmbedder(Counting(), path, limit=50)
    for i in range(100):
        cached.embed([f"text {i}"])
    with sqlite3.connect(path) as connection:
        (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    assert 50 <= count <= 60
    asked(cached).clear()
    cached.embed(["text 99", "text 0"])
    assert asked(cached) == ["text 0"]
    cached.close()


@pytest.mark.parametrize("damage", [b"not a database at all " * 500, b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_damaged_file_is_bypassed_and_reported(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    cached = CachedEmbedder(Counting(), path)
    assert (cached.embed(["one"]) == FakeEmbedder().embed(["one"])).all()
    assert str(path) in (cached.problem or "")
    assert not cached.forget(["one"])
    assert path.read_bytes() == damage


def test_a_damaged_page_is_bypassed(cached: CachedEmbedder, path: Path) -> None:
    texts = [f"text {i}" for i in range(500)]
    expected = cached.embed(texts)
    cached.close()
    content = bytearray(path.read_bytes())
    content[8192:-8192] = b"\xa5" * (len(content) - 2 * 8192)
    path.write_bytes(content)
    reopened = CachedEmbedder(Counting(), path)
    assert (reopened.embed(texts) == expected).all()
    assert reopened.problem


def test_a_vector_of_the_wrong_length_is_embedded_again(cached: CachedEmbedder, path: Path) -> None:
    cached.embed(["one"])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = x'00'")
    cached.embed(["one"])
    assert asked(cached) == ["one", "one"]


def test_a_path_that_cannot_be_written_is_bypassed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cached = CachedEmbedder(Counting(), tmp_path / "file" / "embeddings.sqlite")
    assert cached.embed(["one"]).shape == (1, 64)
    assert cached.problem


def test_a_locked_file_is_bypassed_and_used_again_later(
    cached: CachedEmbedder, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "BUSY_SECONDS", 0.01)
    CachedEmbedder(FakeEmbedder(), path).embed(["known"])
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert (cached.embed(["known", "new"]) == FakeEmbedder().embed(["known", "new"])).all()
    assert "locked" in (cached.problem or "")
    other.close()
    monkeypatch.setattr(cached, "_retry_at", 0.0)
    cached.embed(["new"])
    assert cached.problem is None


def test_threads_share_one_cache(cached: CachedEmbedder) -> None:
    batches = [[f"text {i + j}" for i in range(40)] for j in range(24)]
    with ThreadPoolExecutor(8) as pool:
        for texts, vectors in zip(batches, pool.map(cached.embed, batches), strict=True):
            assert np.array_equal(vectors, FakeEmbedder().embed(texts))
    assert cached.problem is None


def fill(path: Path, start: int) -> str | None:
    embedder = CachedEmbedder(FakeEmbedder(), path)
    for i in range(start, start + 150):
        embedder.embed([f"text {i}"])
    return embedder.problem


def test_processes_share_one_cache(cached: CachedEmbedder, path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(fill, [(path, 0), (path, 75)]) == [None, None]
    cached.embed([f"text {i}" for i in range(225)])
    assert asked(cached) == []


def test_a_forked_process_opens_its_own_connection(cached: CachedEmbedder) -> None:
    cached.embed(["before"])
    child = multiprocessing.get_context("fork").Process(target=cached.embed, args=(["before", "inside"],))
    child.start()
    child.join()
    assert child.exitcode == 0
    cached.embed(["before", "inside"])
    assert asked(cached) == ["before"]


class Coding(Counting):
    """Gives each text a code that tells it apart."""

    code_format = b"\x01"

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[Vectors, list[bytes]]:
        return self.embed([*texts, *plain]), [self.code_format + text.encode() for text in texts]

    def embed_question(self, text: str, others: Sequence[str] = ()) -> tuple[Vectors, Vectors, list[str]]:
        return self.embed([text, *others]), np.ones((1, 4), np.float32), [text]


def test_codes_are_remembered_with_the_vectors_they_came_with(path: Path) -> None:
    cached = CachedEmbedder(Coding(), path)
    vectors, codes = cached.embed_with_codes(["one", "two", "one"], ["plain", "two"])
    assert codes == [b"\x01one", b"\x01two", b"\x01one"]
    again, same = cached.embed_with_codes(["two"], ["one", "plain"])
    assert same == [b"\x01two"]
    assert (again == vectors[[1, 0, 3]]).all()
    assert asked(cached) == ["one", "two", "plain"]
    cached.close()


def test_a_text_that_was_embedded_without_codes_gets_them_when_they_are_wanted(path: Path) -> None:
    cached = CachedEmbedder(Coding(), path)
    vector = cached.embed(["one"])
    assert cached.embed_with_codes(["one"])[1] == [b"\x01one"]
    assert cached.embed_with_codes(["one"])[1] == [b"\x01one"]
    assert (cached.embed(["one"]) == vector).all()
    assert asked(cached) == ["one", "one"]
    cached.close()


def test_codes_of_another_format_are_made_anew(path: Path) -> None:
    cached = CachedEmbedder(Coding(), path)
    cached.embed_with_codes(["one"])
    newer = Coding()
    newer.code_format = b"\x02"
    other = CachedEmbedder(newer, path)
    assert other.embed_with_codes(["one"])[1] == [b"\x02one"]
    assert other.embed_with_codes(["one"])[1] == [b"\x02one"]
    assert newer.asked == ["one"]
    cached.close()
    other.close()


def test_an_embedder_without_token_vectors_has_empty_codes(cached: CachedEmbedder) -> None:
    vectors, codes = cached.embed_with_codes(["one", "two"], ["three"])
    assert (len(vectors), codes, cached.code_format) == (3, [b"", b""], b"")
    cached.embed_with_codes(["one"])
    assert asked(cached) == ["one", "two", "three"]
    vector, tokens, _ = cached.embed_question("one")
    assert (vector[0] == vectors[0]).all()
    assert len(tokens) == 0


def test_forgotten_codes_leave_no_trace_in_the_files(path: Path) -> None:
    cached = CachedEmbedder(Coding(), path)
    cached.embed_with_codes(["a secret to be forgotten", "kept"])
    assert cached.forget(["a secret to be forgotten"])
    assert all(b"a secret to be forgotten" not in file.read_bytes() for file in path.parent.iterdir())
    cached.close()
