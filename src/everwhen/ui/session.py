"""One open page: whose key it is, which bank it shows, as of when; and the only way from there to the memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from everwhen.api.extraction_wait import one_wait
from everwhen.api.memory import Memory
from everwhen.api.operations.base import Scope
from everwhen.errors import UsageError
from everwhen.serve.auth import Key, admit
from everwhen.serve.banks import asking
from everwhen.serve.responses import Problem
from everwhen.serve.telemetry import span
from everwhen.types import Stats
from everwhen.ui.auth import Visitor
from everwhen_time.zones import zone_of

R = TypeVar("R")

WAITED_FOR = 20
"""Turns, a few seconds of work, that a page waits for; where more are not read yet, it shows what is there."""


@dataclass
class PageSession:
    """Every read and write asks the key anew, as a request to the routes does."""

    visitor: Visitor
    bank: str
    as_of: datetime | None = None
    """None is now: what is known and holds at present."""
    zone: str = "UTC"
    stats: Stats | None = None
    """None while there is no such bank."""
    unread: int = 0
    """Turns that were not extracted when it read last."""

    @property
    def moment(self) -> datetime:
        return self.as_of or datetime.now(UTC)

    def local(self, instant: datetime, zone: str | None = None) -> datetime:
        """In the zone of whoever said it where that is given, else in the bank's."""
        return instant.astimezone(zone_of(zone or self.zone))

    def by_then(self, instant: datetime | None) -> bool:
        """Whether something of this instant is seen from the moment that the page looks from."""
        return self.as_of is None or (instant is not None and instant < self.as_of)

    def may(self, scope: Scope) -> bool:
        """Whether to show a button at all; `write` asks again when it is pressed."""
        try:
            return self.visitor.caller().allows(scope, self.bank)
        except Problem:
            return False

    def banks(self) -> list[str]:
        """The banks that the key may read."""
        caller = self.visitor.caller()
        return [name for name in self.visitor.state.banks.stored.names() if caller.allows("read", name)]

    async def look(self) -> None:
        """Read how much there is; the bank may be new."""
        self._admit("read", "look")
        if not self.visitor.state.banks.stored.exists(self.bank):
            self.stats = None
            return
        self.stats, self.zone = await self.visitor.state.banks.call(
            self.bank, lambda memory: (memory.stats(), memory.zone)
        )

    def days(self) -> tuple[datetime, int] | None:
        """The first day of which something is known, and how many there are up to the last one."""
        if self.stats is None or self.stats.first is None or self.stats.last is None:
            return None
        first = self.local(self.stats.first).replace(hour=0, minute=0, second=0, microsecond=0)
        return first, (self.local(self.stats.last).date() - first.date()).days + 1

    def end_of_day(self, number: int) -> datetime | None:
        """The end of the so-many-th day; None, which is now, beyond the last one."""
        span_ = self.days()
        if span_ is None or number >= span_[1]:
            return None
        day = span_[0].date() + timedelta(days=max(number, 0) + 1)
        return datetime(day.year, day.month, day.day, tzinfo=zone_of(self.zone)).astimezone(UTC)

    def end_of(self, given: str | None) -> datetime | None:
        """The end of a day that an address names ("2025-04-30"); None where it is none that the slider has."""
        span_ = self.days()
        try:
            number = (date.fromisoformat(given or "") - (span_[0].date() if span_ else date.max)).days
        except ValueError:
            return None
        return self.end_of_day(number) if number >= 0 else None

    async def create(self, zone: str) -> None:
        """Make this bank, empty; a zone of its own needs the scope admin, as over HTTP."""
        try:
            zone_of(zone)
        except ValueError:
            raise UsageError(f"there is no time zone '{zone}'; one is 'Europe/Lisbon'") from None
        scope: Scope = "write" if zone == "UTC" else "admin"
        await self.write("new bank", lambda memory: None, scope=scope, create=True, alone=False)
        if zone != "UTC":
            banks = self.visitor.state.banks
            await banks.aside(lambda bank: banks.rezone(bank, zone), self.bank)

    async def delete(self) -> None:
        """Delete this bank with everything in it, as over HTTP; the audit log says so either way."""
        caller, state = self._admit("admin", "delete bank"), self.visitor.state
        with span("delete_memory_store", self.bank):
            await state.banks.aside(state.banks.remove, self.bank)
            await state.banks.aside(state.forget, self.bank)
        state.audit.note("write", key=caller.id, bank=self.bank, route="ui delete bank")

    async def read(self, act: Callable[[Memory], R], *, fresh: bool = True) -> R:
        """Read from the bank in a thread; with `fresh`, after what was added is extracted, where that is soon."""
        self._admit("read", "read")
        banks = self.visitor.state.banks
        with span("search_memory", self.bank):
            if not fresh:
                return await banks.call(self.bank, act)
            with one_wait() as wait:
                found = await banks.read(self.bank, act, most=WAITED_FOR)
            self.unread = wait.pending
            return found

    async def ask(self, act: Callable[[Memory], R]) -> R:
        """Read something that a language model may answer, where its waiting holds up nobody."""
        self._admit("read", "ask")
        banks = self.visitor.state.banks
        with span("search_memory", self.bank):
            with one_wait() as wait:
                await banks.extracted(self.bank, WAITED_FOR)
                found = await banks.wait(self.bank, act)
            self.unread = wait.pending
            return found

    async def write(
        self,
        what: str,
        act: Callable[[Memory], R],
        *,
        scope: Scope = "write",
        operation: str = "update_memory",
        create: bool = False,
        alone: bool = True,
    ) -> R:
        """Change the bank in a thread, if the key may; the audit log says so either way.

        `alone` is for what is short: nobody who has looked first (If-Match) writes meanwhile.
        """
        caller = self._admit(scope, what)
        state = self.visitor.state

        def by_itself(memory: Memory) -> R:
            with state.banks.changing(self.bank):
                return act(memory)

        with span(operation, self.bank):
            done = await state.banks.wait(self.bank, by_itself if alone else act, create=create)
        state.audit.note("write", key=caller.id, bank=self.bank, route=f"ui {what}")
        return done

    def _admit(self, scope: Scope, what: str) -> Key:
        caller = self.visitor.caller()
        try:
            admit(caller, scope, self.bank)
        except Problem:
            self.visitor.state.audit.denied(key=caller.id, bank=self.bank, route=f"ui {what}")
            raise
        asking.set(caller.id)
        return caller
