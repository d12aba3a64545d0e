"""The page of the five documents: each switch of TiMem, Temporal Memory and Chronos that it names has its effect."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from everwhen.models.llm.fake import FakeLLM, FakeRequest
from everwhen.models.llm.pydantic_ai import llm_of
from everwhen.models.prompts import load
from everwhen.settings import Settings
from everwhen.tree.building import open_consolidator
from everwhen.types.recall import MID, TIMEM, Recipe, for_budget

PAGE = Path(__file__).parent.parent / "docs" / "five-documents.md"
START = datetime(2025, 3, 3, 9, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    """Opens a bank of its own for each set of settings; all are closed afterwards."""
    held: list[Memory] = []

    def open_with(**settings: Any) -> Memory:
        plain = {"embedder": "fake", "reader": "none", "cache_entries": 0}
        held.append(Memory.open(tmp_path, f"b{len(held)}", **plain | settings))
        for week in range(6):
            words = f"I went to the gym in week {week}, and the kayak is in shed {week}."
            held[-1].add({"role": "user", "content": words}, session=f"s{week}", at=START + week * 7 * DAY)
        held[-1].flush()
        return held[-1]

    yield open_with
    for memory in held:
        memory.close()


Opened = Callable[..., Memory]
ASKED = "Where is the kayak?"


def levels(memory: Memory) -> int:
    memory.consolidate("end")
    return max(node.level for node in memory.tree())


def built(memory: Memory) -> int:
    return len(memory.tree(2))


def nodes(memory: Memory) -> int:
    memory.consolidate("end")
    return sum(one.kind == "node" for one in memory.recall(ASKED, at=START + 60 * DAY))


def dropped(memory: Memory) -> bool:
    found = memory.recall(ASKED, at=START + 60 * DAY)
    return any(
        "better ones" in one.reason or "hardly" in one.reason or "same" in one.reason for one in found.dropped
    )


def recipe(name: str) -> Callable[[Memory], Any]:
    return lambda memory: getattr(for_budget("mid", memory._bank.settings), name)


def fading(memory: Memory) -> float:
    known = [one for one in memory.facts.current(now=START) if one.predicate == "server_config"]
    known = known or [memory.facts.assert_("web-1", "server_config", "4 GB", valid_from=START, at=START)]
    return round(memory.facts.confidence_at(known[0], START + 90 * DAY), 2)


@pytest.mark.parametrize(
    ("settings", "effect", "off", "on"),
    [
        ({"tree_windows": "exchange"}, levels, 5, 1),
        ({"tree_windows": "session"}, levels, 5, 2),
        ({"tree_windows": "day, week, month, quarter, year"}, levels, 5, 7),
        ({"tree_schedule": "closed"}, built, 0, 5),
        ({"tree_recall": True}, nodes, 0, 5),
        ({"tree_recall": True, "tree_budgets": ((2, 0, 0, 0), (2, 0, 0, 0), (2, 0, 0, 0))}, nodes, 0, 2),
        ({"tree_recall": True, "tree_leaves": 1}, nodes, 0, 2),
        ({"gate": "strict"}, dropped, False, True),
        ({"fusion": "lambda"}, recipe("fusion"), "linear", "lambda"),
        ({"tree_lambda": 0.5}, recipe("tree_lambda"), 0.9, 0.5),
        ({"half_lives": {"server_config": 45.0}}, fading, 0.5, 0.25),
    ],
    ids=lambda given: "+".join(given) if isinstance(given, dict) else "",
)
def test_a_setting_has_its_effect(
    opened: Opened, settings: dict[str, Any], effect: Callable[[Memory], Any], off: Any, on: Any
) -> None:
    assert effect(opened()) == off
    assert effect(opened(**settings)) == on
    assert all(
        f"`{name}=" in PAGE.read_text("utf-8") or f"`{name}`" in PAGE.read_text("utf-8") for name in settings
    )


def test_the_weight_of_meaning_and_the_planners_keywords_order_the_leaves(opened: Opened) -> None:
    memory = opened(extract="none")
    memory.add({"role": "user", "content": "Clara, Clara, Clara."}, session="names", at=START + 50 * DAY)

    def first(weight: float) -> str:
        leaves = Recipe("leaves", fusion="lambda", tree_lambda=weight, channels=("semantic", "keyword"))
        found = memory.recall("Where did Clara leave the kayak?", at=START + 60 * DAY, recipe=leaves)
        assert found.trace["plan"]["keywords"] == ["leave", "kayak"]  # no name among them
        return found[0].text

    assert "kayak" in first(0.0)  # words alone: the name counts for nothing


def test_timems_recipe_brings_nodes_above_leaves_and_gates(opened: Opened) -> None:
    memory = opened()
    memory.consolidate("end")
    found = memory.recall(ASKED, at=START + 60 * DAY, recipe=TIMEM, order="level")
    assert found.trace["recipe"] == "timem" and len(found) <= 8
    ranks = [max(one.level, 1) for one in found]
    assert ranks == sorted(ranks)
    assert MID.tree is False and TIMEM.tree is True


def test_prompts_and_history_come_from_the_settings(tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("Plan it otherwise.", "utf-8")
    chosen = Settings(prompts=tmp_path, consolidate="llm:openai:any", tree_history=1)
    assert load("plan", llm_of(chosen, "openai:any")) == "Plan it otherwise."
    assert load("gate", llm_of(chosen, "openai:any")) == load("gate")
    one, three = open_consolidator(chosen), open_consolidator(Settings(consolidate="llm:openai:any"))
    assert (one.history, one.batch_size, three.history) == (1, 1, 3)
    none = open_consolidator(Settings(consolidate="llm:openai:any", tree_history=0))
    assert none.batch_size == Settings().llm_concurrency


def test_only_facts_without_an_end_are_current(opened: Opened) -> None:
    memory = opened(extract="none")
    memory.facts.assert_("Ana", "lives in", "Porto", valid_from=START, at=START)
    memory.facts.assert_("Ana", "lives in", "Leeds", valid_from=START + DAY, at=START + DAY)
    found = memory.recall("Ana lives in", kinds=["fact"], metadata={"valid_to": None}, at=START + 60 * DAY)
    assert [one.metadata["object"] for one in found] == ["Leeds"]


# Chronos

SPORT = (
    "I went to the gym yesterday.", "Did a spin class today.", "I swam 2 km at lunch.", "I baked bread today.",
    "I went to the gym twice last week.",
)  # fmt: skip
HOW_OFTEN = "How many times did I exercise in May?"


def sporty(opened: Opened) -> Memory:
    memory = opened()
    for place, words in enumerate(SPORT):
        at = datetime(2025, 5, 5 + 5 * place, 18, tzinfo=UTC)
        memory.add({"role": "user", "content": words}, session=f"may{place}", at=at)
    memory.flush()
    return memory


def test_every_event_that_is_shown_has_subject_verb_and_object(opened: Opened) -> None:
    memory = sporty(opened)
    memory.add(
        {"role": "user", "content": "Pixel got out again. Marta starts on 3 June."}, at="2025-05-28T10:00Z"
    )
    memory.flush()
    found = memory.events()
    assert all(event.subject and event.verb and event.object for event in found)
    assert {"2 km", "3 June"} <= {event.object for event in found}
    assert not any("Pixel" in event.text for event in found)
    assert not any("Pixel" in entry.text for entry in memory.timeline() if entry.kind == "event")


def test_a_model_says_which_events_count_and_we_count_them(opened: Opened) -> None:
    def sports(asked: FakeRequest) -> Any:
        lines = [line for line in asked.prompt.splitlines() if line.startswith("[")]
        counting = [
            n for n, line in enumerate(lines, 1) if any(one in line for one in ("gym", "spin", "swam"))
        ]
        return {"times": [[n] for n in counting] + [[counting[0], 99]], "confidence": 0.8}

    llm = FakeLLM([sports])
    answer = sporty(opened).ask(HOW_OFTEN, at="2025-06-20T10:00Z", model=llm)
    assert answer.text.startswith("5 times: ") and "bread" not in answer.text  # two of them in one sentence
    assert len(answer.citations) == 4 and not answer.abstained
    assert len(llm.asked) == 1 and "week 0" not in llm.asked[0].prompt  # of May alone


def test_where_nothing_counts_the_model_is_asked_as_usual(opened: Opened) -> None:
    def answers(asked: FakeRequest) -> Any:
        if asked.tools:
            return ("answer", {"text": "Never.", "citations": [], "known": True})
        return {"times": []} if "calendar" in asked.instructions else {"points": ["Look."]}

    assert sporty(opened).ask(HOW_OFTEN, at="2025-06-20T10:00Z", model=FakeLLM([answers])).text == "Never."


def test_without_a_model_a_count_of_a_kind_of_thing_is_refused_plainly(tmp_path: Path) -> None:
    with Memory.open(tmp_path) as memory:
        for place, words in enumerate(SPORT[:4]):
            memory.add(
                {"role": "user", "content": words}, session=f"s{place}", at=f"2025-05-{5 + place:02}T18:00Z"
            )
        answer = memory.ask(HOW_OFTEN, at="2025-06-20T10:00Z")
    assert answer.abstained and "takes a language model (setting llm)" in answer.text
