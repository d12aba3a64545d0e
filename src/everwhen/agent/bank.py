"""What the agent is given of a memory: reading, of one bank. Nothing that it does can reach further."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from everwhen.facts import Facts
from everwhen.recall import Recall, Recipe
from everwhen.settings import MAX_TOKENS
from everwhen.types import Between, Comparison, Entry, Event, Hit, TimeAnswer, Turn
from everwhen.when import Grain


class Bank(Protocol):
    """One bank, for reading. Above: `extractive` and the tools. Below: `Memory`, which fulfils it as it stands."""

    @property
    def bank(self) -> str: ...

    @property
    def zone(self) -> str: ...

    @property
    def facts(self) -> Facts: ...

    def recall(
        self,
        query: str,
        *,
        seek: str | None = None,
        budget: str | int = "mid",
        max_tokens: int = MAX_TOKENS,
        at: datetime | None = None,
        between: Between | None = None,
        as_of: datetime | None = None,
        kinds: Sequence[str] | None = None,
        recipe: Recipe | None = None,
        fresh: bool = False,
    ) -> Recall: ...

    def turn(self, turn_id: str) -> Turn: ...

    def turns(self, session: str | None = None, between: Between | None = None) -> list[Turn]: ...

    def turns_around(self, turn_id: str, reach: int = 1) -> list[Turn]: ...

    def grep(
        self, pattern: str, *, regex: bool = False, between: Between | None = None, limit: int = 50
    ) -> list[Hit]: ...

    def events(
        self,
        about: str | None = None,
        between: Between | None = None,
        subject: str | None = None,
        verb: str | None = None,
        status: str | None = None,
        known_at: datetime | None = None,
    ) -> list[Event]: ...

    def timeline(
        self,
        about: str | None = None,
        between: Between | None = None,
        grain: Grain | None = None,
        *,
        negated: bool = False,
        known_at: datetime | None = None,
    ) -> list[Entry]: ...

    def when(
        self,
        query: str,
        *,
        at: datetime | None = None,
        between: Between | None = None,
        as_of: datetime | None = None,
    ) -> TimeAnswer | None: ...

    def compare(self, a: str, b: str, *, at: datetime | None = None) -> Comparison: ...
