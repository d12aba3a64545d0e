"""What was said: taken in, given back, searched for words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from everwhen.api.memory.bank import OpenBank
from everwhen.api.memory.events import EventCalendar
from everwhen.api.operations.base import does
from everwhen.api.operations.conversation import (
    Add,
    AddMany,
    Events,
    Grep,
    OneTurn,
    Sessions,
    Turns,
    TurnsAround,
)
from everwhen.errors import NotFound, UsageError
from everwhen.recall.grep import grep, grep_events
from everwhen.types import Added, EventHit, Hit, Message, Session, Turn
from everwhen.types.times import TimeReader
from everwhen.types.turns import message as as_message
from everwhen.write.embedding import in_batches
from everwhen.write.remember import MessageDefaults, placed, remember


@dataclass(frozen=True, slots=True)
class TurnCalendar:
    _bank: OpenBank
    _events: EventCalendar

    @does(Add)
    def add(self, asked: Add) -> Added:
        placement = self._placement(asked)
        listed = [self._bank.masks.message(as_message(one)) for one in asked.messages]  # type: ignore[union-attr]
        if not listed:
            raise UsageError("nothing to add: the list of messages is empty")
        added = self._remember(listed, placement)
        if added.new:
            self._bank.wake()
        return added

    @does(AddMany)
    def add_many(self, asked: AddMany) -> Added:
        placement = self._placement(asked)
        whole = Added((), "")
        taken = (self._bank.masks.message(as_message(one)) for one in asked.messages)
        for batch in in_batches(taken, self._bank.settings.batch):
            part = self._remember(batch, placement)
            whole = Added(
                whole.turns + part.turns, part.session, whole.new + part.new, whole.conflicts + part.conflicts
            )
            if asked.progress:
                asked.progress(len(whole.turns))
        if whole.new:
            self._bank.wake()
        return whole

    def _remember(self, messages: Sequence[Message], placement: MessageDefaults) -> Added:
        bank = self._bank
        turns = placed(messages, placement)  # once: a second attempt must not give them other ids
        return bank.model.write(lambda embedder: remember(bank.store, embedder, bank.settings, turns))

    def _placement(self, asked: Add | AddMany) -> MessageDefaults:
        masks, zone = self._bank.masks, self._bank.zone
        return MessageDefaults(
            session=None if asked.session is None else masks.label(asked.session),
            at=TimeReader(asked.zone or zone, asked.at).said_at,
            zone=asked.zone,
            bank_zone=zone,
            metadata=None if asked.metadata is None else masks.deep(asked.metadata),
        )

    @does(Turns)
    def turns(self, asked: Turns) -> list[Turn]:
        return list(self.each(asked))

    def each(self, asked: Turns) -> Iterator[Turn]:
        """As `turns`, one after the other: for those who need not hold all of them at once."""
        bank, as_of = self._bank, self._bank.as_of(asked)
        turns = bank.store.turns(session=asked.session, between=bank.window(asked.between))
        return turns if as_of.is_now else filter(as_of.sees, turns)

    @does(OneTurn)
    def turn(self, asked: OneTurn) -> Turn:
        for turn in self._bank.store.turns(ids=[asked.turn_id]):
            if self._bank.as_of(asked).sees(turn):
                return turn
        raise NotFound(
            f"there is no turn '{asked.turn_id}' in bank '{self._bank.name}'; `everwhen show turns` lists them"
        )

    @does(TurnsAround)
    def turns_around(self, asked: TurnsAround) -> list[Turn]:
        store, as_of = self._bank.store, self._bank.as_of(asked)
        turn = self.turn(OneTurn(asked.turn_id, as_of=as_of.as_of, known_at=as_of.known_at))
        if as_of.is_now:
            return store.turns_around(turn, asked.reach)
        listed = [one for one in store.turns(session=turn.session) if as_of.sees(one)]
        place = [one.id for one in listed].index(turn.id)
        return listed[max(place - asked.reach, 0) : place + asked.reach + 1]

    @does(Sessions)
    def sessions(self, asked: Sessions) -> list[Session]:
        return self._bank.store.sessions(self._bank.as_of(asked))

    @does(Grep)
    def grep(self, asked: Grep) -> list[Hit] | list[EventHit]:
        as_of = self._bank.as_of(asked)
        if asked.calendar == "events":
            events = self._events.events(
                Events(between=asked.between, as_of=as_of.as_of, known_at=as_of.known_at)
            )
            return grep_events(events, asked.pattern, regex=asked.regex, limit=asked.limit)
        turns = filter(as_of.sees, self._bank.store.turns(between=self._bank.window(asked.between)))
        return grep(turns, asked.pattern, regex=asked.regex, limit=asked.limit)
