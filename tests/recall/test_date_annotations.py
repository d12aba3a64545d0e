"""The dates of what recalled turns say, as a prompt shows them; what was said stays as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.models.embedder import count_tokens
from everwhen.recall.calendar.annotation import added_tokens, shown, spoken_times
from everwhen.types import Recalled
from everwhen.types.recall import MID
from everwhen.types.turns import line
from everwhen_time import Interval, resolve
from everwhen_time.interval import MONTHS
from tests.recall.memories import recalled

SAID = datetime(2025, 3, 12, 9, 30, tzinfo=UTC)
"""A Wednesday."""


def turn(text: str, zone: str = "UTC") -> Recalled:
    return replace(recalled("t"), text=text, said_at=SAID, zone=zone)


def in_a_prompt(text: str, zone: str = "UTC", known: dict[str, Interval | None] | None = None) -> str:
    said = turn(text, zone)
    refs = [ref for ref in resolve(text, SAID, zone) if ref.interval and ref.kind in ("point", "range")]
    return shown(text, list(spoken_times(said, refs, known or {})), zone)


@pytest.mark.parametrize(
    "said",
    [
        "We painted last week (3 to 9 March 2025).",
        "Yesterday (11 March 2025) Ana called, two days ago (10 March 2025) Ben did.",
        "Last month (February 2025), last year (2024) and last spring (March to May 2024) were quiet.",
        "last weekend (8 to 9 March 2025) was fun",
        "We met on Friday (7 March 2025), and in December (December 2024) too.",
        "A few weeks ago (5 to 26 February 2025) it rained.",
        "Over the past three months (12 December 2024 to 12 March 2025) we saved.",
        "I've been ill since Monday (since 10 March 2025).",
        "Last night (11 March 2025 18:00 to 12 March 2025 06:00) I slept badly.",
        "This morning (12 March 2025, 06:00 to 12:00) I ran.",
        "Last week's (3 to 9 March 2025) meeting was long.",
        "We fly next week (17 to 23 March 2025)!",
        "**Yesterday (11 March 2025)**, she said.",
        "昨天 (11 March 2025)我去了北京",
    ],
)
def test_the_date_stands_behind_words_that_are_counted_from_the_day_they_were_said_on(said: str) -> None:
    assert in_a_prompt(re.sub(r" \([^()]*\)", "", said)) == said


@pytest.mark.parametrize(
    "said",
    [
        "On 3 March 2025 we moved, in summer 2022 we had not.",
        "In '99 and on 3/5/21 too.",
        "Last Friday, 7 March 2025, we moved.",
        "Last week (the first one) we moved.",
        "Last week, 3 to 9 March 2025, was good.",
    ],
)
def test_words_that_say_their_date_are_left_alone(said: str) -> None:
    assert in_a_prompt(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "See https://example.com/yesterday/today and www.last.org/last week_.",
        "Mail to ben@yesterday.com about yesterday.txt and /tmp/yesterday",
        "Run `report last week` now, then ```\nsince yesterday\n``` again",
        "post-yesterday blues, yesterday-ish",
        "I wake up at 7:15 am and eat at noon.",
        "Every Monday for two hours, as when I was young.",
        "I like Friday, and my birthday is May 3.",
        "Recently, lately, soon, the other day.",
    ],
)
def test_no_date_stands_in_addresses_code_or_words_nor_where_none_is_sure(said: str) -> None:
    assert in_a_prompt(said) == said


def test_the_day_is_that_of_the_speaker() -> None:
    assert in_a_prompt("yesterday", "America/Los_Angeles") == "yesterday (11 March 2025)"
    assert in_a_prompt("today", "Pacific/Kiritimati") == "today (12 March 2025)"
    late = replace(turn("today", "America/Los_Angeles"), said_at=datetime(2025, 3, 12, 5, tzinfo=UTC))
    refs = resolve(late.text, late.said_at, late.zone)
    assert shown(late.text, list(spoken_times(late, refs, {})), late.zone) == "today (11 March 2025)"


def test_what_extraction_found_the_words_to_mean_is_what_is_shown() -> None:
    friday = Interval(datetime(2025, 3, 7, tzinfo=UTC), datetime(2025, 3, 8, tzinfo=UTC), "day")
    assert in_a_prompt("the contract: Friday") == "the contract: Friday"
    assert in_a_prompt("the contract: Friday", known={"friday": friday}).endswith("Friday (7 March 2025)")
    assert in_a_prompt("the contract: Friday", known={"friday": None}) == "the contract: Friday"


WORDS = st.sampled_from(
    [
        "I", "we met", "last week", "last week's", "yesterday,", "today.", "on Friday", "Monday's", "in May", "2024",
        "two days ago", "next month", "at 5pm", "`since", "x`", "a/b", "https://x.y/yesterday", "recently!", "昨天",
        "“tonight”", "the weekend\n", "until June",
    ]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(WORDS, max_size=25).map(" ".join))
def test_without_its_brackets_a_text_is_what_was_said(text: str) -> None:
    assert re.sub(r" \([^()]*\)", "", in_a_prompt(text)) == text


def tell(memory: Memory) -> None:
    memory.add(
        [
            {"content": "I signed the lease last week, and the painters came yesterday.", "name": "Ana"},
            {"content": "The lease is for the flat in Porto.", "name": "Ben"},
            {"content": "The lease of the old flat ended on 1 May 2020.", "name": "Ana"},
        ],
        at=SAID,
    )
    memory.flush()


def test_a_recall_shows_dates_and_keeps_the_words(quick: Memory) -> None:
    tell(quick)
    found = quick.recall("the lease")
    dated = next(one for one in found if "signed" in one.text)
    line_of = "Ana: I signed the lease last week (3 to 9 March 2025), and the painters came yesterday (11 March 2025)."
    for prompt in (
        found.as_context(),
        found.to_openai()[0]["content"],
        found.to_anthropic()[0]["text"],
    ):
        assert line_of in prompt
    assert dated.text == "I signed the lease last week, and the painters came yesterday."
    assert "lease last week, and" in found.as_context(dates=False)
    assert "2025)" not in found.to_openai(dates=False)[0]["content"]


def test_a_turn_occurred_when_what_it_speaks_of_was(quick: Memory) -> None:
    tell(quick)
    occurred = {one.text.split()[-1]: one.occurred for one in quick.recall("the lease", kinds=["turn"])}
    assert occurred == {
        "yesterday.": Interval(datetime(2025, 3, 3, tzinfo=UTC), datetime(2025, 3, 12, tzinfo=UTC), "week"),
        "Porto.": None,
        "2020.": Interval(datetime(2020, 5, 1, tzinfo=UTC), datetime(2020, 5, 2, tzinfo=UTC), "day"),
    }


@pytest.mark.parametrize("room", [20, 60, 80, 1000])
def test_the_dates_are_counted_in_the_budget(quick: Memory, room: int) -> None:
    tell(quick)
    found = quick.recall("the lease", max_tokens=room)
    assert found.tokens == count_tokens(found.as_context(cut=0)) <= room
    for one in found.memories:
        assert one.tokens == count_tokens(line(one.speaker, one.shown or one.text))


def test_dates_can_be_left_out_by_recipe_and_by_setting(quick: Memory, tmp_path: Path) -> None:
    tell(quick)
    with Memory.open(tmp_path, embedder="fake", reader="none", show_dates=False) as plain:
        tell(plain)
        for found in (quick.recall("the lease", recipe=MID.without("dates")), plain.recall("the lease")):
            assert not any(one.shown or one.occurred for one in found if one.kind == "turn")
            assert "lease last week, and" in found.as_context()
            assert found.tokens == count_tokens(found.as_context(cut=0))


def test_extraction_settles_a_day_that_the_words_leave_open(memory: Memory) -> None:
    memory.add({"content": "Guess what, we are meeting the landlord on Friday!", "name": "Ana"}, at=SAID)
    memory.flush()
    (event,) = memory.events("landlord")
    found = memory.recall("the landlord", kinds=["turn"])
    assert event.occurred == found.memories[0].occurred
    assert "on Friday (14 March 2025)!" in found.as_context()


def test_a_turn_that_only_its_dates_would_crowd_out_is_shown_as_it_was_said(quick: Memory) -> None:
    quick.add("We painted the hall last week, and the doors came yesterday.", at=SAID)
    plain = quick.recall("the hall", recipe=MID.without("dates"), kinds=["turn"])
    found = quick.recall("the hall", max_tokens=plain.tokens, kinds=["turn"])
    assert found.as_context(cut=0) == plain.as_context(cut=0) and found.tokens == plain.tokens > 0


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Notes of many lengths on a few days, most of them with a time, and one that is longer than most budgets."""
    home = tmp_path_factory.mktemp("crowded")
    with Memory.open(home, embedder="fake", reader="none", extract="none") as memory:
        for place in range(40):
            when = "last week" if place % 3 else "again"
            text = f"We painted the hall {'and the door ' * (place % 7)}{when}."
            memory.add(text, at=SAID + timedelta(days=place % 5), session=f"s{place % 8}")
        memory.add("We painted the hall, the hall and the hall. " * 60, at=SAID)
        yield memory


