"""Whether an answer is right, by the rules of its kind of question: asked of a model, or by words alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import get_args

from everwhen.errors import UsageError
from everwhen.recall.question import parse
from everwhen_bench.answers import prompts
from everwhen_bench.answers.questions import AnswerQuestion, Rule
from everwhen_bench.answers.scores import exact, first_number, holds, names, says_not_known

RULES: tuple[Rule, ...] = get_args(Rule)
_VERDICT = re.compile(r"\b(yes|no|correct|incorrect|right|wrong)\b", re.IGNORECASE)
_GOOD = frozenset({"yes", "correct", "right"})


class Judge:
    """The prompts of the judge: our own, or those of a file.

    A file is a JSON object with a text for each rule that it replaces (`short`, `plain`, `temporal`, `update`,
    `preference`, `abstention`); `$question`, `$gold` and `$answer` stand for what is judged.
    """

    def __init__(self, file: Path | None = None) -> None:
        self.texts: Mapping[str, str] = {rule: prompts.load(f"judge/{rule}") for rule in RULES}
        if file is not None:
            self.texts = {**self.texts, **_read(file)}

    def prompt(self, question: AnswerQuestion, answer: str) -> str:
        """What the judge is asked."""
        return Template(self.texts[question.rule]).safe_substitute(
            question=question.text, gold=question.gold, answer=answer.strip() or "(nothing)"
        )


def verdict(reply: str) -> bool | None:
    """The first yes or no of a reply; None where it has none."""
    found = _VERDICT.search(reply)
    return None if found is None else found.group(1).lower() in _GOOD


def exactly(question: AnswerQuestion, answer: str) -> bool:
    """The judge that needs no model: the same words, or, where nothing is known, an answer that says so."""
    return exact(answer, question.gold) if question.answerable else says_not_known(answer)


def held(question: AnswerQuestion, answer: str) -> bool:
    """A more generous one, for answers that quote: every word of the right answer is there, whatever else is.

    Where a number is asked for it is the first number of both, and of a choice the one of the two that both name: the
    right answer may go on ("five, and their scales are …").
    """
    if not question.answerable:
        return says_not_known(answer)
    asked = parse(question.text)
    if asked.kind == "count" and (right := first_number(question.gold)):
        return first_number(answer) == right
    if asked.offered:
        both = [[name for name, _ in asked.offered if names(text, name)] for text in (answer, question.gold)]
        return len(both[0]) == 1 and both[0] == both[1]
    return holds(answer, question.gold)


def _read(file: Path) -> dict[str, str]:
    try:
        given = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} is not a JSON object of prompts: {error}") from error
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise UsageError(f"{file} is not a JSON object with a text for each rule")
    if unknown := sorted(given.keys() - set(RULES)):
        raise UsageError(f"{file} has a prompt for '{unknown[0]}'; the rules are: {', '.join(RULES)}")
    return given
