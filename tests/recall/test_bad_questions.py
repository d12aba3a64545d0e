"""Questions and memories that nobody planned for: a clear error, or an empty result that says why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from everwhen import Memory
from everwhen.cli.app import run
from everwhen.errors import UsageError
from everwhen.types.recall import MID
from tests.recall.memories import ASKED, START, TALK, tell

LONG = " ".join(f"word{place} kayak how many days ago" for place in range(100_000 // 6))


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A small talk with the real model; tests only read it."""
    with Memory.open(tmp_path_factory.mktemp("talk"), "talk") as memory:
        tell(memory)
        yield memory


@pytest.mark.parametrize("query", ["", "  \n\t"])
def test_an_empty_question_is_an_error_that_says_what_to_do(quick: Memory, query: str) -> None:
    with pytest.raises(UsageError, match="query is empty"):
        quick.recall(query)


@pytest.mark.parametrize(
    "query",
    [
        *(
            "where is it",
            "the of and",
            "Ana",
            "Ana?",
            "Ana Ben",
            "???",
            "a" * 5000,
            "'; DROP TABLE turns; --",
        ),
        *("¿Dónde está el kayak?", "カヤックはどこですか", "🛶", "🛶🎻 🍅?", "\u200b."),
    ],
)
def test_any_other_question_is_answered_by_the_best_there_is(talk: Memory, query: str) -> None:
    found = talk.recall(query, at=ASKED)
    assert found.memories[0].score == pytest.approx(1.0)
    assert 0 <= found.trace["answerable"] <= 1
    assert len({one.id for one in found}) == len(found)


def test_a_name_alone_brings_what_that_person_said_first(quick: Memory) -> None:
    tell(quick)
    assert quick.recall("Ben", at=ASKED).memories[0].speaker == "Ben"


def test_words_of_another_language_and_signs_are_found(memory: Memory) -> None:
    tell(memory, [*TALK, ("Ana", "Мой кот любит рыбу"), ("Ben", "We went 🛶🛶 yesterday")])
    assert "кот" in memory.recall("Что любит кот?", at=ASKED).memories[0].text
    assert len(memory.recall("🛶", at=ASKED))


@pytest.mark.usefixtures("networks_run")
def test_a_question_of_a_hundred_thousand_words_is_no_slower_than_its_beginning(talk: Memory) -> None:
    start = process_time()
    found = talk.recall(LONG, at=ASKED)
    assert process_time() - start < 10  # a bound for a busy machine; idle it is a fraction of a second
    assert "kayak" in found.memories[0].text and found.query == LONG


@pytest.mark.parametrize("budget", [0, -1, -100])
def test_a_budget_below_one_is_an_error(quick: Memory, budget: int) -> None:
    with pytest.raises(UsageError, match=f"budget must be at least 1, got {budget}"):
        quick.recall("kayak", budget=budget)


def test_no_room_gives_nothing_and_says_so_of_each(quick: Memory) -> None:
    tell(quick)
    found = quick.recall("kayak", at=ASKED, max_tokens=0)
    assert len(found) == 0 and found.tokens == 0 and found.as_context() == ""
    assert found.dropped and {one.reason for one in found.dropped} == {"no room in max_tokens"}
    with pytest.raises(UsageError, match="max_tokens must be at least 0, not -1"):
        quick.recall("kayak", max_tokens=-1)


def test_a_window_that_ends_before_it_starts_is_an_error(quick: Memory) -> None:
    tell(quick)
    with pytest.raises(UsageError, match="the window is empty"):
        quick.recall("kayak", after=datetime(2030, 1, 1, tzinfo=UTC), before=datetime(2020, 1, 1, tzinfo=UTC))


def test_a_question_of_an_impossible_time_still_finds_what_it_is_about(quick: Memory) -> None:
    tell(quick)
    found = quick.recall("What of the kayak after 2030 and before 2020?", at=ASKED)
    assert "kayak" in " ".join(one.text for one in found)