@pytest.mark.parametrize("top_k", [None, 1, 2, 5, 20, 100])
@pytest.mark.parametrize("room", [20, 45, 75, 110, 200, 350, 900, 5000])
def test_whatever_the_room_dates_break_no_bound_and_lose_nothing(
    crowded: Memory, room: int, top_k: int | None
) -> None:
    plain = crowded.recall("the hall", max_tokens=room, top_k=top_k, recipe=MID.without("dates"))
    found = crowded.recall("the hall", max_tokens=room, top_k=top_k)
    assert found.tokens == count_tokens(found.as_context(cut=0)) <= room
    assert top_k is None or len(found) <= top_k
    ids, dropped = [one.id for one in found], [one.id for one in found.dropped]
    assert len({*ids, *dropped}) == len(ids) + len(dropped)
    assert {*ids, *dropped} == {one.id for one in (*plain.memories, *plain.dropped)}
    # A date costs about a dozen tokens, so a few make room for the dates of the others.
    assert len(found) >= len(plain) * 0.6
    assert bool(len(found)) == bool(len(plain))


def test_where_all_fit_as_they_were_said_no_date_takes_the_place_of_a_memory(crowded: Memory) -> None:
    plain = crowded.recall("the hall", max_tokens=5000, top_k=20, recipe=MID.without("dates"))
    found = crowded.recall("the hall", max_tokens=5000, top_k=20)
    assert [one.id for one in found] == [one.id for one in plain] and any(one.shown for one in found)


