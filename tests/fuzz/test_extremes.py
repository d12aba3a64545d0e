"""Input at the edges: a turn of ten megabytes, patterns that never end, words that are SQL, writing of every kind."""

from __future__ import annotations

import sqlite3
import threading
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from everwhen import Memory, Unavailable, UsageError
from everwhen.recall import grep as searching

BOMBS = ["(.*a){25}b", "(?:a?){100000}", "(?e)(?:abcdefghij){e<=8}", "([a-z]+)*="]
SLACK = 3.0
"""Seconds beyond the bound that a busy machine may take to wake somebody up."""


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """What a test leaves running ends before the next one."""
    yield
    while any(one.name == "everwhen-grep" for one in threading.enumerate()):
        time.sleep(0.1)


INJECTIONS = [
    "'; DROP TABLE turns; --", '"; DELETE FROM turns; --', "x' OR '1'='1", "1); ATTACH DATABASE '/tmp/x' AS x; --",
    "' UNION SELECT value FROM keeping --", '" OR rowid > 0 OR "', "NEAR(violin stairs, 5) OR kayak", "vio* NOT kayak",
    "text : violin", "{speaker text} : Ana", "^violin", '"unbalanced', "AND OR NOT", "violin) OR (kayak", "*", "-vio",
    "unit_fts MATCH 'x'", "%' ESCAPE '\\", "\\", "$[0]", "$.x', '1') --", "\x00'; --", "/* */ violin", "violin;",
]  # fmt: skip


@pytest.mark.parametrize("words", INJECTIONS)
def test_words_are_never_sql_and_never_a_query_language(quick: Memory, home: Path, words: str) -> None:
    quick.add({"name": "Ana", "content": "the violin is under the stairs", "id": "v"}, session="s")
    name = words.replace("\0", "")
    quick.add({"name": name or "x", "content": words, "id": name, "session": name})
    quick.facts.assert_(words, words, words)
    kept = name
    assert {turn.text for turn in quick.turns()} == {"the violin is under the stairs", kept}
    assert [turn.text for turn in quick.turns(session=name)] == [kept] and quick.turn(name).text == kept
    assert [hit.turn.text for hit in quick.grep(words)] == [kept]
    # Signs alone are no word, and what the fake embedder makes of them is like nothing.
    assert len(quick.recall(words)) >= any(map(str.isalnum, words))
    assert len(quick.recall("violin", metadata={words: words})) == 0
    assert quick.facts.current(words)[0].object == " ".join(kept.split())
    assert quick.events(about=words, subject=words, verb=words) == []
    quick.forget(turns=name)
    quick.forget(session="s")
    assert quick.turns() == []
    with sqlite3.connect(home / "banks" / "quick.db") as sql:
        (tables,) = sql.execute(
            "SELECT count(*) FROM sqlite_master WHERE name IN ('turns', 'keeping', 'units')"
        )
    assert tables == (3,) and quick.doctor() == []


WRITINGS = {
    "combining marks": "Zu\u0308rich cafe\u0301 n\u0303and\u00fa " + "x" + "\u0301" * 200,
    "right to left": "\u202eפגשתי את דנה אתמול\u202c مرحبا بالعالم",
    "emoji": "👩‍👩‍👧‍👦 went 🛶 with 👍🏽 🇵🇹 ❤️‍🔥",
    "wide": "我上周搬到了波尔图。ｆｕｌｌｗｉｄｔｈ ﷺ",
    "controls": "a\u200bb\u2028c\u2066d\u2069e\ufeff\x1b[31mred\x07",
    "astral": "\U0001d4d0\U0001d4f7\U0001d4aa \U0010fffd \U000e0041",
}


