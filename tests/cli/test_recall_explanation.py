"""`recall --explain`: the drawing says what the numbers say, in any width, and its switches change the recipe."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from everwhen import Interval, Memory, Recall
from everwhen.cli.app import GlobalOptions, run
from everwhen.cli.recall_explanation import LEFT, RIGHT, bar, explain, listed
from everwhen.recall.features import FEATURES
from everwhen.recall.fusion import WEIGHTS
from everwhen.types import Dropped, Recalled, Why

START = datetime(2025, 3, 3, 10, 0, tzinfo=UTC)
TRACE: dict[str, Any] = {
    "recipe": "mid",
    "plan": {"about": ["Ana"], "complexity": "simple", "time": None},
    "stages_ms": {"embed": 6.0, "fuse": 3.98, "gate": 0.02},
    "found": {"semantic": 12, "keyword": 3},
    "candidates": 13,
    "kept": 1,
    "answerable": 0.7,
}


def recalled(number: int = 1, **changes: Any) -> Recalled:
    values: dict[str, Any] = {
        "id": f"t{number}", "kind": "turn", "text": f"I play the violin {number}", "said_at": START, "zone": "UTC",
        "turns": (f"t{number}",), "session": "s1", "speaker": "Ana", "score": 1.0, "tokens": 8,
        "why": Why({"keyword": 2}, {"keyword": 3.5}, 1.0, {"about": 1.04, "compared": -0.5, "cosine": 0.2}),
    }  # fmt: skip
    return Recalled(**(values | changes))


def drawn(found: Recall, width: int = 80, limit: int | None = None, zone: str = "UTC") -> str:
    out = StringIO()
    here = GlobalOptions()
    here.__dict__["console"] = Console(file=out, width=width, highlight=False, markup=False)
    explain(here, found, zone, limit)
    return out.getvalue()


def test_a_memory_is_drawn_with_rank_score_source_and_the_parts_of_its_score() -> None:
    text = drawn(Recall("what does Ana play", (recalled(),), 18, trace=TRACE))
    assert "about Ana · any time · simple question · answerable 0.70 · recipe mid" in text
    assert "1 Mon 03 Mar 2025 10:00  Ana: I play the violin 1" in text
    assert "score 1.00 · keyword #2 (3.50) · from t1 · session s1" in text
    assert re.search(r"said by whom it is about +\+1\.04 +│█", text)
    assert re.search(r"word by word, as learned +-0\.50 +█+│", text)
    assert text.index("+1.04") < text.index("-0.50") < text.index("+0.20")  # the largest first
    assert "semantic 12 · keyword 3 · 13 candidates · 1 kept · 18 tokens" in text
    assert "10.0 ms · embed 6.0 (60%) · fuse 4.0 (40%) · others 0.0" in text


@pytest.mark.parametrize("width", [40, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    one = recalled(text="word " * 90 + "x" * 300, turns=tuple(f"turn-{n}" for n in range(30)))
    found = Recall(
        "what " * 60,
        (one, recalled(2, why=Why(fused=0.5, beside="t1"))),
        18,
        tuple(Dropped(f"d{n}", "no room in max_tokens", 0.1) for n in range(5)),
        TRACE,
    )
    assert max(len(line) for line in drawn(found, width).splitlines()) <= width


def test_parts_stand_side_by_side_where_there_is_room() -> None:
    found = Recall("q", (recalled(),), 18, trace=TRACE)
    assert len(drawn(found, 120).splitlines()) < len(drawn(found, 80).splitlines())


def test_only_the_largest_parts_are_named_and_the_others_are_added_up() -> None:
    parts = {name: value / 10 for value, name in enumerate(FEATURES, start=1)}
    text = drawn(Recall("q", (recalled(why=Why(fused=1.0, parts=parts)),), 18, trace=TRACE))
    rest = sum(sorted(parts.values())[:-5])
    assert f"{len(parts) - 5} others" in text and f"+{rest:.2f}" in text


def test_neighbours_affinity_and_facts_say_what_brought_them() -> None:
    beside = recalled(2, score=0.5, why=Why(fused=0.5, beside="t1"))
    lifted = recalled(3, score=0.9, why=Why({"semantic": 4}, {"semantic": 0.3}, 0.4, affinity=0.83))
    derived = recalled(4, id="f9", kind="fact", why=Why(fused=1.0), turns=("t1",))
    found_too = recalled(5, id="f8", kind="fact", why=Why({"keyword": 1}, {"keyword": 9.0}, 0.001))
    text = drawn(Recall("q", (recalled(), beside, lifted, derived, found_too), 18, trace=TRACE), 120)
    assert "score 0.50 · beside t1 · from t2" in text
    assert "score 0.90 · affinity 0.83 (0.40 before SATF) · semantic #4 (0.30)" in text
    assert "learned from a turn that was found · fact f9 · from t1" in text
    assert "comes with the turn it was learned from (by itself <0.01) · fact f8" in text


def test_dropped_memories_are_grouped_by_reason() -> None:
    dropped = (
        *(Dropped(f"d{n}", "no room in max_tokens", 0.5 - n / 10) for n in range(5)),
        Dropped("f1", "confidence 0.12", 0.3),
        Dropped("f2", "confidence 0.31", 0.001),
    )
    text = drawn(Recall("q", (recalled(),), 18, dropped, TRACE), 120)
    assert "5 no room in max_tokens: d0 0.50, d1 0.40, d2 0.30, …" in text
    assert "2 confidence too low: f1 0.30, f2 <0.01" in text


@pytest.mark.parametrize(
    ("window", "words"),
    [
        (Interval(START, None, "second"), "time since 2025-03-03"),
        (Interval(None, START, "second"), "time until 2025-03-03"),
        (Interval(datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC), "month"), "time March 2025"),
    ],
)  # fmt: skip
def test_the_window_of_the_question_is_said_in_words(window: Interval, words: str) -> None:
    trace = TRACE | {"plan": TRACE["plan"] | {"time": window}}
    assert words in drawn(Recall("q", (recalled(),), 18, trace=trace))


def test_an_answer_of_nothing_still_says_where_it_looked() -> None:
    text = drawn(Recall("q", (), 0, trace=TRACE | {"candidates": 0}))
    assert "nothing in this memory answers that" in text and "semantic 12 · keyword 3 · 0 candidates" in text


def test_what_is_not_shown_is_counted() -> None:
    found = Recall("q", tuple(recalled(n) for n in range(14)), 18, trace=TRACE)
    assert "violin 9" in drawn(found) and "violin 10" not in drawn(found)
    assert "and 4 more: --limit 14" in drawn(found) and "more" not in drawn(found, limit=14)


def test_stored_text_is_shown_and_never_obeyed() -> None:
    evil = "\x1b[2J[bold]\u202e"
    one = recalled(text=evil, speaker=evil, id=evil, turns=(evil,), session=evil, why=Why(beside=evil))
    text = drawn(
        Recall(
            evil, (one,), 1, (Dropped(evil, "x", 1.0),), TRACE | {"plan": TRACE["plan"] | {"about": [evil]}}
        )
    )
    assert not set(text) & set("\x1b\u202e") and "[bold]" in text


def test_every_feature_with_a_weight_has_a_name_for_people() -> None:
    fitted = json.loads(WEIGHTS.read_text("utf-8"))["weights"]
    assert {name for weights in fitted.values() for name in weights} <= FEATURES.keys()
    assert len(set(FEATURES.values())) == len(FEATURES) and max(map(len, FEATURES.values())) <= 28


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_a_bar_lies_on_the_side_of_its_sign_and_inside_its_cells(value: float, other: float) -> None:
    scale = max(value / RIGHT, -value / LEFT, other / RIGHT, -other / LEFT)
    against, axis, for_ = bar(value, scale).partition("│")
    assert axis and len(against) == LEFT and len(for_) <= RIGHT
    assert bool(for_.strip()) != bool(against.strip()) and bool(against.strip()) == (value < 0)


@given(st.lists(st.text("abc", min_size=1, max_size=20)), st.integers(20, 60))
def test_lists_break_between_items(items: list[str], width: int) -> None:
    text = listed(items, width)
    assert [item for line in text.splitlines() for item in line.split(" · ")] == items
    assert all(len(line) <= width for line in text.splitlines())


@pytest.fixture
def played(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    with Memory.open(home) as memory:
        for day in range(1, 9):
            said = [
                {"content": f"violin lesson {day}", "name": "Ana"},
                {"content": "how nice", "name": "Ben"},
            ]
            memory.add(said, session=f"s{day}", at=datetime(2025, 3, day, tzinfo=UTC))
        memory.flush()


def asked(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    code = run(["recall", "which violin lesson did Ana have", *options, "--json"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


@pytest.mark.usefixtures("played")
def test_json_holds_the_whole_reason(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--explain")
    why = found["memories"][0]["why"]
    assert why["ranks"]["keyword"] >= 1 and why["parts"]["bm25"] > 0 and why["fused"] > 0
    assert found["trace"]["plan"]["about"] == ["Ana"] and found["trace"]["stages_ms"].keys() >= {"fuse"}
    timed = asked(capsys, "--at", "2025-03-20T10:00:00Z")
    assert timed["trace"]["plan"]["time"] is None


@pytest.mark.usefixtures("played")
def test_stages_are_left_out_or_added_by_option(capsys: pytest.CaptureFixture[str]) -> None:
    less = asked(capsys, "--without", "keyword", "--without", "read")
    assert less["trace"]["found"].keys() == {"semantic"} and less["trace"]["recipe"] == "mid-keyword-read"
    assert "read" not in less["trace"]["stages_ms"] and "read" in asked(capsys)["trace"]["stages_ms"]
    ranked = asked(capsys, "--without", "fusion")
    assert all(one["why"]["parts"] == {} for one in ranked["memories"])
    assert asked(capsys, "--satf")["memories"][0]["why"]["affinity"] is not None
    assert asked(capsys)["memories"][0]["why"]["affinity"] is None
    assert asked(capsys, "--recipe", "tempr", "--without", "graph")["trace"]["recipe"] == "tempr-graph"
    narrow = asked(capsys, "--budget", "1", "--expand", "1")
    assert any(one["why"]["beside"] for one in narrow["memories"])


@pytest.mark.usefixtures("played")
def test_nodes_and_the_turns_beside_a_hit_come_along_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bank", "consolidate", "--now", "end"]) == 0
    capsys.readouterr()
    found = asked(capsys, "--budget", "1", "--tree", "--expand", "1")
    assert {"turn", "node"} <= {one["kind"] for one in found["memories"]}
    assert any(one["why"]["beside"] for one in found["memories"])


@pytest.mark.usefixtures("played")
def test_a_stage_that_does_not_exist_is_refused_with_those_that_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["recall", "violin", "--without", "magic"]) == 2
    assert "no stage 'magic'; it has: semantic, keyword" in capsys.readouterr().err
    assert run(["recall", "violin", "--recipe", "cake"]) == 2
    assert "unknown recipe 'cake'; use one of mid, tempr" in capsys.readouterr().err
    assert run(["recall", "violin", "--budget", "many"]) == 2


@pytest.mark.usefixtures("played")
def test_the_moment_of_asking_sets_the_window(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recall", "what did Ana play yesterday", "--at", "2025-03-06T10:00:00Z", "--explain"]) == 0
    assert "time 5 March 2025" in capsys.readouterr().out
