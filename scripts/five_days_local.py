"""Forty turns over five days through `everwhen.wrap` with a real model, then ten questions in a new process.

    python scripts/five_days_local.py http://127.0.0.1:8080/v1 [MODEL]

The conversation is that of `tests/answer/five_days.py`; the model answers for itself. Any server that speaks OpenAI's
protocol will do, such as the one that `make llm-local` starts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from openai import OpenAI
from tests.answer.five_days import LATER, QUESTIONS, turns

from everwhen import Context, Memory, Turn, wrap

SYSTEM = {"role": "system", "content": "You are a friendly assistant. Answer in one or two short sentences."}
ANSWER_TOKENS = 60
FIRST, RUN = 5, 6
"""Memories among which the right one has to be; words in a row that count as repeated."""


@dataclass
class Exchange:
    """One call: what the model had been given so far and did not see in this conversation, and what it said."""

    given: set[tuple[str, ...]]
    said: str


def main(url: str, model: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVERWHEN_HOME"] = folder
        exchanges, remembered = talk(url, model)
        again = [sys.executable, __file__, "ask", url, model]
        answered = json.loads(subprocess.run(again, capture_output=True, check=True).stdout)
    users = [turn.text for turn in remembered if turn.role == "user"]
    kept = {turn.text for turn in remembered if turn.role == "assistant"}
    repeating = [one for one in exchanges if runs(one.said) & one.given]
    result = {
        "turns of the user, each remembered once": users == [words for _, words, _ in turns()],
        "right memory in the prompt": right(answered, None),
        "right memory among the first five": right(answered, FIRST),
        "answers that repeat what was recalled": len(repeating),
        "recalled words that were remembered again": [
            text for text in kept for one in repeating if text in one.said and runs(text) & one.given
        ],
        "answers": {got["asked"]: got["said"] for got in answered},
        "repeating": [one.said for one in repeating],
    }
    print(json.dumps(result, indent=1, ensure_ascii=False))


def right(answered: list[Any], most: int | None) -> int:
    """How many questions have the right memory among the first ones that were recalled."""
    found = zip(QUESTIONS, answered, strict=True)
    return sum(any(one.evidence in text for text in got["recalled"][:most]) for one, got in found)


def talk(url: str, model: str) -> tuple[list[Exchange], list[Turn]]:
    """The five days, and what is remembered of them."""
    now: list[datetime] = [LATER]
    contexts: list[Context] = []
    exchanges: list[Exchange] = []
    with Memory.open() as memory:
        client = wrap(served(url), memory, clock=lambda: now[0], on_recall=contexts.append)
        history: list[Any] = []
        for number, (at, words, _) in enumerate(turns(), 1):
            if at.date() != now[0].date():
                history = [SYSTEM]
            now[0], began = at, time.monotonic()
            history.append({"role": "user", "content": words})
            said = answer(client, model, history)
            seen = {run for one in history for run in runs(one["content"])}
            recalled = {run for one in contexts for memory_ in one.recall for run in runs(memory_.text)}
            exchanges.append(Exchange(recalled - seen, said))
            history.append({"role": "assistant", "content": said})
            print(f"{number:2d} {time.monotonic() - began:5.1f} s  {said[:80]!r}", file=sys.stderr)
        memory.flush()
        return exchanges, list(memory.turns())


def ask(url: str, model: str) -> None:
    """The ten questions, each a new conversation, in a process that has only the home folder."""
    found: list[Context] = []
    client = wrap(served(url), clock=lambda: LATER, on_recall=found.append)
    answers = []
    for one in QUESTIONS:
        said = answer(client, model, [SYSTEM, {"role": "user", "content": one.asked}])
        answers.append({"asked": one.asked, "said": said, "recalled": [it.text for it in found[-1].recall]})
    print(json.dumps(answers))


def served(url: str) -> OpenAI:
    return OpenAI(base_url=url, api_key="none", timeout=600)


def answer(client: OpenAI, model: str, messages: list[Any]) -> str:
    reply = client.chat.completions.create(model=model, messages=messages, max_tokens=ANSWER_TOKENS)
    return reply.choices[0].message.content or ""


def runs(text: str) -> set[tuple[str, ...]]:
    """All words that follow each other in a text, so many at a time."""
    words = re.findall(r"[\w']+", text.lower())
    return {tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1)}


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        ask(*sys.argv[2:])
    else:
        main(sys.argv[1], *(sys.argv[2:] or ["qwen"]))
