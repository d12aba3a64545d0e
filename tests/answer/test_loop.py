"""The whole loop over real HTTP, against servers of both protocols that answer from a script."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from everwhen.api.memory import AsyncMemory
from everwhen.models.llm.base import LLMError
from everwhen.types import Answer
from everwhen.types.answers import FULL, TOOLS
from everwhen_bench.answers.systems import ABLATIONS
from tests.answer.conftest import ASKED, Open
from tests.scripted_server import (
    Asked,
    ScriptedServer,
    Step,
    break_off,
    call,
    calls,
    data,
    refusal,
    slowly,
    status,
    text,
    used,
)

QUESTION = "When did Ana move to Porto?"
POINTS = data({"points": ["Find when Ana moved to Porto."]})
NO_GUIDE = FULL.without("guidance")
BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])
NOW = {"Retry-After": "0"}


def answer(words: str = "In the week of 3 March 2025.", **more: Any) -> Step:
    given = {
        "text": words,
        "citations": [{"turn": "t1", "quote": "moved to Porto last week"}],
        "dates": ["2025-03-03"],
        "known": True,
        "confidence": 0.9,
        **more,
    }
    return call("answer", given)


def offered(asked: Asked) -> list[str]:
    return [tool.get("function", tool)["name"] for tool in asked.body.get("tools", [])]


@BOTH
def test_a_question_is_guided_searched_and_answered_with_citations(
    bank: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    server.then(
        POINTS,
        calls(
            ("search_turns", {"query": "move", "since": "2025-03", "until": "2025-03"}),
            ("search_events", {"query": "moving house"}),
        ),
        call("date_math", {"operation": "difference", "date": "2025-03-03", "other": "today"}),
        answer(),
    )
    found = bank.ask(QUESTION, at=ASKED, model=model(provider))
    assert found.text == "In the week of 3 March 2025."
    assert not found.abstained
    [cited] = found.citations
    assert bank.turn(cited.turn).text.startswith("I moved to Porto")
    assert (cited.quote, cited.speaker) == ("moved to Porto last week", "Ana")
    assert [str(one.start.date()) for one in found.intervals if one.start] == ["2025-03-03"]
    assert found.confidence == pytest.approx(0.9)
    assert (found.usage.requests, found.usage.input_tokens, found.usage.output_tokens) == (4, 400, 80)
    assert found.method == model(provider).name
    assert found.trace["guidance"] == ["Find when Ana moved to Porto."]
    assert [step["tool"] for step in found.trace["steps"]] == ["search_turns", "search_events", "date_math"]
    assert found.trace["by_phase"]["guidance"].requests == 1
    first, second, third = server.asked[1:]
    assert "Find when Ana moved" in first.prompt
    assert "# Session 1 (2025-03-12 Wednesday)" in first.prompt
    assert set(offered(first)) == {*TOOLS, "answer"}
    assert "Ana moved to Porto" in second.prompt
    assert '\\"days\\": 90' in json.dumps(third.body).replace('\\\\\\"', '\\"')


@BOTH
def test_the_same_question_gets_the_same_requests(
    bank: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    script = [
        POINTS,
        calls(("grep_turns", {"pattern": "rex"}), ("timeline", {}), ("facts_current", {"subject": "Ana"})),
        answer(),
    ]
    for _ in range(2):
        server.then(*script)
        bank.ask(QUESTION, at=ASKED, model=model(provider))
    assert [asked.body for asked in server.asked[:3]] == [asked.body for asked in server.asked[3:]]


@BOTH
def test_an_answer_is_streamed_and_ends_with_itself(
    bank: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    server.then(call("grep_turns", {"pattern": "rex"}), answer("She moved in the first week of March 2025."))
    pieces = list(bank.ask_stream(QUESTION, at=ASKED, model=model(provider), recipe=NO_GUIDE))
    *words, last = pieces
    assert isinstance(last, Answer)
    assert "".join(str(word) for word in words) == last.text == "She moved in the first week of March 2025."
    assert len(words) > 3
    assert last.usage.requests == 2
    assert last.usage.output_tokens == 40


def test_the_asynchronous_twin_asks_and_streams(bank: Memory, server: ScriptedServer, model: Open) -> None:
    server.then(answer(), answer())

    async def both() -> tuple[Answer, list[str | Answer]]:
        memory = AsyncMemory(bank)
        whole = await memory.ask(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
        stream = memory.ask_stream(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
        return whole, [piece async for piece in stream]

    whole, pieces = asyncio.run(both())
    assert isinstance(pieces[-1], Answer)
    assert pieces[-1].text == whole.text


def test_who_stops_listening_stops_the_run(bank: Memory, server: ScriptedServer, model: Open) -> None:
    server.always(call("grep_turns", {"pattern": "rex"}))
    stream = bank.ask_stream(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    server.then(answer("One two three four five six seven eight nine ten."))
    assert next(iter(stream))
    stream.close()  # type: ignore[attr-defined]
    time.sleep(0.05)
    before = len(server.asked)
    time.sleep(0.1)
    assert len(server.asked) == before


@BOTH
def test_wrong_calls_are_answered_with_what_is_wrong(
    bank: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    server.then(
        calls(
            ("search_turns", {"query": "rex", "bank": "other"}),
            ("search_turns", {"query": "rex", "since": "the day of the dragons"}),
            ("grep_turns", {"pattern": "(", "regex": True}),
            ("search_events", {"query": "rex", "top_k": 5000}),
            ("drop_table", {"name": "turns"}),
            ("facts_history", {}),
        ),
        answer(),
    )
    found = bank.ask(QUESTION, at=ASKED, model=model(provider), recipe=NO_GUIDE)
    assert found.text
    assert [step["error"] for step in found.trace["steps"]] == [True] * 6
    told = json.dumps(server.asked[1].body)
    for words in (
        "takes no 'bank'",
        "is no time",
        "not a regular expression",
        "less than or equal to 50",
        "there is no tool 'drop_table'",
        "facts_history: subject",
    ):
        assert words in told


def test_arguments_that_are_no_json_are_an_error_as_data(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    server.then(calls(("search_turns", '{"query": "re'), ("search_turns", "[1]")), answer())
    found = bank.ask(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert [step["error"] for step in found.trace["steps"]] == [True, True]


def test_an_answer_in_the_wrong_shape_is_sent_back(bank: Memory, server: ScriptedServer, model: Open) -> None:
    server.then(call("answer", {"citations": []}), call("answer", {"text": "x", "confidence": 7}), answer())
    found = bank.ask(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert found.text == "In the week of 3 March 2025."
    assert "answer: text: Field required" in json.dumps(server.asked[1].body)
    assert "answer: confidence" in json.dumps(server.asked[2].body)


@BOTH
def test_trouble_that_passes_is_waited_out(
    bank: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    server.then(
        status(429, headers=NOW),
        POINTS,
        status(503),
        status(500),
        call("timeline", {}),
        status(529),
        answer(),
    )
    found = bank.ask(QUESTION, at=ASKED, model=model(provider))
    assert found.text
    assert found.usage.requests == 3
    assert len(server.asked) == 7


def test_a_stream_that_fails_before_its_first_word_is_opened_again(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    server.then(status(503), status(429, headers=NOW), answer())
    *_, last = bank.ask_stream(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert isinstance(last, Answer)
    assert len(server.asked) == 3


@BOTH
def test_a_stream_that_breaks_off_is_an_error_and_not_said_twice(
    bank: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    server.then(break_off("She moved in"), answer())
    with pytest.raises(LLMError):
        list(bank.ask_stream(QUESTION, at=ASKED, model=model(provider), recipe=NO_GUIDE))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("trouble", "problem", "message"),
    [
        (status(401), "key", "refused the key"),
        (status(404), "model", "has no model"),
        (status(429, "empty", code="insufficient_quota"), "quota", "quota for openai:scripted is used up"),
        (refusal("No."), "refusal", "refused to answer"),
        (status(500), "busy", "kept answering with status 500"),
    ],
    ids=["401", "404", "quota", "refusal", "500"],
)
def test_trouble_that_stays_is_one_sentence(
    bank: Memory, server: ScriptedServer, model: Open, trouble: Step, problem: str, message: str
) -> None:
    server.always(trouble)
    with pytest.raises(LLMError, match=message) as caught:
        bank.ask(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert caught.value.problem == problem
    assert caught.value.exit_code == 6


def test_a_missing_key_and_an_unknown_provider_are_said_at_once(bank: Memory) -> None:
    with pytest.raises(LLMError, match="needs a key: set OPENAI_API_KEY"):
        bank.ask(QUESTION, model="openai:gpt-5-mini")
    with pytest.raises(ValueError, match="choose one of openai:<model>"):
        bank.ask(QUESTION, model="gpt-5-mini")


def test_guidance_that_fails_is_done_without(bank: Memory, server: ScriptedServer, model: Open) -> None:
    server.then(text("?"), text("??"), answer())
    found = bank.ask(QUESTION, at=ASKED, model=model(output="prompted"))
    assert found.text
    assert any("no guidance" in note for note in found.trace["notes"])
    assert found.usage.requests == 3  # what the failure took is counted


def test_a_model_of_its_own_can_give_guidance(home: Path, server: ScriptedServer) -> None:
    server.then(POINTS, answer(citations=[]))
    with Memory.open(
        home,
        "guided",
        embedder="fake",
        llm="openai:large",
        llm_guidance="openai:small",
        llm_base_url=server.url,
    ) as memory:
        memory.add("I moved to Porto last week.")
        assert memory.ask(QUESTION).method == "openai:large"
    assert [asked.body["model"] for asked in server.asked] == ["small", "large"]
    assert [asked.body["temperature"] for asked in server.asked] == [0.0, 0.0]


# Bounds


@BOTH
def test_the_last_step_has_to_answer(
    home: Path, bank: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    server.always(
        lambda asked: answer() if offered(asked) == ["answer"] else call("grep_turns", {"pattern": "rex"})
    )
    with Memory.open(home, "steps", embedder="fake", reader="none", ask_steps=3) as memory:
        memory.add("I moved to Porto last week.")
        found = memory.ask(QUESTION, model=model(provider), recipe=NO_GUIDE)
    assert len(server.asked) == 3
    assert found.trace["stopped"] is None
    choice = server.asked[-1].body["tool_choice"]
    assert choice in ("required", {"type": "any"}) or choice.get("type") in ("function", "any", "tool")


def test_a_model_that_never_answers_is_stopped(home: Path, server: ScriptedServer, model: Open) -> None:
    server.always(call("grep_turns", {"pattern": "rex"}))
    with Memory.open(home, "steps", embedder="fake", reader="none", ask_steps=3) as memory:
        memory.add("I moved to Porto last week.")
        found = memory.ask(QUESTION, model=model(), recipe=NO_GUIDE)
    assert found.abstained
    assert found.trace["stopped"] == "steps"
    assert "ask_steps" in found.text
    assert "grep_turns" in found.text
    assert len(server.asked) == 3


def test_tokens_for_one_question_are_never_exceeded(home: Path, server: ScriptedServer, model: Open) -> None:
    server.always(used(2500, 100, call("grep_turns", {"pattern": "porto"})))
    with Memory.open(home, "tokens", embedder="fake", reader="none", ask_tokens=9000) as memory:
        memory.add("I moved to Porto last week.")
        found = memory.ask(QUESTION, model=model(), recipe=NO_GUIDE)
    assert found.abstained
    assert found.trace["stopped"] == "tokens"
    assert 0 < found.usage.tokens <= 9000
    assert all(asked.body["max_tokens"] <= 9000 for asked in server.asked)


def test_before_the_tokens_end_the_model_is_asked_to_answer(
    home: Path, server: ScriptedServer, model: Open
) -> None:
    server.always(
        lambda asked: used(
            2500, 100, answer(citations=[]) if offered(asked) == ["answer"] else call("timeline", {})
        )
    )
    with Memory.open(home, "tokens", embedder="fake", reader="none", ask_tokens=9000) as memory:
        memory.add("I moved to Porto last week.")
        found = memory.ask(QUESTION, model=model(), recipe=NO_GUIDE)
    assert found.trace["stopped"] is None
    assert found.text == "In the week of 3 March 2025."
    assert found.usage.tokens <= 9000


def test_a_banks_budget_outlives_the_process(home: Path, server: ScriptedServer, model: Open) -> None:
    server.always(used(3000, 100, answer(citations=[])))
    for _ in range(2):
        with Memory.open(home, "bounded", embedder="fake", reader="none", bank_tokens=10_000) as memory:
            memory.add("I moved to Porto last week.")
            assert not memory.ask(QUESTION, model=model(), recipe=NO_GUIDE).trace["stopped"]
    with Memory.open(home, "bounded", embedder="fake", reader="none", bank_tokens=8_000) as memory:
        assert memory.usage().tokens == 6200
        found = memory.ask(QUESTION, model=model(), recipe=NO_GUIDE)
    assert found.trace["stopped"] == "bank tokens"
    assert found.abstained
    assert "bank_tokens" in found.text
    assert found.usage.requests == 0
    assert len(server.asked) == 2


def test_a_budget_in_money_stops_before_it_is_spent(home: Path, server: ScriptedServer, model: Open) -> None:
    server.always(used(3000, 50, call("timeline", {})))
    with Memory.open(home, "money", embedder="fake", reader="none", ask_cost=0.012) as memory:
        memory.add("I moved to Porto last week.")
        found = memory.ask(QUESTION, model=model("anthropic"), recipe=NO_GUIDE)
        assert memory.usage().cost == pytest.approx(found.usage.cost)
    assert found.trace["stopped"] == "cost"
    assert found.usage.cost is not None
    assert 0 < found.usage.cost <= 0.012


def test_a_budget_in_money_needs_a_price(home: Path, server: ScriptedServer, model: Open) -> None:
    with (
        Memory.open(home, "money", embedder="fake", reader="none", bank_cost=1.0) as memory,
        pytest.raises(LLMError, match="nobody knows what openai:scripted costs"),
    ):
        memory.ask(QUESTION, model=model())
    assert not server.asked


def test_time_for_one_question_ends_it(home: Path, server: ScriptedServer, model: Open) -> None:
    server.always(slowly(60, answer()))
    with Memory.open(home, "late", embedder="fake", reader="none", ask_seconds=0.3) as memory:
        memory.add("I moved to Porto last week.")
        started = time.monotonic()
        found = memory.ask(QUESTION, model=model(), recipe=NO_GUIDE)
        guided = memory.ask(QUESTION, model=model())
    assert time.monotonic() - started < 60  # before the first answer comes
    for one in (found, guided):
        assert one.trace["stopped"] == "seconds"
        assert one.abstained


# What is believed


@BOTH
def test_not_knowing_is_an_answer(bank: Memory, server: ScriptedServer, model: Open, provider: str) -> None:
    server.then(
        call("grep_turns", {"pattern": "cat"}),
        answer("The memory does not mention a cat.", known=False, citations=[], dates=[], confidence=0.9),
    )
    found = bank.ask("What is Ana's cat called?", at=ASKED, model=model(provider), recipe=NO_GUIDE)
    assert found.abstained
    assert found.confidence == 0
    assert found.citations == ()


def test_citations_that_do_not_exist_are_dropped_and_reported(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    server.then(
        answer(
            citations=[
                {"turn": "t1", "quote": "MOVED to Porto,  last week"},
                {"turn": "t999", "quote": "never said"},
                {"turn": "t1", "quote": "moved to Lisbon"},
                {"turn": "t2", "quote": "adopted a beagle called Rex"},
            ],
            dates=["2025-03-03", "the day of the dragons"],
        )
    )
    found = bank.ask(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert [cited.quote for cited in found.citations] == [
        "moved to Porto last week",
        "adopted a beagle called Rex",
    ]
    assert bank.turn(found.citations[1].turn).text.startswith("I adopted a beagle")
    assert found.trace["dropped"] == [
        "there is no turn 't999'",
        "turn 't1' does not say 'moved to Lisbon'",
        "the date 'the day of the dragons' means nothing",
    ]
    assert found.confidence == pytest.approx(0.9 * 2 / 4)


def test_plain_words_are_an_answer_too(bank: Memory, server: ScriptedServer, model: Open) -> None:
    server.then(text("She moved in early March 2025 [t1]."), text("That is not mentioned in the memory."))
    found = bank.ask(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert found.text == "She moved in early March 2025."
    assert len(found.citations) == 1
    assert not found.abstained
    assert bank.ask("What is her cat called?", at=ASKED, model=model(), recipe=NO_GUIDE).abstained


def test_a_server_that_takes_no_tools_answers_from_the_first_turns(
    bank: Memory, server: ScriptedServer, model: Open
) -> None:
    server.always(
        lambda asked: (
            status(400, "tools are not supported") if "tools" in asked.body else text("In March 2025 [t1].")
        )
    )
    found = bank.ask(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert found.text == "In March 2025."
    assert found.citations
    assert any("asked without tools" in note for note in found.trace["notes"])
    *pieces, last = bank.ask_stream(QUESTION, at=ASKED, model=model(), recipe=NO_GUIDE)
    assert isinstance(last, Answer)
    assert "".join(str(piece) for piece in pieces) == last.text == "In March 2025."
    assert len(pieces) > 1


def test_what_was_said_later_is_not_seen(bank: Memory, server: ScriptedServer, model: Open) -> None:
    server.then(
        calls(
            ("search_turns", {"query": "beagle Rex"}),
            ("grep_turns", {"pattern": "rex"}),
            ("search_events", {"query": "adopt a beagle"}),
            ("grep_events", {"pattern": "beagle"}),
            ("facts_current", {}),
            ("facts_history", {"subject": "Ana"}),
            ("timeline", {}),
            ("date_math", {"operation": "count", "about": "beagle"}),
        ),
        answer(citations=[{"turn": bank.turns("april")[0].id, "quote": "adopted a beagle"}]),
    )
    then = bank.turns("march")[-1].said_at
    found = bank.ask("Which dog does Ana have?", as_of=then, model=model(), recipe=NO_GUIDE)
    told = json.dumps([asked.body for asked in server.asked])
    assert "adopted" not in told.replace('"quote\\\\\\": \\\\\\"adopted a beagle', "")
    assert "Rex like" not in told
    assert found.citations == ()


# Ablations


@pytest.mark.parametrize("name", list(ABLATIONS))
def test_each_stage_can_be_left_out_by_name(
    bank: Memory, server: ScriptedServer, model: Open, name: str
) -> None:
    server.always(lambda asked: answer() if "tools" in asked.body else POINTS)
    recipe = ABLATIONS[name]
    bank.ask(QUESTION, at=ASKED, model=model(output="native"), recipe=recipe)
    last = server.asked[-1]
    tools = offered(last)
    schema = json.dumps(last.body["tools"])
    assert (len(server.asked) == 2) is (name != "no guidance")
    assert ("<turns>" in last.prompt.split("The question:")[1]) is (name != "no initial retrieval")
    assert ('"since"' in schema) is (name != "no date filter")
    assert ("search_turns" in tools) is (name != "grep only")
    assert ("grep_turns" in tools) is (name != "vector only")
    assert ("search_events" in tools) is (name not in ("turns only", "grep only"))
    assert recipe.rerank is (name != "no rerank")


def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(ValueError, match="has no stage or tool 'magic'"):
        FULL.without("magic")
    with pytest.raises(ValueError, match="has no stage or tool 'grep'"):
        FULL.without("grep").without("grep")
    assert FULL.without("grep").without("guidance").name == "full-grep-guidance"


def test_without_a_model_the_answer_is_extractive(bank: Memory) -> None:
    assert bank.ask(QUESTION, at=ASKED).method == "extractive"
    *words, last = bank.ask_stream(QUESTION, at=ASKED, model="none")
    assert isinstance(last, Answer)
    assert words == [last.text]


@BOTH
def test_the_model_is_told_to_ask_the_user_about_what_waits_and_bears_on_the_question(
    tmp_path: Path, server: ScriptedServer, model: Open, provider: str
) -> None:
    with Memory.open(tmp_path, "waits") as memory:
        memory.add({"role": "user", "name": "Ana", "content": "I live in Porto."}, at=ASKED)
        memory.add({"role": "assistant", "content": "Ana lives in Minsk now."}, at=ASKED + timedelta(days=1))
        memory.flush()
        (waiting,) = memory.facts.review()
        server.always(answer("Porto.", citations=[], dates=[]))
        chosen, asked_at = model(provider), ASKED + timedelta(days=2)
        found = memory.ask("Where does Ana live?", at=asked_at, model=chosen, recipe=NO_GUIDE)
        assert "Is it so that Ana lives in Minsk?" in found.asks[0] and waiting.id in found.asks[0]
        assert waiting.id in server.asked[-1].prompt and "asking the user" in server.asked[-1].prompt
        other = memory.ask("Who is the king of Spain?", at=asked_at, model=chosen, recipe=NO_GUIDE)
        assert other.asks == () and waiting.id not in server.asked[-1].prompt
