"""What facts mean, in the plainest Python: every state of every slot is kept, and read by filtering.

A slot is a list of claims; of the interval that was claimed, a claim holds what the next start leaves of it. A
state is never changed: each act appends a new one with its transaction time.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any, NamedTuple


class Claim(NamedTuple):
    object: str
    start: datetime
    end: datetime | None
    sure: float
    spoken: datetime | None = None  # when the user said so, for a correction


class Model:
    def __init__(self) -> None:
        self.states: dict[Any, list[tuple[datetime, list[Claim]]]] = defaultdict(list)
        self.last: dict[Any, datetime] = {}

    def write(self, key: Any, slot: Any, at: datetime, claims: list[Claim]) -> None:
        self.last[key] = max(at, self.last.get(key, at))
        self.states[slot].append((self.last[key], sorted(claims, key=lambda c: c.start)))

    def chain(self, slot: Any, known: datetime | None = None) -> list[tuple[Claim, datetime | None]]:
        states = [claims for at, claims in self.states[slot] if known is None or at <= known]
        now = states[-1] if states else []
        starts = [c.start for c in now[1:]] + [None]
        return [(c, min(filter(None, (c.end, s)), default=None)) for c, s in zip(now, starts, strict=False)]

    def valid(self, slot: Any, t: datetime, known: datetime | None = None) -> Claim | None:
        return next((c for c, e in self.chain(slot, known) if c.start <= t and (e is None or t < e)), None)

    def time(self, key: Any, at: datetime) -> datetime:
        return max(at, self.last.get(key, at))

    def assert_(self, key: Any, slot: Any, new: Claim, at: datetime, implied: bool) -> None:
        claims, old = [c for c, _ in self.chain(slot)], self.valid(slot, new.start)
        if old and old.object == new.object:
            claims.remove(old)
            again = old._replace(end=new.end or old.end, sure=max(new.sure, old.sure))
            return self.write(key, slot, at, [*claims, again])
        if old and old.spoken and new.start <= old.spoken:
            return self.write(key, slot, at, claims)
        if old and old.start == new.start:
            if new.sure < old.sure and not (implied and at < self.time(key, at)):
                return self.write(key, slot, at, claims)
            claims.remove(old)
        after = next((c for c in claims if c.start > new.start), None)
        if after and after.object == new.object and (new.end is None or new.end >= after.start):
            claims.remove(after)
            new = after._replace(start=new.start, sure=max(new.sure, after.sure))
        return self.write(key, slot, at, [*claims, new])

    def correct(self, key: Any, slot: Any, said: str, start: datetime | None, at: datetime) -> None:
        now = self.time(key, at)
        wrong = self.valid(slot, now)
        start = start or (wrong.start if wrong else now)
        moved = self.valid(slot, start)
        kept = [c for c, _ in self.chain(slot) if not start <= c.start <= max(now, start)]
        kept = [c for c in kept if not (c == moved and c.object == said)]
        self.write(key, slot, at, [*kept, Claim(said, start, None, 1.0, now)])

    def retract(self, key: Any, slot: Any, said: str, start: datetime, at: datetime) -> None:
        claims = [c for c, _ in self.chain(slot) if (c.object, c.start) != (said, start)]
        self.write(key, slot, at, claims)

    def end(self, key: Any, slot: Any, on: datetime, at: datetime) -> None:
        chain = self.chain(slot)
        hit = next((c for c, e in chain if c.start < on and (e is None or e > on)), None)
        self.write(key, slot, at, [c._replace(end=on) if c is hit else c for c, _ in chain])