def test_a_context_shows_a_memory_as_it_was_said_where_its_dates_do_not_fit(tmp_path: Path) -> None:
    with Memory.open(tmp_path, embedder="fake", reader="none", extract="none") as memory:
        memory.add(
            "Basil the tortoise ate dandelions last week, and cherries yesterday, and plums last month.",
            at=SAID,
        )
        shown = [
            memory.context(
                "Basil the tortoise ate something again.", at=SAID, max_tokens=room
            ).recall.memories
            for room in range(100, 500, 10)
        ]
    first = next(place for place, found in enumerate(shown) if found)
    assert all(len(found) == 1 for found in shown[first:])
    assert not shown[first][0].shown and shown[-1][0].shown


def test_a_pasted_document_is_shown_as_it_is(quick: Memory) -> None:
    quick.add("We met again last week. " * 1_000, at=SAID)
    (found,) = quick.recall("met again", max_tokens=100_000, kinds=["turn"])
    assert not found.shown and found.occurred is None


@pytest.mark.parametrize(
    "behind", ["", ".", "!", ". Then more", ", or so", " and more", "  two", "? \n\nNo", " (x)", "; x"]
)
@pytest.mark.parametrize("before", ["We moved last week", "See you on the 3rd", "Back by 10"])
def test_the_tokens_of_a_date_are_those_that_the_tokenizer_counts(before: str, behind: str) -> None:
    text, place = before + behind, len(before)
    days = [f"{day} {month} 2025" for day in ("3", "28 April to 6") for month in MONTHS]
    months = [f"{month} 2025" for month in MONTHS]
    others = [
        "2019 to 2021",
        "since 3 May 2025",
        "up to 3 May 2025",
        "3 May 2025, 09:30 to 11:00",
        "3 May 2025 at 09:30",
    ]
    for date in (*days, *months, *others):
        with_date = f"{text[:place]} ({date}){text[place:]}"
        real = count_tokens(line("Ana", with_date)) - count_tokens(line("Ana", text))
        assert added_tokens(text, [(place, date)]) == real, with_date


@pytest.mark.parametrize(
    ("before", "behind"),
    [("last week", "'s"), ("last week", "..."), ("昨日", "は"), ("last week", "\nx"), ("été", "")],
)
def test_what_only_the_tokenizer_can_count_is_left_to_it(before: str, behind: str) -> None:
    assert added_tokens(before + behind, [(len(before), "3 May 2025")]) is None
    assert added_tokens("last week", [(9, "3 maio 2025")]) is None
