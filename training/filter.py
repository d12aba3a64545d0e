"""Step 3, filter: the round trip. A question stays if its turn gives the answer again and the turns around it do not.

    python training/filter.py prompts --banks … --questions questions.json.gz --out prompts.json.gz
    python training/filter.py keep --questions questions.json.gz --answers answers.json.gz --out kept.json.gz

The same language model answers each question twice: from the turn alone, and from the turns around it without the turn.
A question of several turns is answered once, from all of them. For yes and no the turn alone decides; a question that
cannot be answered (`none`) stays if the turn alone gives no answer.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from banks import read_json, write_json
from questions import LONGEST, content_words

SYSTEM = (
    "Answer the question from the chat lines only, in as few words as possible, copied from the lines; "
    "yes or no where it is such a question. If the lines do not tell, answer: not told"
)
AROUND = 2
"""Turns before and after that are shown instead of the turn itself."""
SAME = 0.5
"""Token F1 from which two answers are one."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("prompts", "keep"))
    parser.add_argument("--banks", type=Path, nargs="+")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    questions = read_json(given.questions)
    if given.step == "prompts":
        banks = [bank for path in given.banks for bank in read_json(path)]
        prompts = [prompt for one in questions for prompt in make_prompts(one, banks)]
        write_json(given.out, prompts)
        print(len(prompts), "prompts")
    else:
        texts = {one["id"]: one["text"] for one in read_json(given.answers)}
        kept = [one for one in questions if is_kept(one, texts)]
        write_json(given.out, kept)
        before, after = (Counter(one["kind"] for one in several) for several in (questions, kept))
        print(
            len(kept),
            "of",
            len(questions),
            {kind: f"{after[kind]}/{number}" for kind, number in before.items()},
        )


def make_prompts(question: dict[str, Any], banks: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """The question over its turns, and over what stands around the first of them."""
    places = question["places"]
    own = [banks[bank]["sessions"][s]["turns"][t] for bank, s, t in places]
    bank, s, t = places[0]
    turns = banks[bank]["sessions"][s]["turns"]
    around = [*turns[max(0, t - AROUND) : t], *turns[t + 1 : t + 1 + AROUND]]
    prompts = [_prompt(f"{question['id']}/own", own, question["question"])]
    if around and len(places) == 1:
        prompts.append(_prompt(f"{question['id']}/around", around, question["question"]))
    return prompts


def _prompt(name: str, turns: Sequence[Sequence[str]], question: str) -> dict[str, str]:
    lines = "\n".join(f"{speaker}: {text[:LONGEST]}" for speaker, text in turns)
    return {"id": name, "system": SYSTEM, "user": f"Lines:\n{lines}\n\nQuestion: {question}"}


def is_kept(question: dict[str, Any], texts: dict[str, str]) -> bool:
    """Whether the answers to both prompts are what a good question gets."""
    own = texts.get(f"{question['id']}/own", "")
    around = texts.get(f"{question['id']}/around", "")
    kind, answer = question["kind"], question["answer"]
    if kind == "none":
        return is_refusal(own)
    if is_refusal(own) or not answer or is_refusal(answer):
        return False
    if kind in ("yes", "no"):
        return own.lower().startswith(kind)
    if f1(own, answer) < (0.3 if kind in ("list", "join") else SAME):
        return False
    return f1(around, answer) < SAME


def is_refusal(text: str) -> bool:
    """Whether the model says that the lines do not tell."""
    return any(
        sign in text.lower()
        for sign in ("not told", "not mention", "not specif", "does not", "doesn't say", "unknown")
    )


def f1(left: str, right: str) -> float:
    """Token F1 over words that are no function words; over all words where there are no others."""
    a, b = (Counter(content_words(text) or text.lower().split()) for text in (left, right))
    common = sum((a & b).values())
    return 2 * common / (sum(a.values()) + sum(b.values())) if common else 0.0


if __name__ == "__main__":
    main()
