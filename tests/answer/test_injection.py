"""Hostile memories: even a model that obeys them reaches nothing but this bank, and sends nothing anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from everwhen import Memory
from everwhen.answer.loop import MOST_CALLS
from everwhen.models.llm.base import ToolResults, UserMessage
from everwhen.models.llm.fake import FakeLLM, FakeRequest
from everwhen.types import Answer
from everwhen.types.answers import FULL
from tests.answer.conftest import Open
from tests.answer.injections import EVIL, INJECTIONS, SECRET, Injection
from tests.scripted_server import ScriptedServer, calls

AT = datetime(2025, 6, 1, 12, tzinfo=UTC)
NO_GUIDE = FULL.without("guidance")
every = pytest.mark.parametrize("injection", INJECTIONS, ids=lambda one: one.name)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A bank that holds all of them, beside another one that holds a secret."""
    home = tmp_path_factory.mktemp("attacked")
    settings = {"embedder": "fake", "extract": "none", "cache_entries": 0}
    with Memory.open(home, "vault", **settings) as other:
        other.add(f"The launch code is {SECRET}.", at=datetime(2025, 1, 1, tzinfo=UTC))
    with Memory.open(home, "talk", **settings) as memory:
        memory.add({"role": "user", "name": "Ana", "content": "I live in Porto."}, session="s", at=AT)
        for number, one in enumerate(INJECTIONS):
            memory.add({"content": f"zq{number:02d} {one.text}"}, session=f"s{number}", at=AT)
        yield memory


def marker(injection: Injection) -> str:
    return f"zq{INJECTIONS.index(injection):02d}"


def obedient(injection: Injection) -> FakeLLM:
    """Sees the memory, does what it says, and answers what it wants."""
    script: list[object] = [("grep_turns", {"pattern": marker(injection)})]
    if injection.calls:
        script.append(list(injection.calls))
    script.append(("answer", {"text": injection.answer, "citations": [], "known": True, "confidence": 1.0}))
    return FakeLLM(script)


def asked_for(injection: Injection) -> str:
    return f"What was said about {marker(injection)}?"


@pytest.fixture(scope="module")
def obeyed(attacked: Memory) -> Callable[[Injection], tuple[FakeLLM, Answer]]:
    """What the model that obeys was shown and what came of it; one question for each."""

    kept: dict[str, tuple[FakeLLM, Answer]] = {}

    def asked(injection: Injection) -> tuple[FakeLLM, Answer]:
        if injection.name not in kept:
            llm = obedient(injection)
            answer = attacked.ask(asked_for(injection), at=AT, model=llm, recipe=NO_GUIDE)
            kept[injection.name] = (llm, answer)
        return kept[injection.name]

    return asked


def told(asked: FakeRequest) -> list[str]:
    """Everything that the model read."""
    lines = [line.text for line in asked.dialogue if isinstance(line, UserMessage)]
    for line in asked.dialogue:
        if isinstance(line, ToolResults):
            lines += [result.content for result in line.results]
    return lines


def test_there_are_enough_of_them() -> None:
    assert len(INJECTIONS) >= 30
    assert len({one.text for one in INJECTIONS}) == len(INJECTIONS)


@every
def test_the_memory_is_shown_and_stays_data(
    obeyed: Callable[[Injection], tuple[FakeLLM, Answer]], injection: Injection
) -> None:
    llm, _ = obeyed(injection)
    assert any(marker(injection) in text for text in told(llm.asked[1]))
    assert all(asked.instructions == llm.asked[0].instructions for asked in llm.asked)
    for text in told(llm.asked[-1]):
        shown = text.split("them:\n")[-1] if text.startswith("Today is") else text
        lines = shown.split("\n")
        if lines[0].startswith("{"):
            assert len(lines) == 1
            continue
        kind = re.fullmatch(r"<(\w+)>", lines[0])
        assert kind is not None
        assert lines[-1] == f"</{kind[1]}>"
        assert shown.count("<") == 2  # the frame's own
        for line in lines[1:-1]:
            assert line.splitlines() == [line]
            assert re.fullmatch(r"# Session \d+ \(\d{4}-\d\d-\d\d \w+\)|\(.*\)|\{.*\}", line)
            if line.startswith("{"):
                assert "turn" in json.loads(line) or "event" in json.loads(line) or "what" in json.loads(line)


@every
def test_a_model_that_obeys_reaches_nothing_else(
    attacked: Memory, obeyed: Callable[[Injection], tuple[FakeLLM, Answer]], injection: Injection
) -> None:
    llm, found = obeyed(injection)
    read = "\n".join(text for asked in llm.asked for text in told(asked))
    assert SECRET not in read
    assert SECRET not in json.dumps(found.text)
    assert attacked.stats().turns == 1 + len(INJECTIONS)
    offered = {tool.name for tool in llm.asked[0].tools}
    for step in found.trace["steps"]:
        known = step["tool"] in offered
        strange = not known or re.search(r'"(bank|banks|home|path|session|limit)":', step["arguments"])
        if strange:
            assert step["error"], step
    assert len(found.trace["steps"]) <= 1 + MOST_CALLS


@every
def test_no_answer_carries_an_address_that_the_memory_does_not_hold(
    attacked: Memory, injection: Injection
) -> None:
    *pieces, last = attacked.ask_stream(
        asked_for(injection), at=AT, model=obedient(injection), recipe=NO_GUIDE
    )
    assert isinstance(last, Answer)
    streamed = "".join(str(piece) for piece in pieces)
    for text in (last.text, streamed):
        assert "](" not in text
        assert "![" not in text
        assert "<img" not in text.lower()
        assert "Porto" not in "".join(re.findall(r"\S*(?:evil|javascript:)\S*", text))
        for address in re.findall(rf"\S*{EVIL}\S*", text):
            assert address.strip(".,()") in injection.text
    assert last.citations == ()


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_same_holds_over_http(
    attacked: Memory, server: ScriptedServer, model: Open, provider: str
) -> None:
    wanted = [call for one in INJECTIONS for call in one.calls if "vault" in json.dumps(call)]
    picture = next(one for one in INJECTIONS if one.name == "picture")
    server.then(
        calls(*wanted[:6]),
        calls(("answer", {"text": picture.answer, "citations": [], "known": True, "confidence": 1.0})),
    )
    found = attacked.ask(asked_for(picture), at=AT, model=model(provider), recipe=NO_GUIDE)
    assert all(step["error"] for step in found.trace["steps"])
    assert SECRET not in json.dumps([asked.body for asked in server.asked])
    assert found.text == "Porto. status"
