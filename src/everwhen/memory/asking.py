"""The part of `Memory` that answers questions in words: by a model with tools, or without one by extraction."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from everwhen import checked
from everwhen.errors import UsageError
from everwhen.settings import Settings
from everwhen.store.instants import aware
from everwhen.types import Answer

if TYPE_CHECKING:
    from everwhen.agent.bank import Bank


class AskingMemory:
    """What `Memory` inherits."""

    _settings: Settings

    def ask(
        self,
        question: str,
        *,
        at: datetime | None = None,
        as_of: datetime | None = None,
        model: str | None = None,
    ) -> Answer:
        """The answer to a question with the turns that bear it out, or an honest "I don't know".

        `at` is the moment of asking (now), `as_of` bounds what had been said by then. `model` (such as
        `openai:gpt-5-mini`) answers with tools over this bank; without one, and without the setting `llm`, the answer
        is extractive: words, dates and counts of the memory itself. `model="none"` is extractive whatever is set.
        """
        words = checked.words(question, "question")
        if not words.strip():
            raise UsageError("the question is empty; ask something, such as 'when did Ana move to Porto'")
        moment = aware(at, "at") or datetime.now(UTC)
        then = aware(as_of, "as_of")
        chosen = self._settings.llm if model is None else model
        bank = cast("Bank", self)
        if chosen in (None, "none"):
            from everwhen.agent import extractive

            return extractive.ask(bank, words, at=moment, as_of=then)
        raise UsageError(f"{chosen} cannot be asked yet")