@pytest.mark.parametrize("said", WRITINGS.values(), ids=WRITINGS)
def test_every_writing_comes_back_as_it_was_written(memory: Memory, tmp_path: Path, said: str) -> None:
    memory.add(
        {"name": said[:12], "content": said, "id": said[:40], "metadata": {said: said}}, session=said[:40]
    )
    memory.add("Something else.")
    memory.flush()
    (turn,) = [turn for turn in memory.turns() if turn.text == said]
    assert (
        turn.speaker == said[:12].strip() and turn.metadata == {said: said} and memory.turn(turn.id) == turn
    )
    assert not unicodedata.is_normalized("NFC", said) or turn.text == unicodedata.normalize("NFC", said)
    assert [hit.turn.id for hit in memory.grep(said[:30])] == [turn.id]
    assert said in [one.text for one in memory.recall(said)]
    memory.export(tmp_path / "all.jsonl")
    with Memory.open(memory._bank.folder, "copy") as copy:
        copy.import_(tmp_path / "all.jsonl")
        assert copy.turns() == memory.turns() and copy.doctor() == []


def test_lone_surrogates_become_a_sign_and_pairs_come_together(quick: Memory) -> None:
    quick.add(["half \ud83d of one", "both \ud83d\ude00 of one", "nul\x00l"])
    assert [turn.text for turn in quick.turns()] == ["half \ufffd of one", "both 😀 of one", "null"]


def test_a_turn_of_ten_megabytes_is_refused_in_a_sentence_and_costs_nothing(
    quick: Memory, home: Path
) -> None:
    size = (home / "banks" / "quick.db").stat().st_size
    for huge in ("x" * 10_000_000, "violin " * 1_500_000, "🛶" * 2_500_000):
        with pytest.raises(UsageError, match="stays under 5 MB: add it as several messages"):
            quick.add(["before", huge, "after"])
    assert quick.turns() == [] and (home / "banks" / "quick.db").stat().st_size == size


def test_the_largest_turn_is_stored_found_and_forgotten(home: Path) -> None:
    quick = Memory.open(home, "largest", embedder="fake", reader="none", cache_entries=0, extract="none")
    huge = ("kayak" * 160 + " ") * 6_000 + "marmalade"
    (id_,) = quick.add(huge).turns
    quick.add("short")
    assert quick.turn(id_).text == huge
    assert [hit.spans for hit in quick.grep("marmalade")] == [((4_806_000, 4_806_009),)]
    assert len(quick.grep("k", limit=1)[0].spans) == searching.MOST_SPANS
    assert id_ in [one.id for one in quick.recall("marmalade", max_tokens=10_000_000)]
    assert quick.forget(turns=id_).erased and len(quick.turns()) == 1
    quick.close()


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_pattern_that_never_ends_is_given_up_by_the_clock_on_the_wall(
    quick: Memory, bomb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SECONDS", 0.4)
    quick.add_many(["a" * 5000, "abcdefghi " * 500, "aaaa bbbb cccc " * 400] * 20)
    burning = threading.Event()  # others at work, so that processor time and wall time differ

    def burn() -> None:
        while not burning.is_set():
            sum(range(1000))

    threads = [threading.Thread(target=burn, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    try:
        quick.grep(bomb, regex=True)
    except (UsageError, Unavailable) as error:
        assert "longer than" in str(error) or "still running" in str(error) or "memory" in str(error)
    finally:
        took = time.monotonic() - began
        burning.set()
    assert took < 0.4 + SLACK


def test_many_bombs_at_once_are_worked_at_two_at_a_time(
    quick: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "SECONDS", 0.4)
    quick.add("a" * 5000)
    answers: list[str] = []

    def ask() -> None:
        try:
            quick.grep("(.*a){25}b", regex=True)
        except (UsageError, Unavailable) as error:
            answers.append(type(error).__name__)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    at_work = max(sum(one.name == "everwhen-grep" for one in threading.enumerate()) for _ in range(20))
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and time.monotonic() - began < 0.4 + SLACK
    assert at_work <= searching.AT_ONCE
    assert quick.grep("aaa")  # plain words wait for nobody


@pytest.mark.parametrize("size", [6_000, pytest.param(24_000, marks=pytest.mark.long)])
def test_a_monologue_without_end_costs_the_same_for_each_turn(home: Path, size: int) -> None:
    with Memory.open(
        home, "monologue", embedder="fake", reader="none", cache_entries=0, extract="none"
    ) as memory:
        spent = []
        for start in range(0, size, size // 4):
            began = time.process_time()
            memory.add_many([f"ok {number}" for number in range(start, start + size // 4)], session="one")
            spent.append(time.process_time() - began)
        assert spent[-1] < 4 * spent[0] + size / 12_000, spent