@pytest.mark.parametrize("recipe", [MID, MID.without("fusion"), MID.without("rerank")])
def test_an_empty_bank_gives_an_empty_result_that_says_so(memory: Memory, recipe: Any) -> None:
    found = memory.recall("Where does Ana live?", at=ASKED, recipe=recipe)
    assert len(found) == 0 and found.tokens == 0 and found.dropped == ()
    assert found.trace["candidates"] == 0 and found.trace["answerable"] == 0
    assert found.trace["found"] == {"semantic": 0, "keyword": 0}


@pytest.mark.parametrize("query", ["the kayak", "Where was Ana in 2025?", "unheard of", "Ana"])
def test_a_bank_with_one_turn_has_one_answer(memory: Memory, query: str) -> None:
    tell(memory, TALK[2:3])
    found = memory.recall(query, at=ASKED, kinds=["turn"])
    assert [one.id for one in found] == ["one-0"]


def test_a_bank_of_turns_without_a_single_word_is_searched_all_the_same(quick: Memory) -> None:
    tell(quick, [("Ana", "!!!"), ("Ben", "🛶"), ("Ana", "...")])
    assert quick.recall("kayak", at=ASKED).memories == ()
    tell(quick, [("Ben", "the kayak")], session="later")
    for query in ("kayak", "the kayak!!!", "🛶 kayak"):
        assert quick.recall(query, at=ASKED, kinds=["turn"]).memories[0].text == "the kayak"


def test_more_candidates_than_there_are_turns_is_fine(quick: Memory) -> None:
    tell(quick)
    most, high = (quick.recall("kayak violin", at=ASKED, budget=budget) for budget in (10**9, "high"))
    assert [one.id for one in most] == [one.id for one in high] and len(most)


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One session of ten thousand turns: more than are looked at whole."""
    home: Path = tmp_path_factory.mktemp("endless")
    with Memory.open(
        home, "endless", embedder="fake", reader="none", cache_entries=0, extract="none", batch=5000
    ) as memory:
        memory.add_many(
            (
                {
                    "content": f"turn {place} of tea" if place != 7777 else "here is the kayak",
                    "name": "Ana" if place % 2 else "Ben",
                    "id": f"t{place}",
                    "timestamp": START + timedelta(minutes=place),
                }
                for place in range(10_000)
            ),
            session="endless",
        )
        yield memory


def test_in_an_endless_session_the_turn_and_its_neighbours_are_found(endless: Memory) -> None:
    found = endless.recall("Where is the kayak?", at=ASKED, recipe=replace(MID, expand=1))
    assert found.memories[0].id == "t7777"
    assert {"t7776", "t7778"} <= {one.id for one in found}


def test_a_long_question_of_an_endless_session_stays_bounded(endless: Memory) -> None:
    start = process_time()
    found = endless.recall(LONG, at=ASKED)
    assert process_time() - start < 15 and "t7777" in {one.id for one in found}


def test_as_many_candidates_as_an_endless_session_has_stay_bounded(endless: Memory) -> None:
    found = endless.recall("tea kayak", at=ASKED, budget=10_000)
    assert found.trace["candidates"] == 10_000
    assert found.memories[0].id in ("t7777", "t7778")  # the next one has tea, and the kayak right before it


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["recall", ""], "query is empty"),
        (["recall", "kayak", "--after", "2030-01-01", "--before", "2020-01-01"], "the window is empty"),
        (["recall", "kayak", "--max-tokens", "-1"], "max_tokens must be at least 0"),
        (["recall", "kayak", "--budget", "0"], "budget must be at least 1"),
        (["recall", "kayak", "--budget", "endless"], "unknown budget"),
        (["recall", "kayak", "--order", "size"], "unknown order"),
    ],
)
def test_the_command_line_says_in_one_line_what_is_wrong(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    assert run(["add", "I bought a kayak"]) == 0
    capsys.readouterr()
    assert run(arguments) != 0
    out, err = capsys.readouterr()
    assert out == "" and said in err and "Traceback" not in err


@pytest.mark.parametrize("query", ["the of", "Ana", "🛶", LONG[:100_000]])
def test_the_command_line_takes_any_question(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    assert run(["add", "I bought a kayak"]) == 0
    assert run(["recall", query, "--max-tokens", "0"]) == 0
    assert run(["recall", query]) == 0
    assert capsys.readouterr().err == ""
