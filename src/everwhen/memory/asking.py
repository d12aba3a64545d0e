"""The part of `Memory` that answers questions in words: by a model with tools, or without one by extraction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import copy_context
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from everwhen import checked
from everwhen.errors import UsageError
from everwhen.memory.times import TimeMemory
from everwhen.store import Store
from everwhen.times import Clock
from everwhen.types import Answer, Time, Usage
from everwhen.waiting import one_wait

if TYPE_CHECKING:
    from everwhen.agent.adapters.anthropic_memory import MemoryFiles
    from everwhen.agent.adapters.shelf import WritableBank
    from everwhen.agent.bank import Bank
    from everwhen.agent.loop import Run
    from everwhen.agent.tools import Toolbox
    from everwhen.agent_recipe import AgentRecipe
    from everwhen.models.llm import LLM

EXTRACTIVE = "none"
"""The `model` that is none."""


class AskingMemory(TimeMemory):
    """What `Memory` inherits. Answers wait for pending extraction."""

    def ask(
        self,
        question: str,
        *,
        at: Time | None = None,
        as_of: Time | None = None,
        model: str | LLM | None = None,
        recipe: AgentRecipe | None = None,
        session: str | None = None,
    ) -> Answer:
        """The answer to a question with the turns that bear it out, or an honest "I don't know".

        `at` is the moment of asking (now), `as_of` bounds what had been said by then. `model` (such as
        `openai:gpt-5-mini`) answers with tools over this bank; without one, and without the setting `llm`, the answer
        is extractive: words, dates and counts of the memory itself. `model="none"` is extractive whatever is set.
        `recipe` leaves out stages of a model's answer; `session` is the conversation that the question belongs to,
        the last turns of which a model is shown.
        """
        with one_wait() as wait:
            words, moment, then = self._question(question, at, as_of)
            chosen = self._settings.llm if model is None else model
            if chosen is None or chosen == EXTRACTIVE:
                from everwhen.agent import extractive
                from everwhen.recall.question import heart_of

                # What is recalled is read for the answer, as it was said; recall need not read it too.
                unread = checked.recipe("mid", self._settings).without("read").without("dates")
                answer = extractive.ask(
                    cast("Bank", self),
                    heart_of(words),
                    at=moment,
                    as_of=then,
                    reader=self._reader,
                    recipe=unread,
                )
            else:
                answer = self._run(words, moment, then, chosen, recipe, session).answer()
            return replace(answer, pending=wait.pending)

    def ask_stream(
        self,
        question: str,
        *,
        at: Time | None = None,
        as_of: Time | None = None,
        model: str | LLM | None = None,
        recipe: AgentRecipe | None = None,
        session: str | None = None,
    ) -> Iterator[str | Answer]:
        """The same as it comes: pieces of the text, and at last the `Answer`, whose text is the one that counts."""
        with one_wait() as wait:
            chosen = self._settings.llm if model is None else model
            if chosen is None or chosen == EXTRACTIVE:
                return iter(_whole(self.ask(question, at=at, as_of=as_of, model=EXTRACTIVE)))
            from everwhen.agent.asking import answers

            llm = chosen
            words, moment, then = self._question(question, at, as_of)

            def run(say: Callable[[str], None], gone: Callable[[], bool]) -> Run:
                return self._run(words, moment, then, llm, recipe, session, say, gone)

            return answers(run, copy_context(), wait.pending)

    def tools(self, *, at: Time | None = None, as_of: Time | None = None) -> Toolbox:
        """The agent's tools over this bank for an agent of your own: schemas for OpenAI, Anthropic and pydantic-ai, and
        a dispatcher. They only read, and reach nothing but this bank.

        `at` is what "yesterday" is seen from (now, at every call of this method); `as_of` hides what was said later.
        """
        from everwhen.agent.tools import Kit, Toolbox
        from everwhen.agent.view import View

        clock = Clock(self._store.info.zone, at)
        return Toolbox(Kit(View(cast("Bank", self), clock.now, as_of=clock.last(as_of, "as_of"))))

    def langgraph_store(self) -> Any:
        """This bank as a LangGraph `BaseStore` (`pip install langgraph`): nothing that is put there is overwritten."""
        from everwhen.agent.adapters.langgraph import open_store

        return open_store(cast("WritableBank", self))

    def memory_files(self) -> MemoryFiles:
        """This bank behind Anthropic's memory tool: its commands on `/memories`, each version kept."""
        from everwhen.agent.adapters.anthropic_memory import MemoryFiles

        return MemoryFiles(cast("WritableBank", self))

    def usage(self) -> Usage:
        """What language models took in this bank so far, extraction included; of money, what is known."""
        return self._store.graph.usage()

    def _question(
        self, question: str, at: Time | None, as_of: Time | None
    ) -> tuple[str, datetime, datetime | None]:
        words = checked.words(question, "question")
        if not words.strip():
            raise UsageError("the question is empty; ask something, such as 'when did Ana move to Porto'")
        clock = Clock(self._store.info.zone, at)
        then = clock.last(as_of, "as_of")
        self._settle()
        return words, clock.at or then or clock.now, then

    def _run(
        self,
        question: str,
        at: datetime,
        as_of: datetime | None,
        model: str | LLM,
        recipe: AgentRecipe | None,
        session: str | None,
        say: Callable[[str], None] | None = None,
        gone: Callable[[], bool] = lambda: False,
    ) -> Run:
        from everwhen.agent.budget import Budget
        from everwhen.agent.loop import Run
        from everwhen.agent.view import View
        from everwhen.agent_recipe import FULL
        from everwhen.models.llm import llm_of

        chosen = self._settings
        llm = llm_of(chosen, model) if isinstance(model, str) else model
        guide = llm_of(chosen, chosen.llm_guidance) if chosen.llm_guidance else None
        budget = Budget(
            steps=chosen.ask_steps,
            tokens=chosen.ask_tokens,
            cost=chosen.ask_cost,
            seconds=chosen.ask_seconds,
            bank_tokens=chosen.bank_tokens,
            bank_cost=chosen.bank_cost,
        )
        view = View(cast("Bank", self), at, question, as_of, recipe or FULL)
        return Run(
            view,
            llm,
            question,
            budget,
            guide=guide,
            session=session,
            account=_Account(self._store),
            say=say,
            cancelled=gone,
        )


class _Account:
    """The bank's own book of what models took."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def spent(self) -> Usage:
        return self._store.graph.usage()

    def charge(self, purpose: str, model: str, usage: Usage) -> None:
        self._store.graph.note_usage(purpose, model, usage)


def _whole(answer: Answer) -> tuple[str, Answer]:
    return answer.text, answer
