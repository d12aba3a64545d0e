"""Forty turns over five days through `wrap`, then ten questions in a new process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import pytest
from openai import OpenAI

from everwhen import Context, Memory, Turn, wrap
from tests.answer.five_days import LATER, QUESTIONS, turns
from tests.scripted_server import Asked, ScriptedServer, Step, text

FIRST = 5
"""Memories among which the right one has to be, of the eighty turns."""
ASKING = """
import json, sys
from datetime import datetime
from openai import OpenAI
from everwhen import wrap

url, at, questions = sys.argv[1], datetime.fromisoformat(sys.argv[2]), json.loads(sys.argv[3])
recalled = []
client = wrap(OpenAI(base_url=url, api_key="none"), clock=lambda: at, on_recall=recalled.append)
for question in questions:
    client.chat.completions.create(model="scripted", messages=[{"role": "user", "content": question}])
print(json.dumps([[one.text for one in context.recall] for context in recalled]))
"""


class Talk(NamedTuple):
    """What came of the conversation."""

    turns: list[Turn]
    given_back: set[str]
    prompts: list[str]
    recalled: list[list[str]]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """The forty turns, told to the real model; the ten questions, asked by another process."""
    home = tmp_path_factory.mktemp("five-days")
    contexts: list[Context] = []
    with ScriptedServer() as server:
        with Memory.open(home) as memory:
            speak(memory, server, contexts)
            memory.flush()
            said = memory.turns()
        before = len(server.asked)
        server.always(text("I see."))
        environment = {**os.environ, "EVERWHEN_HOME": str(home)}
        asked = json.dumps([one.asked for one in QUESTIONS])
        done = subprocess.run(
            [sys.executable, "-c", ASKING, server.url, LATER.isoformat(), asked],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        prompts = [json.dumps(one.body["messages"]) for one in server.asked[before:]]
        given_back = {one.text for context in contexts for one in context.recall}
        yield Talk(said, given_back, prompts, json.loads(done.stdout))


def speak(memory: Memory, server: ScriptedServer, contexts: list[Context]) -> None:
    """Every day is one conversation; the model repeats what it was shown before it says something of its own."""
    now: list[datetime] = [LATER]
    client = wrap(
        OpenAI(base_url=server.url, api_key="none"), memory, clock=lambda: now[0], on_recall=contexts.append
    )
    history: list[Any] = []
    for at, words, answer in turns():
        if at.date() != now[0].date():
            history = []
        now[0] = at
        server.then(lambda asked, answer=answer: repeating(asked, answer))  # type: ignore[misc]
        history.append({"role": "user", "content": words})
        reply = client.chat.completions.create(model="scripted", messages=history)
        history.append({"role": "assistant", "content": reply.choices[0].message.content})


def repeating(asked: Asked, answer: str) -> Step:
    shown = re.findall(
        r"^user: (.+)$", "\n".join(one["content"] for one in asked.body["messages"]), re.MULTILINE
    )
    return text(f"You told me: {shown[-1]} {answer}" if shown else answer)


def test_nine_of_ten_questions_have_their_answer_among_the_first_memories(talk: Talk) -> None:
    right = [
        any(question.evidence in one for one in recalled[:FIRST])
        for question, recalled in zip(QUESTIONS, talk.recalled, strict=True)
    ]
    assert sum(right) >= 9, [one.asked for one, ok in zip(QUESTIONS, right, strict=True) if not ok]


def test_nine_of_ten_prompts_hold_the_answer(talk: Talk) -> None:
    held = [question.evidence in prompt for question, prompt in zip(QUESTIONS, talk.prompts, strict=True)]
    assert sum(held) >= 9


def test_what_the_user_said_is_remembered_once_and_as_it_was_said(talk: Talk) -> None:
    said = [(turn.said_at, turn.text) for turn in talk.turns if turn.role == "user"]
    assert said == [(at, words) for at, words, _ in turns()]


def test_no_recalled_text_is_remembered_again(talk: Talk) -> None:
    said = {words for _, words, _ in turns()} & talk.given_back
    assert len(said) > 20  # there was something to repeat
    answers = [turn.text for turn in talk.turns if turn.role == "assistant"]
    assert not [one for one in answers if any(words in one for words in said)]
    assert not [one for one in answers if any(runs(one) & runs(words) for words in said)]
    assert len(answers) == len(set(answers))


def runs(text: str, size: int = 6) -> set[tuple[str, ...]]:
    """All words that follow each other in a text, so many at a time."""
    words = re.findall(r"[\w']+", text.lower())
    return {tuple(words[place : place + size]) for place in range(len(words) - size + 1)}


def test_what_the_model_said_of_its_own_is_remembered(talk: Talk) -> None:
    kept = " ".join(turn.text for turn in talk.turns if turn.role == "assistant")
    whole = [answer for _, _, answer in turns() if answer in kept]
    assert len(whole) >= 38
