"""What a store finds, by vectors and by words, and what its filters keep out."""

from __future__ import annotations

from datetime import timedelta

from everwhen.store.rows import Filter
from everwhen.store.sql.store import Store
from everwhen_time import Interval
from tests.conformance import finding
from tests.conformance.conftest import Reopen
from tests.conformance.turns import START, direction, turn


def ids(store: Store, found: list[tuple[int, float]]) -> list[str]:
    rows = store.units([unit for unit, _ in found])
    return [rows[unit].id for unit, _ in found]


def by_vector(store: Store, where: Filter | None = None, limit: int = 10) -> list[str]:
    return ids(store, finding.by_meaning(store, direction(1.0), limit, where or Filter()))


def by_words(store: Store, query: str, where: Filter | None = None, limit: int = 10) -> list[str]:
    return ids(store, finding.by_words(store, query, limit, where or Filter()))


def test_the_nearest_vector_comes_first(store: Store) -> None:
    store.append(
        [
            turn("far", vectors=[direction(0.1, 1.0)]),
            turn("near", vectors=[direction(1.0, 0.1)]),
            turn("middle", vectors=[direction(1.0, 1.0)]),
        ]
    )
    assert by_vector(store) == ["near", "middle", "far"]
    assert by_vector(store, limit=1) == ["near"]


def test_a_turn_counts_by_the_best_of_its_pieces_and_once(store: Store) -> None:
    store.append(
        [
            turn("long", vectors=[direction(0.0, 1.0), direction(1.0), direction(0.0, 0.0, 1.0)]),
            turn("short", vectors=[direction(1.0, 0.5)]),
        ]
    )
    assert by_vector(store) == ["long", "short"]


def test_words_are_found_by_their_stem_and_without_accents(store: Store) -> None:
    store.append([turn("a", "She was running along the Café"), turn("b", "nothing of the kind")])
    assert by_words(store, "runs") == ["a"]
    assert by_words(store, "cafe") == ["a"]


def test_a_rare_word_outweighs_a_common_one(store: Store) -> None:
    store.append([turn(f"c{i}", "garden weather garden") for i in range(8)])
    store.append([turn("rare", "the violin in the garden")])
    assert by_words(store, "garden violin")[0] == "rare"


def test_the_speaker_is_a_word_of_the_turn(store: Store) -> None:
    store.append([turn("a", "yes", speaker="Ana"), turn("b", "yes", speaker="Ben")])
    assert by_words(store, "what did Ben say") == ["b"]


def test_context_is_searched_and_weighs_less_than_the_text(store: Store) -> None:
    store.append([turn("question", "Do you play the violin?"), turn("none", "I like tea a lot")])
    store.append(
        [turn("answer", "Yes, since I was six", context="Ana: Do you play the violin?", before="question")]
    )
    assert by_words(store, "violin") == ["question", "answer"]
    assert store.units([3])[3].text == "Yes, since I was six"


def test_stop_words_count_only_when_there_is_nothing_else(store: Store) -> None:
    store.append([turn("a", "where were you"), turn("b", "the violin")])
    assert by_words(store, "where is the violin") == ["b"]
    assert by_words(store, "where were you") == ["a"]


def test_text_that_looks_like_query_syntax_is_only_text(store: Store) -> None:
    store.append([turn("a", 'a "quoted" NEAR thing AND more')])
    for query in ('"', "NEAR(", "a AND", "col:x", "*", "^a", "-", "()", "'; DROP TABLE turns; --"):
        finding.by_words(store, query, 5, Filter())
    assert by_words(store, '"quoted" AND') == ["a"]


def test_an_interval_filters_both_searches_whatever_the_order_of_arrival(store: Store) -> None:
    store.append([turn("t3", "violin", hours=3), turn("t1", "violin", hours=1)])
    store.append([turn("t2", "violin", hours=2), turn("t0", "violin", hours=0)])
    hour = timedelta(hours=1)
    where = Filter(between=Interval(START + hour, START + 3 * hour))
    assert set(by_vector(store, where)) == {"t1", "t2"}
    assert set(by_words(store, "violin", where)) == {"t1", "t2"}
    nothing = Filter(between=Interval(START + 10 * hour, None))
    assert by_vector(store, nothing) == [] and by_words(store, "violin", nothing) == []


def test_known_at_hides_what_was_learned_later(store: Store) -> None:
    learned = START + timedelta(days=10)
    store.append([turn("old", "violin"), turn("new", "violin", recorded=learned)])
    assert by_words(store, "violin", Filter(known_at=START)) == ["old"]
    assert set(by_words(store, "violin", Filter(known_at=learned))) == {"old", "new"}


def test_networks_and_kinds_filter(store: Store) -> None:
    store.append([turn("said", "violin"), turn("advice", "violin", network="experience")])
    assert by_words(store, "violin", Filter(networks=frozenset({"experience"}))) == ["advice"]
    assert by_words(store, "violin", Filter(kinds=frozenset({"event"}))) == []
    assert len(by_words(store, "violin", Filter(kinds=frozenset({"turn"})))) == 2


def test_metadata_must_match_in_value_and_type(store: Store) -> None:
    store.append([turn("one", "violin", channel="mail", n=1), turn("two", "violin", channel="chat", n="1")])
    assert by_words(store, "violin", Filter(metadata={"channel": "mail"})) == ["one"]
    assert by_words(store, "violin", Filter(metadata={"n": "1"})) == ["two"]
    assert by_words(store, "violin", Filter(metadata={"channel": "mail", "n": 2})) == []


def test_equal_scores_come_in_the_order_of_time(store: Store) -> None:
    store.append([turn(f"t{i}", "violin", hours=9 - i) for i in range(9)])
    expected = [f"t{i}" for i in range(8, -1, -1)]
    assert by_vector(store) == expected and by_words(store, "violin") == expected
    assert by_vector(store, limit=3) == expected[:3]


def test_another_connection_sees_what_was_written_at_once(reopen: Reopen) -> None:
    one, two = reopen(), reopen()
    one.append([turn("a", "violin")])
    assert by_words(two, "violin") == ["a"]
    two.append([turn("b", "violin", hours=-1)])
    assert by_words(one, "violin") == ["b", "a"]
    assert by_vector(one) == by_vector(two) == ["b", "a"]


def test_new_vectors_replace_the_old_ones_everywhere(reopen: Reopen) -> None:
    one, two = reopen(), reopen()
    one.append([turn("a", vectors=[direction(1.0)]), turn("b", vectors=[direction(0.0, 1.0)])])
    assert by_vector(two) == ["a", "b"]
    turned = {"a": direction(0.0, 1.0)[None], "b": direction(1.0)[None]}
    assert one.replace_vectors("fake", 8, {"a": turned["a"]}) == ["b"]  # not all: nothing is changed
    assert by_vector(two) == ["a", "b"]
    assert one.replace_vectors("fake", 8, turned) == []
    assert by_vector(two) == ["b", "a"]
    assert one.check() == []
