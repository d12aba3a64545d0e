"""The memory tree from the shell."""

from __future__ import annotations

import pytest

from tests.cli.test_commands import Shell, shell  # noqa: F401


@pytest.fixture
def told(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:  # noqa: F811
    monkeypatch.setenv("EVERWHEN_READER", "reader-2")  # which reads the facts of the profile
    for day in ("03", "17"):
        at = f"2025-03-{day}T09:00:00Z"
        shell("add", "I live in Porto with two cats.", "We moved yesterday.", "--name", "Ana", "--at", at)
    return shell


def test_a_tree_that_is_not_built_says_how_to_build_it(told: Shell) -> None:
    code, out, _ = told("show", "tree")
    assert (code, "everwhen bank consolidate" in out) == (0, True)
    assert "everwhen bank consolidate" in told("show", "profile")[1]
    assert len(told.json("show", "tree", "--level", "1")) == 2


def test_consolidate_counts_and_the_tree_is_drawn(told: Shell) -> None:
    first = told.json("bank", "consolidate")
    assert (first["built"], first["rebuilt"], first["waiting"]) == (3, 0, 2)
    assert "wait for their window" in told("bank", "consolidate")[1]
    assert told.json("bank", "consolidate", "--now", "end")["waiting"] == 0
    code, out, _ = told("show", "tree")
    assert code == 0
    assert "March 2025: 2 weeks" in out
    assert "└── " in out
    assert "Ana: I live in Porto with two cats." in out
    nodes = told.json("show", "tree", "--level", "3")
    assert [node["interval"]["start"] for node in nodes] == ["2025-03-03T00:00:00Z", "2025-03-17T00:00:00Z"]
    assert {"id", "level", "interval", "text", "children"} <= nodes[0].keys()
    assert len(told.json("show", "tree", "--at", "2025-03-17")) == 5
    assert "The week of 17 March" not in told("show", "tree", "--at", "2025-03-03", "--full")[1]


def test_the_profile_has_support_and_dates(told: Shell) -> None:
    told("bank", "consolidate", "--now", "end")
    code, out, _ = told("show", "profile")
    assert (code, "Ana lives in Porto" in out) == (0, True)
    assert told.json("show", "profile")[0]["support"] == 2


def test_what_cannot_be_is_refused(told: Shell) -> None:
    assert told("show", "tree", "--level", "9")[0] == 2
    assert told("bank", "consolidate", "--now", "soon enough")[0] == 2


def test_what_builds_the_profile_is_told_and_does(shell: Shell) -> None:  # noqa: F811
    shell("facts", "assert", "Ana", "likes", "tea")
    assert shell("show", "profile") == (0, "nothing is remembered yet\n", "")
    shell("add", "I live in Porto with two cats.", "--name", "Ana", "--at", "2025-03-03T09:00:00Z")
    assert shell("show", "profile")[1] == "no profile yet; `everwhen bank consolidate --now end` builds it\n"
    assert "`everwhen bank consolidate --now end`" in shell("show", "tree")[1]
    assert shell("bank", "consolidate", "--now", "end")[0] == 0
    assert "I live in Porto" in shell("show", "profile")[1] and "└── " in shell("show", "tree")[1]


def test_a_profile_of_one_person(shell: Shell) -> None:  # noqa: F811
    for name, words in (("Ana", "I live in Porto with two cats."), ("Rita", "I work at the harbour.")):
        shell("add", words, "--name", name, "--at", "2025-03-03T09:00:00Z")
    shell("bank", "consolidate", "--now", "end")
    code, out, _ = shell("show", "profile", "ana")
    assert code == 0 and "Porto" in out and "harbour" not in out
    assert [one["speaker"] for one in shell.json("show", "profile", "Rita")] == ["Rita"]
    code, _, err = shell("show", "profile", "Nobody")
    assert code == 3 and "nobody and nothing is called 'Nobody' here" in err
