"""Names that may be one person's and that no rule decides about: a language model is asked, never in a transaction.

Resolution runs inside the transaction that writes a batch. What it cannot decide it notes here and keeps apart; the
transaction is then undone, the model is asked, and resolution runs again with the answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.models.llm.base import LLM, LLMError, complete_all
from everwhen.models.prompts import as_data, load
from everwhen.store.base import Store
from everwhen.types import Usage
from everwhen.write.concepts import turns_saying

MOST_PAIRS = 16
"""Pairs of a batch that are asked about; more stay apart."""
SHOWN = 3
"""Turns with a name that the model is shown."""
LONGEST = 300
"""Characters of each."""


class UndecidedPairs(Exception):
    """Pairs came up that nobody has asked the model about: undoes the transaction."""


class AmbiguousNames:
    """The pairs of one batch, and what the model said of them."""

    def __init__(self, llm: LLM | None) -> None:
        self._llm = llm
        self._said: dict[tuple[str, str], bool] = {}
        self._open: dict[tuple[str, str], None] = {}
        self._asked = False
        self.usage = Usage()
        self.problems: list[str] = []

    def __call__(self, name: str, known: str) -> bool:
        """Whether two names are one, as far as the model has said so."""
        if (name, known) not in self._said:
            self._open[name, known] = None
        return self._said.get((name, known), False)

    @property
    def model(self) -> str:
        return self._llm.name if self._llm is not None else ""

    def stop_to_ask(self) -> None:
        """Raise `UndecidedPairs` where there is something to ask, once."""
        if self._open and self._llm is not None and not self._asked:
            raise UndecidedPairs

    def ask(self, store: Store) -> None:
        """Put the open pairs to the model; where it gives no answer they stay apart."""
        from everwhen.write.extract.llm_schema import SameEntity  # pydantic takes its time

        assert self._llm is not None
        self._asked = True
        pairs = list(self._open)[:MOST_PAIRS]
        prompts, told = [_question(store, pair) for pair in pairs], load("same_name", self._llm)
        answers = complete_all(self._llm, prompts, SameEntity, instructions=told)
        for pair, answer in zip(pairs, answers, strict=True):
            self.usage += answer.usage
            if isinstance(answer, LLMError):
                self.problems.append(f"{answer}; '{pair[0]}' and '{pair[1]}' were kept apart")
            else:
                self._said[pair] = answer.output.same


def _question(store: Store, pair: Sequence[str]) -> str:
    told = [as_data({"name": name, "said": _said(store, name)}) for name in pair]
    return "\n".join(["<names>", *told, "</names>", "Are they the same?"])


def _said(store: Store, name: str) -> list[str]:
    rows = turns_saying(store, name, SHOWN).values()
    return [f"{row.said_at:%Y-%m-%d} {row.speaker}: {row.text[:LONGEST]}" for row in rows]
