"""What one answer may take: steps, tokens, money and time, for this question and for the bank."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from everwhen.models.llm.base import LLM, AssistantMessage, Line, Tool, ToolResults, UserMessage
from everwhen.store.sql.graph import GraphStore
from everwhen.types import Usage

Limit: TypeAlias = Literal["steps", "tokens", "cost", "seconds", "bank tokens", "bank cost"]

LEAST_ANSWER = 200
"""Tokens without which there is no use in asking for an answer."""
WHAT_IT_IS: dict[Limit, str] = {
    "steps": "steps for one question (setting ask_steps)",
    "tokens": "tokens for one question (setting ask_tokens)",
    "cost": "money for one question (setting ask_cost)",
    "seconds": "time for one question (setting ask_seconds)",
    "bank tokens": "tokens for this bank (setting bank_tokens)",
    "bank cost": "money for this bank (setting bank_cost)",
}


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be taken; None sets no bound."""

    steps: int = 8
    tokens: int | None = None
    cost: float | None = None
    seconds: float = 180.0
    bank_tokens: int | None = None
    bank_cost: float | None = None

    @property
    def in_money(self) -> bool:
        return self.cost is not None or self.bank_cost is not None


class BudgetExhausted(Exception):
    """A limit is reached: nothing more is asked."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(limit)
        self.limit = limit


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """What is left for one request: the longest answer, seconds, and whether it has to be the last one."""

    answer: int | None
    seconds: float
    last: bool


@dataclass
class UsageMeter:
    """Counts what an answer takes, and says before each request what is left for it."""

    budget: Budget
    account: GraphStore | None = None
    started: float = field(default_factory=time.monotonic)
    by_phase: dict[str, Usage] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        return sum(self.by_phase.values(), Usage())

    def charge(self, phase: str, model: str, usage: Usage) -> None:
        """Write down what a request took; durable in the bank at once."""
        if not usage.requests and not usage.tokens:
            return
        self.by_phase[phase] = self.by_phase.get(phase, Usage()) + usage
        if self.account is not None:
            self.account.note_usage(phase, model, usage)

    def room(self, llm: LLM, tokens: int, step: int) -> RequestLimits:
        """What is left for a request of so many tokens. Raises `BudgetExhausted` where that is too little for an
        answer.

        It has to be the last one where another, which would be longer by its own answer, could not follow.
        """
        seconds = self.budget.seconds - (time.monotonic() - self.started)
        if seconds <= 0:
            raise BudgetExhausted("seconds")
        if step >= self.budget.steps:
            raise BudgetExhausted("steps")
        answer: int | None = None
        last = step + 1 >= self.budget.steps
        for limit, left in self._left():
            money = limit in ("cost", "bank cost")
            each = _priced(llm, 0, 1000) / 1000 if money else 1.0  # what one token of the answer takes
            asking = _priced(llm, tokens) if money else float(tokens)
            if not each:
                continue  # it costs nothing
            room = int((left - asking) / each)
            if room < LEAST_ANSWER:
                raise BudgetExhausted(limit)
            answer = room if answer is None else min(answer, room)
            last = last or left - asking < asking + 2 * LEAST_ANSWER * each
        return RequestLimits(answer, seconds, last)

    def _left(self) -> list[tuple[Limit, float]]:
        """Tokens or dollars that each bound leaves."""
        budget, mine = self.budget, self.usage
        bounds: list[tuple[Limit, float | None, float]] = [
            ("tokens", budget.tokens, mine.tokens),
            ("cost", budget.cost, mine.cost or 0.0),
        ]
        if self.account is not None and (budget.bank_tokens is not None or budget.bank_cost is not None):
            bank = self.account.usage()
            bounds.append(("bank tokens", budget.bank_tokens, bank.tokens))
            bounds.append(("bank cost", budget.bank_cost, bank.cost or 0.0))
        return [(limit, bound - taken) for limit, bound, taken in bounds if bound is not None]


def size(dialogue: Sequence[Line], tools: Sequence[Tool], instructions: str) -> int:
    """About how many tokens a request takes (cl100k: other models count a little otherwise)."""
    from everwhen.models.embedder import count_tokens

    texts = [instructions, *(tool.description + json.dumps(dict(tool.parameters)) for tool in tools)]
    for line in dialogue:
        match line:
            case UserMessage():
                texts.append(line.text)
            case AssistantMessage():
                texts += [line.text, *(call.name + call.arguments for call in line.calls)]
            case ToolResults():
                texts += [result.content for result in line.results]
    return sum(count_tokens(text) for text in texts)


def _priced(llm: LLM, tokens: int, output: int = 0) -> float:
    return llm.price(tokens, output) or 0.0
