"""What several servers keep together: the answers to writes, and small tables of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer that was given."""

    status: int
    media: str
    body: bytes


Refusal: TypeAlias = Literal["other", "busy"]
"""Why a write cannot be claimed: the same key came with another request, or somebody is doing it now."""


class Answers(Protocol):
    """Answers to requests by what was asked, and claims on those that are being answered.

    Used by: the server's idempotency keys. Uses: one database. A claim has a name of its own, and ends by itself when
    it is not renewed. All times are those of the database.
    """

    def claim(self, asked: str, digest: bytes, claim: str, lease: float) -> StoredAnswer | Refusal | None:
        """Claim a request for so many seconds (None), unless it was answered or somebody else has it.

        Safe to repeat: a claim that is there already under this name is this one.
        """
        ...

    def keep(self, asked: str, claim: str, answer: StoredAnswer) -> None:
        """Keep the answer of a claimed request; nothing happens where the claim ran out and is another's."""
        ...

    def release(self, asked: str, claim: str) -> None:
        """Give a claimed request up: it may be tried again."""
        ...

    def renew(self, claims: list[str], lease: float) -> None: ...

    def present(self, server: str, lease: float) -> int:
        """Say that a server process is there for so many seconds; how many are."""
        ...

    def leave(self, server: str) -> None:
        """Say that it is there no longer."""
        ...

    def trim(self, most: int) -> None:
        """Drop the oldest answers beyond so many."""
        ...

    def forget(self, bank: str) -> None:
        """Drop the answers about a bank: they may have words in them that are forgotten now."""
        ...


class Shared(Answers, Protocol):
    """What servers over one database keep there: their answers, and the tables `keys` and `audit`."""

    def run(self, text: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a statement that every database understands, with parameters such as `:id`.

        Each is a transaction, and may be repeated when the connection was lost.
        """
        ...
