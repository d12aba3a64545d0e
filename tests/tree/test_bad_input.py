"""What a tree must bear: huge sessions, years of silence, one instant for all, a crash, another process."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time

import pytest

from everwhen import Memory, UsageError
from everwhen.store.sql.tree import TreeStore
from tests.tree.talks import START, holds, opened, said, talk


@pytest.mark.parametrize("turns", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_session_of_thousands_of_turns_is_one_short_node(home: Path, turns: int) -> None:
    with opened(home, "long") as memory:
        for start in range(0, turns, turns // 4):
            memory.add_many(talk("s", START + timedelta(minutes=start), turns // 4, first=start))
        began = process_time()
        memory.consolidate("end")
        assert process_time() - began < turns / 150
        [session] = memory.tree(2)
        assert len(session.children) == turns // 2
        assert len(session.text) < 2_000
        assert [len(memory.tree(level)) for level in (3, 4, 5)] == [1, 1, 1]
        assert memory.tree(5)[0].interval.covers(session.interval)


def test_one_turn_a_year_for_ten_years_is_ten_paths(home: Path) -> None:
    with opened(home, "rare") as memory:
        for year in range(10):
            memory.add(f"Happy birthday number {year}, dear Ana.", at=datetime(2015 + year, 5, 7, tzinfo=UTC))
        assert memory.consolidate().built == 36  # the last one's windows are open
        memory.consolidate("end")
        holds(memory.tree())
        assert [len(memory.tree(level)) for level in range(1, 6)] == [10] * 5
        assert len(memory.profile()) >= 1


def test_turns_at_one_instant_make_the_same_tree_in_any_order(home: Path) -> None:
    told = [said(k, "s", START, f"Box {k} holds the {k}th part of the clock.") for k in range(30)]
    trees = []
    for bank, order in (("a", told), ("b", told[::-1])):
        with opened(home, bank) as memory:
            memory.add_many(order)
            memory.consolidate("end")
            holds(memory.tree())
            trees.append(memory.tree())
    assert trees[0] == trees[1]
    assert trees[0][-1].interval.contains(START)


def test_turns_without_a_word_still_make_a_node(home: Path) -> None:
    with opened(home, "odd") as memory:
        for number, text in enumerate(("...", "?!", "🙂", "ok", "```code```", "一二三。四五六。")):
            memory.add(said(number, f"s{number}", START + timedelta(days=number), text))
        memory.consolidate("end")
        holds(memory.tree())
        assert [len(node.turns) for node in memory.tree(2)] == [1] * 6


def test_an_empty_bank_has_an_empty_tree(quick: Memory) -> None:
    assert quick.consolidate("end").built == 0
    assert quick.tree() == []
    assert quick.profile() == []


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"tree_windows": "month, day"}, "a day cannot stand above a month"),
        ({"consolidate": "magic"}, "use one of extractive, llm:<model>"),
    ],
)
def test_settings_that_make_no_tree_are_refused_when_the_bank_is_opened(
    home: Path, settings: dict[str, str], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        opened(home, "wrong", **settings)


def test_a_crash_in_the_middle_leaves_the_old_nodes_and_the_list(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home, "crash") as memory:
        memory.add_many(talk("s1", START, 4))
        memory.add_many(talk("s2", START + timedelta(days=40), 4, first=10))
        memory.consolidate("end")
        before = [node for node in memory.tree() if node.level > 1]
        memory.add(said(50, "s1", START + timedelta(seconds=70), "Tom bought a boat in Ghent."))
        memory.add(said(51, "s2", START + timedelta(days=40, seconds=70), "Tom sold the boat in Ghent."))
        insert, calls = TreeStore._insert, []

        def failing(self: TreeStore, *rest: object) -> None:
            calls.append(rest)
            if len(calls) == 2:
                raise RuntimeError("the power went out")
            insert(self, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(TreeStore, "_insert", failing)
        with pytest.raises(RuntimeError):
            memory.consolidate("end")
        monkeypatch.undo()
        assert [node for node in memory.tree() if node.level > 1] == before
    with opened(home, "crash") as memory:
        done = memory.consolidate("end")
        assert (done.built, done.rebuilt) == (0, 8)
        assert memory.doctor() == []
        assert sum("boat" in node.text for node in memory.tree() if node.level > 1) == 8


_CONSOLIDATE = """
import sys
from everwhen import Memory
with Memory.open(sys.argv[1], "shared", embedder="fake", reader="none", cache_entries=0, extract="none") as memory:
    done = memory.consolidate("end")
    print(done.built + done.rebuilt)
"""


def test_processes_that_consolidate_at_once_build_one_tree(home: Path) -> None:
    with opened(home, "shared") as memory:
        for week in range(30):
            memory.add_many(talk(f"s{week}", START + timedelta(weeks=week), 6, first=10 * week))
        both = [
            subprocess.Popen(
                [sys.executable, "-c", _CONSOLIDATE, str(home)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        for number in range(5):  # and somebody goes on writing meanwhile
            memory.add(said(900 + number, f"s{number}", START + timedelta(weeks=number, seconds=30)))
        for process in both:
            _, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors
        memory.consolidate("end")
        tree = memory.tree()
        assert memory.doctor() == []
    holds(tree)
    with opened(home, "alone") as memory:
        for week in range(30):
            memory.add_many(talk(f"s{week}", START + timedelta(weeks=week), 6, first=10 * week))
        for number in range(5):
            memory.add(said(900 + number, f"s{number}", START + timedelta(weeks=number, seconds=30)))
        memory.consolidate("end")
        assert memory.tree() == tree
