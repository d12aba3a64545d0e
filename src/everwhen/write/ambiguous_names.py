"""Names that may be one person's and that no rule decides about: a language model is asked, never in a transaction.

Resolution runs inside the transaction that writes a batch. What it cannot decide it notes here and keeps apart; the
transaction is then undone, the model is asked, and resolution runs again with the answers.
"""

from __future__ import annotations

from everwhen.models.llm.base import LLM, LLMError, complete_all
from everwhen.models.prompts import as_data, load
from everwhen.store.base import Store
from everwhen.types import Turn, UnitRow, Usage
from everwhen.write.concepts import turns_saying
from everwhen.write.entity_resolution import NamePair, key

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
        self._said: dict[tuple[str, int, str], bool] = {}
        self._open: dict[tuple[str, int, str], NamePair] = {}
        self._asked = False
        self.usage = Usage()
        self.problems: list[str] = []

    def __call__(self, pair: NamePair) -> bool:
        """Whether two names are one, as far as the model has said so; one that it said nothing of is the same."""
        of = (pair.name, pair.known.seq, pair.turn.id)
        if of not in self._said:
            self._open[of] = pair
        return self._said.get(of, is_same_name(pair))

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
        pairs = list(self._open.items())[:MOST_PAIRS]
        asked = [_question(store, pair) for _, pair in pairs]
        answers = complete_all(self._llm, asked, SameEntity, instructions=load("same_name", self._llm))
        for (of, pair), answer in zip(pairs, answers, strict=True):
            self.usage += answer.usage
            if isinstance(answer, LLMError):
                kept = "taken for one" if is_same_name(pair) else "kept apart"
                self.problems.append(f"{answer}; '{pair.name}' and '{pair.known.name}' were {kept}")
            else:
                self._said[of] = answer.output.same


def is_same_name(pair: NamePair) -> bool:
    return key(pair.name) in map(key, pair.known.names)


def _question(store: Store, pair: NamePair) -> str:
    """Both names as turns say them, the first in the turn that it is about, and the three signals."""
    units = store.graph.units_of_entity(pair.known.id, 4 * SHOWN)
    rows = (store.units(units) if units else turns_saying(store, pair.known.name, SHOWN)).values()
    earlier = [_line(row) for row in rows if row.kind == "turn"][:SHOWN]
    told = [{"name": pair.name, "said": [_line(pair.turn)]}, {"name": pair.known.name, "said": earlier}]
    signals = {
        "name similarity": round(pair.similarity, 2),
        "share of the same company": round(pair.shared, 2),
        "days apart": round(pair.days),
    }
    return "\n".join(["<names>", *map(as_data, (*told, signals)), "</names>", "Are they the same?"])


def _line(row: Turn | UnitRow) -> str:
    return f"{row.said_at:%Y-%m-%d} {row.speaker}: {row.text[:LONGEST]}"
