"""Answers in words: by a model with tools, or without one by extraction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from everwhen.api.extraction_wait import one_wait
from everwhen.api.memory.bank import OpenBank
from everwhen.api.operations.base import BothTimes, OpenModel, Operation, does
from everwhen.api.operations.facts import AsOf as FactsAsOf
from everwhen.api.operations.facts import Current
from everwhen.api.operations.questions import Ask, ModelUsage
from everwhen.api.operations.surface import Bank, BankFacts
from everwhen.errors import UsageError
from everwhen.facts.interface import Facts
from everwhen.store.rows import AsOf
from everwhen.types import Answer, Time, Usage
from everwhen.types.recall import for_budget

if TYPE_CHECKING:
    from everwhen.answer.loop import Run
    from everwhen.answer.tools import Toolbox
    from everwhen.models.llm.base import LLM

R = TypeVar("R")
EXTRACTIVE = "none"
"""The `model` that is none."""


class BankKnownAt(Bank):
    """A bank as it was known at an instant: each reader that has no `known_at` of its own gets this one."""

    def __init__(self, bank: Bank, known_at: datetime) -> None:
        self._bank = bank
        self._known_at = known_at

    @property
    def bank(self) -> str:
        return self._bank.bank

    @property
    def zone(self) -> str:
        return self._bank.zone

    @property
    def facts(self) -> BankFacts:
        return FactsKnownAt(self, self._bank.facts)

    def perform(self, operation: Operation[R], /) -> R:
        asked: Any = operation
        if isinstance(asked, Current):
            asked = FactsAsOf(asked.now or datetime.now(UTC), asked.subject, asked.predicate)
        if isinstance(asked, FactsAsOf):
            bounds = [one for one in (asked.known_at, self._known_at) if isinstance(one, datetime)]
            asked = replace(asked, known_at=min(bounds))
            if isinstance(known := self._bank.facts, Facts):
                return cast("R", known._known_then(asked))
        elif isinstance(asked, BothTimes) and asked.known_at is None:
            asked = replace(asked, known_at=self._known_at)
        result: R = self._bank.perform(asked)
        return result


class FactsKnownAt(BankFacts):
    """The facts of such a bank; what is no operation, such as the half-lives, is the bank's own."""

    def __init__(self, door: Bank, facts: BankFacts) -> None:
        super().__init__(door)
        self._facts = facts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._facts, name)


@dataclass(frozen=True, slots=True)
class Answers:
    """What streamed questions about one bank. `reading` is the bank as an agent sees it: with all its methods."""

    _bank: OpenBank
    _reading: Bank

    @does(Ask)
    def ask(self, asked: Ask) -> Answer:
        with one_wait() as wait:
            bank, words, moment, as_of = self._question(asked)
            chosen = self._model(asked)
            if chosen is None:
                from everwhen.answer.preparation import review_questions

                answer = self._extracted(bank, words, moment, as_of)
                if as_of.is_now:
                    speakers = [one.speaker for one in answer.citations]
                    answer = replace(answer, asks=review_questions(self._reading, words, speakers))
            else:
                answer = self._run(bank, asked, words, moment, as_of, chosen).answer()
            return replace(answer, pending=wait.pending)

    def stream(self, asked: Ask) -> Iterator[str | Answer]:
        """The same as it comes: pieces of the text, and at last the `Answer`, whose text is the one that counts."""
        with one_wait() as wait:
            chosen = self._model(asked)
            if chosen is None:
                answer = self.ask(replace(asked, model=EXTRACTIVE))
                return iter((answer.text, answer))
            from everwhen.answer.loop import streamed

            bank, words, moment, as_of = self._question(asked)

            def run(say: Callable[[str], None], cancelled: Callable[[], bool]) -> Run:
                return self._run(bank, asked, words, moment, as_of, chosen, say, cancelled)

            return streamed(run, copy_context(), wait.pending)

    @does(ModelUsage)
    def usage(self, asked: ModelUsage) -> Usage:
        return self._bank.store.graph.usage()

    def tools(self, at: Time | None = None, as_of: Time | None = None) -> Toolbox:
        """The agent's tools, for an agent of somebody else."""
        from everwhen.answer.tools import Toolbox, ToolContext
        from everwhen.answer.view import BankView

        clock = self._bank.clock(at)
        return Toolbox(ToolContext(BankView(self._reading, clock.now, as_of=clock.last(as_of, "as_of"))))

    def _model(self, asked: Ask) -> str | OpenModel | None:
        chosen = self._bank.settings.llm if asked.model is None else asked.model
        return None if chosen is None or chosen == EXTRACTIVE else chosen

    def _question(self, asked: Ask) -> tuple[Bank, str, datetime, AsOf]:
        """The bank as it was known, what is asked of it, and the moment of asking."""
        if not asked.question.strip():
            raise UsageError("the question is empty; ask something, such as 'when did Ana move to Porto'")
        clock = self._bank.clock(asked.at)
        as_of = self._bank.as_of(asked, clock)
        self._bank.settle()
        known_at = as_of.known_at
        bank = self._reading if known_at is None else BankKnownAt(self._reading, known_at)
        return bank, asked.question, clock.at or as_of.as_of or clock.now, as_of

    def _extracted(self, bank: Bank, words: str, at: datetime, as_of: AsOf) -> Answer:
        from everwhen.answer.extractive.answerer import ask
        from everwhen.recall.candidates import shortened
        from everwhen.recall.names import DescribedNames

        # What is recalled is read for the answer, as it was said; recall need not read it too.
        unread = for_budget("mid", self._bank.settings).without("read").without("dates")
        reader = self._bank.reader

        def answered(question: str) -> Answer:
            return ask(bank, question, at=at, as_of=as_of.as_of, reader=reader, recipe=unread)

        # With the names that facts have; as it stands; and with those that turns have.
        asked = shortened(words)
        names = DescribedNames(self._bank.store, reader, at, as_of)
        named, _ = names.put_in(asked)
        refused = answered(named)
        if not refused.abstained:
            return refused
        spelled_out, _ = replace(names, in_turns=True).put_in(named)
        for question in dict.fromkeys((asked, spelled_out)):
            if question != named and not (answer := answered(question)).abstained:
                return answer
        return refused

    def _run(
        self,
        bank: Bank,
        asked: Ask,
        question: str,
        at: datetime,
        as_of: AsOf,
        model: str | OpenModel,
        say: Callable[[str], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Run:
        from everwhen.answer.answer_budget import Budget
        from everwhen.answer.loop import Run
        from everwhen.answer.view import BankView
        from everwhen.models.llm.pydantic_ai import llm_of
        from everwhen.types.answers import FULL

        chosen = self._bank.settings
        llm = llm_of(chosen, model) if isinstance(model, str) else cast("LLM", model)
        budget = Budget(
            steps=chosen.ask_steps,
            tokens=chosen.ask_tokens,
            cost=chosen.ask_cost,
            seconds=chosen.ask_seconds,
            bank_tokens=chosen.bank_tokens,
            bank_cost=chosen.bank_cost,
        )
        return Run(
            BankView(bank, at, question, as_of.as_of, asked.recipe or FULL),
            llm,
            question,
            budget,
            guide=self._bank.llm(chosen.llm_guidance),
            session=asked.session,
            account=self._bank.store.graph,
            say=say,
            cancelled=cancelled,
        )
