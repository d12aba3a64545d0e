"""The tree as it is used: what is built when, what late turns change, what recall sees of it."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from everwhen import AsyncMemory, Interval, Memory, Message, UsageError
from everwhen.tree.levels import Levels, parse_levels
from tests.tree.talks import START, holds, opened, said, talk


def levels(memory: Memory) -> Levels:
    return parse_levels("day, week, month", memory.zone)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("year") / "home"
    with opened(folder, "year") as memory:
        for week in range(52):
            memory.add_many(talk(f"s{week}", START + timedelta(weeks=week), 6, first=10 * week))
        memory.consolidate("end")
    return folder


@pytest.fixture
def year(prepared: Path, home: Path) -> Memory:
    """A conversation a week for a year, consolidated to the end."""
    shutil.copytree(prepared, home)
    return opened(home, "year")


def test_every_level_is_there_and_the_invariants_hold(year: Memory) -> None:
    nodes = year.tree()
    holds(nodes)
    assert {node.level: node.name for node in nodes} == {
        1: "exchange",
        2: "session",
        3: "day",
        4: "week",
        5: "month",
    }
    assert [len(year.tree(level)) for level in range(1, 6)] == [156, 52, 52, 52, 12]
    assert year.doctor() == []


def test_the_map_shows_the_finest_level_that_is_not_too_large_or_the_one_that_is_named(year: Memory) -> None:
    def seen(name: str, most: int) -> tuple[str, int]:
        level = year.map_level(name, most)
        assert level is not None and level.names == ("exchange", "session", "day", "week", "month")
        assert len(level.nodes) == len(level.layer.vectors) == len(level.layer.labels)
        return level.layer.name, len(level.nodes)

    assert [seen("", most) for most in (200, 60, 20, 5)] == [
        ("exchange", 156), ("session", 52), ("month", 12), ("month", 5),
    ]  # fmt: skip
    assert seen("exchange", 10) == ("exchange", 10) and seen("week", 500) == ("week", 52)
    assert seen("exchange", 1) == seen("exchange", 0) == ("exchange", 1)  # never none


def test_the_map_of_a_level_places_its_nodes_as_the_map_of_all_levels_does(year: Memory) -> None:
    for layer in year.layers():
        level = year.map_level(layer.name, 500)
        assert level is not None and list(level.nodes) == list(year.tree(layer.level))
        assert (level.layer.vectors == layer.vectors).all() and level.layer.labels == layer.labels


def test_an_empty_bank_has_no_map(quick: Memory) -> None:
    assert quick.map_level() is None


def test_windows_close_by_the_newest_turn_and_not_by_the_clock(quick: Memory) -> None:
    quick.add_many(talk("monday", START, 4))
    assert quick.consolidate().built == 0  # nothing newer says that it is over
    quick.add_many(talk("tuesday", START + timedelta(days=1), 4, first=10))
    assert quick.consolidate().built == 2  # Monday's session and Monday; the week goes on
    assert [node.level for node in quick.tree() if node.level > 1] == [2, 3]
    assert quick.consolidate().built == 0


def test_now_closes_what_was_over_by_then_and_end_closes_all(quick: Memory) -> None:
    quick.add_many(talk("monday", START, 4))
    assert quick.consolidate(START + timedelta(minutes=30)).built == 0  # it may go on
    assert quick.consolidate(START + timedelta(hours=3)).built == 1
    assert quick.consolidate(START + timedelta(days=1)).built == 1
    done = quick.consolidate("end")
    assert (done.built, done.rebuilt, done.waiting) == (2, 0, 0)


def test_a_naive_now_is_refused(quick: Memory) -> None:
    with pytest.raises(UsageError, match="no time zone"):
        quick.consolidate(datetime(2025, 3, 3))


def test_a_late_turn_has_its_own_path_built_again_once(year: Memory) -> None:
    before = {node.id: node for node in year.tree()}
    year.add(said(9001, "s20", START + timedelta(weeks=20, minutes=2, seconds=30), "Tom sold the violin."))
    done = year.consolidate("end")
    assert (done.built, done.rebuilt) == (0, 4)
    assert year.consolidate("end").rebuilt == 0
    after = {node.id: node for node in year.tree()}
    changed = [node for id_, node in after.items() if before.get(id_) != node and node.level > 1]
    assert sorted(node.level for node in changed if "violin" in node.text or node.level == 2)[:1] == [2]
    assert {node.level for node in changed} <= {2, 3, 4, 5}
    assert len(changed) <= 4


def test_a_turn_that_moves_the_beginning_of_its_session_moves_the_node(quick: Memory) -> None:
    at = datetime(2025, 3, 4, 0, 5, tzinfo=UTC)
    quick.add_many(talk("night", at, 4))
    quick.consolidate("end")
    quick.add(said(99, "night", at - timedelta(minutes=10)))
    done = quick.consolidate("end")
    days = quick.tree(3)
    assert [day.interval.start for day in days] == [datetime(2025, 3, 3, tzinfo=UTC)]
    assert done.dropped == 1
    holds(quick.tree())


def test_a_session_across_midnight_belongs_to_the_day_it_began_on(home: Path) -> None:
    with opened(home, "lisbon", zone="Europe/Lisbon") as memory:
        lisbon = ZoneInfo("Europe/Lisbon")
        memory.add_many(talk("late", datetime(2025, 7, 1, 23, 58, tzinfo=lisbon), 6))
        memory.consolidate("end")
        [day] = memory.tree(3)
        assert day.interval.start == datetime(2025, 7, 1, tzinfo=lisbon)
        assert day.interval.end == datetime(2025, 7, 2, 0, 3, 0, 1, tzinfo=lisbon)
        holds(memory.tree())


def test_at_keeps_the_nodes_around_a_moment(year: Memory) -> None:
    moment = START + timedelta(weeks=7, minutes=3)
    assert [node.level for node in year.tree(at=moment)] == [1, 2, 3, 4, 5]
    assert [node.level for node in year.tree(at=moment + timedelta(hours=5))] == [3, 4, 5]
    assert len(year.tree(2, Interval(START, START + timedelta(weeks=3)))) == 3


def test_a_level_that_there_is_not_is_refused_with_the_levels_there_are(quick: Memory) -> None:
    with pytest.raises(UsageError, match="1 exchange, 2 session, 3 day, 4 week, 5 month"):
        quick.tree(6)


def test_other_windows_make_another_tree(year: Memory, home: Path) -> None:
    year.close()
    with opened(home, "year", tree_windows="week, quarter") as memory:
        memory.consolidate("end")
        assert {node.name for node in memory.tree()} == {"exchange", "session", "week", "3 months"}
        holds(memory.tree())
        assert memory.doctor() == []
    with opened(home, "year") as memory:  # the bank keeps its windows
        assert memory.consolidate("end").built == 0
        assert {node.level for node in memory.tree()} == {1, 2, 3, 4}


def test_several_exchanges_can_be_one_node(home: Path) -> None:
    with opened(home, "pairs", tree_exchanges=2) as memory:
        memory.add_many(talk("s", START, 10))
        assert [len(node.children) for node in memory.tree(1)] == [4, 4, 2]


# Recall


def test_recall_without_nodes_asked_for_is_the_same_with_and_without_them(memory: Memory) -> None:
    memory.add_many(talk("s1", START, 12))
    memory.add_many(talk("s2", START + timedelta(days=40), 12, first=50))
    memory.add("My sister Mira plays the violin.", session="s3", at=START + timedelta(days=50))
    memory.flush()
    asked = ("who put plum jam into the cupboard", "what does Mira play")
    before = [memory.recall(question, at=START + timedelta(days=60)) for question in asked]
    memory.consolidate("end")
    after = [memory.recall(question, at=START + timedelta(days=60)) for question in asked]
    for one, other in zip(before, after, strict=True):
        assert [(m.id, m.score) for m in one.memories] == [(m.id, m.score) for m in other.memories]
        assert one.trace["candidates"] == other.trace["candidates"]
    assert memory._bank.store._live_nodes._seen is None  # type: ignore[attr-defined]  # not even read


def test_recall_finds_nodes_by_meaning_and_words_and_they_lead_to_turns(memory: Memory) -> None:
    memory.add("My sister Mira plays the violin in Ghent.", session="s3", at=START)
    memory.add_many(talk("s1", START + timedelta(days=3), 4))
    memory.consolidate("end")
    found = memory.recall("who plays the violin", kinds=["node"], at=START + timedelta(days=9))
    assert {one.kind for one in found.memories} == {"node"}
    assert "violin" in found.memories[0].text
    assert found.memories[0].turns
    assert {turn.session for turn in memory._bank.store.turns(ids=found.memories[0].turns)} >= {"s3"}
    rows = memory._bank.store.units([above.unit for above in memory._bank.store.tree.paths(["t0"])["t0"]])
    assert sorted(row.level for row in rows.values()) == [2, 3, 4, 5]


def test_a_node_that_reaches_back_before_a_window_does_not_pass_it(quick: Memory) -> None:
    quick.add_many(talk("s1", START, 4))
    quick.add_many(talk("s2", START + timedelta(days=2), 4, first=20))
    quick.consolidate("end")
    found = quick.recall("plum jam", kinds=["node"], after=START + timedelta(days=1))
    assert sorted(memory.occurred.grain for memory in found.memories if memory.occurred) == ["day", "second"]


def test_known_at_hides_a_node_with_something_that_was_not_known_then(quick: Memory) -> None:
    quick.add_many(talk("s1", START, 4))
    quick.consolidate("end")
    before = datetime.now(UTC)
    assert quick.recall("plum jam", kinds=["node"], known_at=before).memories
    quick.add(said(77, "s1", START + timedelta(seconds=90)))
    quick.consolidate("end")
    assert not quick.recall("plum jam", kinds=["node"], known_at=before).memories


# Words


def test_words_counted_from_the_day_they_were_said_get_their_date(quick: Memory) -> None:
    quick.add(
        "I moved to Porto yesterday with two cats.", session="s", at=datetime(2025, 6, 1, 12, tzinfo=UTC)
    )
    quick.consolidate("end")
    assert "yesterday (31 May 2025)" in quick.tree(2)[0].text
    assert "1 June 2025" in quick.tree(5)[0].text


def test_yesterday_is_the_speakers_own(home: Path) -> None:
    with opened(home, "far") as memory:
        at = datetime(2025, 6, 1, 1, tzinfo=UTC)  # still 31 May in New York
        memory.add(Message("I sold the boat yesterday.", said_at=at, zone="America/New_York", session="s"))
        memory.consolidate("end")
        assert "yesterday (30 May 2025)" in memory.tree(2)[0].text


def test_a_sentence_is_not_said_twice(quick: Memory) -> None:
    for number in range(6):
        quick.add(
            said(number, f"s{number}", START + timedelta(hours=number), "I love the plum jam of my sister.")
        )
    quick.consolidate("end")
    [day] = quick.tree(3)
    assert day.text.count("plum jam") == 1
    assert "said 6 times" in day.text


def test_what_a_later_fact_replaced_is_not_told_as_current(quick: Memory) -> None:
    quick.add(said(1, "s", START, "I live in Lisbon with two cats and a parrot."))
    quick.add(said(2, "s", START + timedelta(hours=1), "I live in Porto with two cats and a parrot."))
    quick.facts.assert_("Ana", "lives in", "Lisbon", valid_from=START, source="t1")
    quick.facts.assert_("Ana", "lives in", "Porto", valid_from=START + timedelta(hours=1), source="t2")
    quick.consolidate("end")
    [session], [month] = quick.tree(2), quick.tree(5)
    assert "Porto" in session.text
    assert "Lisbon" not in session.text
    assert "Ana lives in Porto" in month.text
    assert "Lisbon" not in month.text


def test_the_profile_gathers_support_over_months_and_says_what_has_ended(quick: Memory) -> None:
    for month in (0, 1, 2):
        quick.add(
            said(month, f"s{month}", START + timedelta(days=31 * month), "I live in Lisbon, by the river.")
        )
        quick.facts.assert_("Ana", "lives in", "Lisbon", valid_from=START, source=f"t{month}")
    quick.consolidate("end")
    [home_] = [one for one in quick.profile() if one.fact]
    assert (home_.support, home_.turns, home_.ended) == (3, ("t0", "t1", "t2"), None)
    assert (home_.first, home_.last) == (START, START + timedelta(days=62))
    moved = START + timedelta(days=100)
    quick.add(said(9, "s9", moved, "I live in Porto now."))
    quick.facts.assert_("Ana", "lives in", "Porto", valid_from=moved, source="t9")
    before = {node.id: node.text for node in quick.tree(5)}
    quick.consolidate("end")
    after = {node.id: node.text for node in quick.tree(5)}
    assert {id_: text for id_, text in after.items() if id_ in before} == before  # refined, not rewritten
    facts = {one.text.split(" (")[0]: one for one in quick.profile() if one.fact}
    assert facts["Ana lived in Lisbon"].ended == moved
    assert facts["Ana lives in Porto"].ended is None


def test_a_retracted_fact_is_gone_from_the_profile(quick: Memory) -> None:
    quick.add(said(1, "s", START, "The tide is high today."))
    fact = quick.facts.assert_("Ana", "owns", "a boat", source="t1")
    quick.consolidate("end")
    assert any(one.fact for one in quick.profile())
    quick.facts.retract(fact.id, reason="sold")
    assert not any(one.fact for one in quick.profile())


def test_what_somebody_corrected_is_no_longer_told(quick: Memory) -> None:
    quick.add(said(1, "s", START, "The garden is watered by Konrad on Mondays."))
    quick.add(said(2, "s", START + timedelta(minutes=1), "The tide is high in the harbour."))
    quick.facts.assert_("garden", "watered by", "Konrad", valid_from=START, source="t1")
    quick.consolidate("end")
    assert "Konrad" in quick.tree(2)[0].text
    quick.facts.correct("garden", "watered by", "Mira")
    done = quick.consolidate("end")
    assert (done.built, done.rebuilt) == (0, 4)
    assert not any("Konrad" in node.text for node in quick.tree() if node.level > 1)
    assert quick.consolidate("end").rebuilt == 0


# Looking after it


def test_doctor_finds_a_broken_tree_and_mends_it(year: Memory) -> None:
    expected = year.tree()
    with year._bank.store._file.transaction() as sql:  # type: ignore[attr-defined]
        sql.raw.execute("UPDATE nodes SET parent = 'nobody' WHERE level = 3 AND starts < '2025-04'")
        sql.raw.execute("UPDATE units SET occurred_end = occurred_start WHERE level = 4")
    found = year.doctor()
    assert {finding.check for finding in found} == {"tree"}
    mended = year.doctor(fix=True)
    assert mended
    assert all(finding.fixed for finding in mended)
    assert year.doctor() == []
    assert year.tree() == expected


def test_another_embedder_gives_nodes_new_vectors(quick: Memory) -> None:
    for week in range(3):
        quick.add_many(talk(f"week {week}", START + timedelta(weeks=week), 4, first=10 * week))
    quick.consolidate("end")
    assert {node.level for node in quick.tree()} > {1, 2, 3}
    quick.reembed("conversation-1")
    assert quick.doctor() == []
    assert quick.recall("plum jam", kinds=["node"]).memories


@pytest.mark.parametrize(("schedule", "days"), [("asked", 0), ("closed", 1)])
def test_a_window_that_closes_is_built_by_the_thread_that_extracts(
    home: Path, schedule: str, days: int
) -> None:
    with Memory.open(
        home, "b", embedder="fake", reader="none", cache_entries=0, tree_schedule=schedule
    ) as memory:
        memory.add_many(talk("monday", START, 4))
        memory.flush()
        assert memory.tree(3) == []  # the newest turn lies in the day itself
        memory.add_many(talk("friday", START + timedelta(days=4), 4, first=10))
        memory.flush()
        assert len(memory.tree(3)) == days
        if days:
            assert memory.consolidate().built == 0
            assert memory.tree(3)[0].interval.start == START.replace(hour=0)


@pytest.mark.parametrize(
    ("windows", "top"),
    [
        ("exchange", 1),
        ("session", 2),
        ("day", 3),
        ("day, week", 4),
        ("day, week, month", 5),
        ("day, week, month, quarter", 6),
        ("day, week, month, quarter, year", 7),
    ],
)
def test_a_tree_has_one_to_seven_levels(home: Path, windows: str, top: int) -> None:
    with opened(home, "b", tree_windows=windows) as memory:
        memory.add_many(talk("s1", START, 4))
        memory.add_many(talk("s2", START + timedelta(days=1), 4, first=10))
        assert memory.consolidate("end").waiting == 0
        nodes = memory.tree()
        assert sorted({node.level for node in nodes}) == list(range(1, top + 1))
        if top > 1:
            holds(nodes)
            assert memory.profile()
        assert memory.doctor() == []
        memory.forget(session="s1")
        assert memory.doctor() == []
    with opened(home, "b") as memory:  # the bank keeps its levels
        assert {node.level for node in memory.tree()} == set(range(1, top + 1))


async def _async_tree(home: Path) -> int:
    async with await AsyncMemory.open(
        home, "quick", embedder="fake", reader="none", cache_entries=0
    ) as memory:
        await memory.add("I like jam.", at=START)
        await memory.consolidate("end")
        return len(await memory.tree()) + len(await memory.profile())


def test_async_memory_has_the_tree(home: Path) -> None:
    import asyncio

    assert asyncio.run(_async_tree(home)) >= 6
