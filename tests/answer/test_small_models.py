"""What small models do to the loop, over real HTTP: calls written as words, answers without an end, little room."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from everwhen import Memory
from everwhen.models.llm.base import LLMError
from everwhen.types.answers import FULL
from tests.answer.conftest import ASKED, Open
from tests.scripted_server import Asked, ScriptedServer, Step, call, calls, text

QUESTION = "When did Ana move to Porto?"
NO_GUIDE = FULL.without("guidance")


def test_a_search_that_is_written_as_words_is_made_and_not_given_as_the_answer(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    search = {"name": "search_turns", "arguments": {"query": "move"}}
    final = {"text": "In March 2025.", "citations": [], "known": True}
    server.then(text(f"```json\n{json.dumps(search)}\n```"), text(json.dumps(final)))
    found = bank.ask(QUESTION, at=ASKED, model=model("openai"), recipe=NO_GUIDE)
    assert found.text == "In March 2025."
    assert [step["tool"] for step in found.trace["steps"]] == ["search_turns"]


def test_a_model_that_says_again_what_it_was_shown_is_asked_for_an_answer(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    def echo(asked: Asked) -> Step:
        turns = asked.prompt[asked.prompt.rindex("<turns>") :]
        return text(turns[: turns.index("</turns>")])

    server.then(echo, call("answer", {"text": "In March 2025.", "citations": [], "known": True}))
    found = bank.ask(QUESTION, at=ASKED, model=model("openai"), recipe=NO_GUIDE)
    assert found.text == "In March 2025."
    assert "Answer now with the tool answer" in server.asked[1].prompt


def test_an_answer_below_the_question_said_again_is_an_answer(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    server.always(text(f"{QUESTION} As far as I can tell:\nIn March 2025 [t1]."))
    question = f"{QUESTION} As far as I can tell:"
    found = bank.ask(question, at=ASKED, model=model("openai"), recipe=NO_GUIDE)
    assert found.text.endswith("In March 2025.") and len(server.asked) == 1


def test_an_answer_that_is_cut_off_behind_its_text_is_given_with_the_citations_that_came_whole(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    whole = (
        '{"text": "In March.", "citations": [{"turn": "t1", "quote": "moved to Porto last week"}, {"turn": "t'
    )
    server.always(replace(calls(("answer", whole)), finish="length"))
    found = bank.ask(QUESTION, at=ASKED, model=model("openai"), recipe=NO_GUIDE)
    assert (found.text, len(found.citations)) == ("In March.", 1)
    assert "cut off" in found.trace["notes"][0] and found.usage.requests == 1


def test_an_answer_that_is_cut_off_in_its_text_is_none(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    server.always(replace(calls(("answer", '{"text": "In the week of')), finish="length"))
    with pytest.raises(LLMError, match="did not finish"):
        bank.ask(QUESTION, at=ASKED, model=model("openai"), recipe=NO_GUIDE)


@pytest.mark.parametrize("room", [10, 200])
def test_where_there_is_little_room_the_best_turn_is_shown_and_not_the_earliest(
    bank: Memory, server: ScriptedServer, model: Open, room: int
) -> None:
    server.always(call("answer", {"text": "In March 2025.", "citations": [], "known": True}))
    full = bank.ask(QUESTION, at=ASKED, model=model("openai"), recipe=NO_GUIDE)
    little = bank.ask(QUESTION, at=ASKED, model=model("openai"), recipe=replace(NO_GUIDE, longest=room))
    everything, few = (
        asked.prompt.count('"turn\\": ') or asked.prompt.count('"turn": ') for asked in server.asked
    )
    assert few == 1 < everything and full.trace["found"] > little.trace["found"] == 1
    assert "moved to Porto" in server.asked[1].prompt
