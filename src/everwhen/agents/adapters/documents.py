"""Documents under names, on a bank that overwrites nothing: each version is a turn, and the newest one counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from everwhen.api.operations.base import checked_metadata
from everwhen.api.operations.surface import Bank
from everwhen.errors import UsageError

NOTHING = "(empty)"
"""A message needs words; a document without any says so, and its blanks are kept beside."""
SHELF, NAME, GONE, BLANK = "shelf", "name", "gone", "blank"


@dataclass(frozen=True, slots=True)
class Document:
    """The newest version of a document, and when its first and last one were written."""

    name: str
    text: str
    created: datetime
    updated: datetime
    turn: str
    data: Mapping[str, Any] = field(default_factory=dict)


class DocumentStore:
    """A bank's documents of one kind, each shelf a session of its own.

    Removing one writes that it was deleted: what was once written stays in the bank's history until it is
    forgotten there (`memory.forget`).
    """

    def __init__(self, bank: Bank, kind: str) -> None:
        self._bank = bank
        self._kind = kind
        self._writing = threading.Lock()

    def documents(self) -> dict[str, Document]:
        """Those that are there, by name, in the order of their names."""
        found: dict[str, Document] = {}
        for turn in self._bank.turns(session=self._kind):
            name = turn.metadata.get(NAME)
            if turn.metadata.get(SHELF) != self._kind or not isinstance(name, str):
                continue
            if turn.metadata.get(GONE):
                found.pop(name, None)
                continue
            first = found[name].created if name in found else turn.said_at
            words = str(turn.metadata.get(BLANK, turn.text))
            extra = turn.metadata.get("data")
            data = extra if isinstance(extra, Mapping) else {}
            found[name] = Document(name, words, first, turn.said_at, turn.id, data)
        return dict(sorted(found.items()))

    def fits(self, name: str, data: Mapping[str, Any]) -> bool:
        """Whether this may stand beside a document's words, as its turn's metadata."""
        try:
            checked_metadata({SHELF: self._kind, NAME: name, BLANK: "", "data": dict(data)})
        except UsageError:
            return False
        return True

    def put(self, name: str, text: str, data: Mapping[str, Any] | None = None) -> None:
        more: dict[str, Any] = {"data": dict(data)} if data is not None else {}
        if not text.strip():
            more[BLANK] = text
        self._write(name, text if text.strip() else NOTHING, more)

    def remove(self, name: str) -> None:
        self._write(name, f"{name} was removed", {GONE: True})

    def search(self, query: str) -> Iterator[tuple[Document, float]]:
        """The documents that answer best, the best first, by their newest version."""
        newest = {document.turn: document for document in self.documents().values()}
        found = self._bank.recall(
            query, budget="high", max_tokens=1_000_000, kinds=["turn"], metadata={SHELF: self._kind}
        )
        for one in found:
            if one.id in newest:
                yield newest[one.id], one.score

    def _write(self, name: str, text: str, more: Mapping[str, Any]) -> None:
        with self._writing:
            self._bank.add(
                {"role": "tool", "name": "memory", "content": text},
                session=self._kind,
                at=self._moment(),
                metadata={SHELF: self._kind, NAME: name, **more},
            )

    def _moment(self) -> datetime:
        """Now, and in any case after the last version: the order of time is the order of versions."""
        last = [turn.said_at for turn in self._bank.turns(session=self._kind)][-1:]
        now = datetime.now(UTC)
        return max(now, last[0] + timedelta(microseconds=1)) if last else now
