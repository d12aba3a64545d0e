"""What fits: never more than there is room for, in the order of relevance, the most worth for the tokens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.models.embedder import count_tokens
from everwhen.recall.budget import fill
from everwhen.types import Recall, Recalled
from everwhen.types.recall import HEADER_TOKENS
from tests.recall.memories import recalled

lists = st.lists(st.tuples(st.integers(1, 40), st.floats(0, 1), st.integers(0, 96)), max_size=15).map(
    lambda entries: [
        recalled(f"m{place}", score, "word " * words, hours)
        for place, (words, score, hours) in enumerate(sorted(entries, key=lambda one: -one[1]))
    ]
)


@settings(max_examples=80, deadline=None)
@given(lists, st.integers(0, 400))
def test_what_fits_is_counted_to_the_token_and_stays_in_order(memories: list[Recalled], room: int) -> None:
    kept, left, used = fill(memories, room)
    assert used <= room
    assert used == count_tokens(Recall("q", tuple(kept), used).as_context(cut=0))
    assert kept == [one for one in memories if one in kept] and left == [
        one for one in memories if one in left
    ]
    assert len(kept) + len(left) == len(memories)
    # nothing that is left out would still have fitted
    assert all(used + one.tokens + HEADER_TOKENS > room or one.tokens == 0 for one in left)


@settings(max_examples=40, deadline=None)
@given(lists)
def test_with_room_for_all_nothing_is_left(memories: list[Recalled]) -> None:
    assert fill(memories, 10_000)[:2] == (memories, [])


def test_two_short_ones_are_worth_more_than_a_long_one_a_little_better() -> None:
    long, short, other = recalled("long", 1.0, "word " * 60), recalled("short", 0.9), recalled("other", 0.8)
    kept, left, _ = fill([long, short, other], 60)
    assert (kept, left) == ([short, other], [long])


def test_a_long_one_that_is_far_better_comes_first() -> None:
    long, short = recalled("long", 1.0, "word " * 40), recalled("short", 0.01)
    kept, _, _ = fill([long, short], long.tokens + HEADER_TOKENS)
    assert kept == [long]


def test_the_first_of_a_day_makes_the_others_of_it_cheaper() -> None:
    words = "word " * 20
    first, same_day, other_day = (
        recalled("first", 1.0, words),
        recalled("same day", 0.45, words, hours=1),
        recalled("other day", 0.5, words, hours=48),
    )
    kept, left, used = fill([first, other_day, same_day], first.tokens + same_day.tokens + HEADER_TOKENS)
    assert (kept, left) == ([first, same_day], [other_day])
    assert used == count_tokens(Recall("q", tuple(kept), used).as_context(cut=0))


def test_a_memory_is_not_put_back_for_the_length_of_its_dates() -> None:
    best, dated = recalled("best", 1.0, "word " * 12), recalled("best", 1.0, "word " * 40)
    others = [recalled("b", 0.5, "word " * 8), recalled("c", 0.5, "word " * 9)]
    kept, _, _ = fill([dated, *others], 45, [best, *others])
    assert best in kept


def test_what_is_too_long_comes_in_as_its_shorter_version() -> None:
    long, short = recalled("a", text="word " * 30), recalled("a", text="word " * 10)
    assert fill([long], short.tokens + HEADER_TOKENS, [short])[0] == [short]
    assert fill([long], long.tokens + HEADER_TOKENS, [short])[0] == [long]
    assert fill([long], short.tokens, [short]) == ([], [long], 0)


def test_no_room_keeps_nothing() -> None:
    assert fill([recalled("a")], 0) == ([], [recalled("a")], 0)
    assert fill([], 0) == ([], [], 0)
