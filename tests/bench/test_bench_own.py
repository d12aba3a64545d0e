"""Our own sets: their figures against cases worked out by hand, and that each file is whole."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import pytest

ROOT = Path(__file__).parents[2]
SETS = sorted((ROOT / "benchmarks" / "own").glob("*.json"))
POINTING = ("evidence", "rival", "older", "later", "near")
"""The keys of a question that hold message indexes."""


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_own", ROOT / "scripts" / "bench_own.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_own"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


own = _script()


def _case(question: dict[str, Any], ranked: Sequence[int], **other: Any) -> Any:
    """A question that brought these messages, all of them in every list."""
    brought = list(ranked)
    lists = dict.fromkeys(("ranked", "returned", "cut", "cosine", "bm25"), brought)
    lists["small"] = {str(few): brought for few in own.SMALL}
    answer = own.Answer(**{**lists, "tokens": 10, "cut_tokens": 5, "answerable": 0.5, **other})
    return own.Case({"evidence": [], **question}, answer)


def test_one_comes_before_others_only_where_it_is_found() -> None:
    assert own.before([4, 7, 9], [7], [9])
    assert own.before([4, 7, 9], [7], [])
    assert own.before([4, 7, 9], [7], [1])
    assert own.before([4, 7, 9], [4, 9], [7])
    assert not own.before([4, 7, 9], [9], [1, 7])
    assert not own.before([4, 7, 9], [1], [2])
    assert not own.before([4, 7, 9], [9], [], within=2)


def test_precision_and_recall_of_what_came_back() -> None:
    assert own.precision_recall_f1([1, 2, 3, 4], [1, 9]) == pytest.approx((0.25, 0.5, 1 / 3))
    assert own.precision_recall_f1([1, 9], [1, 9]) == (1.0, 1.0, 1.0)
    assert own.precision_recall_f1([], [1]) == (0.0, 0.0, 0.0)


def test_only_questions_with_evidence_have_a_recall() -> None:
    found = own.found([_case({"evidence": [1, 2]}, [1, 5]), _case({}, [1])])
    assert found["questions"] == 1
    assert found["recall@10"] == found["recall in 512 tokens"] == found["bm25 recall@10"] == 0.5


def test_newer_and_controls_are_judged_apart() -> None:
    replaced = {"evidence": [8], "older": [3], "same_session": True}
    figures = own.newer(
        [
            _case(replaced, [8, 3]),
            _case({**replaced, "older": [2, 3], "same_session": False}, [3, 8, 2]),
            _case({**replaced, "elliptical": True}, [3]),
            _case({"evidence": [1], "older": [], "control": True, "later": [5], "same_session": True}, [1, 5]),
            _case(
                {"evidence": [1], "older": [], "control": True, "later": [5], "partial": True}, [5, 1]
            ),
        ]
    )  # fmt: skip
    assert figures["newer first"] == {"share": 0.3333, "n": 3}
    assert figures["newer first, same session"] == {"share": 0.5, "n": 2}
    assert figures["newer first, other session"] == figures["newer first, three versions"]
    assert figures["newer first, three versions"] == {"share": 0.0, "n": 1}
    assert figures["newer first, elliptical"] == {"share": 0.0, "n": 1}
    assert figures["control: evidence first"] == {"share": 1.0, "n": 1}
    assert figures["partial control: evidence first"] == {"share": 0.0, "n": 1}


def test_a_misspelt_name_is_held_against_the_right_one() -> None:
    question = {"evidence": [2], "rival": [6]}
    misspelt, spelt = _case(question, [6, 2]), _case(question, [2, 6])
    figures = own.names([own.Case(misspelt.question, misspelt.answer, spelt.answer)])
    assert figures["difference"] == {"recall@10": 0.0, "ndcg@10": pytest.approx(0.6309 - 1)}
    assert figures["rival first"] == {"share": 1.0, "n": 1}
    assert figures["rival first, spelt"] == {"share": 0.0, "n": 1}


def test_answerable_questions_should_score_above_the_others() -> None:
    cases = [
        _case({"evidence": [1], "answerable": True}, [1], answerable=0.9),
        _case({"answerable": False}, [1], answerable=0.2),
        _case({"answerable": False}, [1], answerable=0.9),
    ]
    assert own.near_misses(cases)["answerable auroc"] == 0.75


def test_the_end_of_a_list_is_judged_with_and_without_a_cut() -> None:
    figures = own.ends([_case({"evidence": [1]}, [1, 2, 3, 4], cut=[1])])
    assert figures["default"] == {"precision": 0.25, "recall": 1.0, "f1": 0.4, "messages": 4, "tokens": 10}
    assert figures["cut at 0.3"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "messages": 1, "tokens": 5}


def test_every_set_has_its_rows_in_the_tables() -> None:
    case = _case({"evidence": [1], "kind": "list", "rival": [2], "answerable": True, "older": [], "later": [],
                  "same_session": True}, [1, 2])  # fmt: skip
    cases = [own.Case(case.question, case.answer, case.answer)]
    shown = own.tables({"sets": {name: own.figures(name, cases) for name in own.SETS}})
    assert all(f"| {name} " in shown for name in own.SETS)
    assert "| lists: list " in shown and "| names, spelt right " in shown


def test_the_runner_knows_every_set() -> None:
    assert sorted(own.SETS) == [path.stem for path in SETS]


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_a_set_is_whole(path: Path) -> None:
    conversations = json.loads(path.read_text("utf-8"))["conversations"]
    questions = [question for one in conversations for question in one["questions"]]
    assert len(questions) >= 40
    assert len({question["id"] for question in questions}) == len(questions)
    for conversation in conversations:
        ZoneInfo(conversation["zone"])
        times = [datetime.fromisoformat(one["at"]) for one in conversation["messages"]]
        assert all(time.tzinfo is not None for time in times)
        assert times == sorted(times), conversation["id"]
        assert datetime.fromisoformat(conversation["now"]) > times[-1], conversation["id"]
        assert all(one["content"].strip() for one in conversation["messages"])
        for question in conversation["questions"]:
            indexes = [index for key in POINTING for index in question.get(key, ())]
            assert all(0 <= index < len(times) for index in indexes), question["id"]
            assert bool(question["evidence"]) == question.get("answerable", True), question["id"]
            others = {index for key in POINTING[1:] for index in question.get(key, ())}
            assert not others & set(question["evidence"]), question["id"]
