"""The levels of the memory tree: exchanges, sessions, and above them windows of time of growing length.

    1 exchange   a message and the answer to it (or several such pairs: `exchanges`)
    2 session    a conversation, however long
    3 day        … the windows of the setting `tree_windows`; the last of them is the profile
    4 week
    5 month

A node belongs to the window that contains its start; a week belongs to the month of its Thursday. So each node has
exactly one parent, known before anything is built.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from everwhen.errors import UsageError
from everwhen.store.rows import NodePlace
from everwhen.tree.windows import WindowSize
from everwhen.types.instants import to_text
from everwhen_time import Interval

Kind: TypeAlias = Literal["exchange", "session", "pattern", "profile"]
"""What a level is consolidated for: what is new, what was told, what recurs, what stays (TiMem)."""

EXCHANGE, SESSION = 1, 2
DEFAULT_WINDOWS = "day, week, month"
"""The windows of TiMem's five levels."""
NO_WINDOWS = ("exchange", "session")
"""What `tree_windows` says of a tree that ends below the days: one level, or two."""
MOST_WINDOWS = 7
INSTANT = timedelta(microseconds=1)
"""What a half-open interval needs beyond the instant of its last turn."""


@dataclass(frozen=True, slots=True)
class Levels:
    windows: tuple[WindowSize, ...]
    zone: str
    exchanges: int = 1
    sessions: bool = True
    """Without them level 1 is all there is."""

    @property
    def top(self) -> int:
        return SESSION + len(self.windows) if self.sessions else EXCHANGE

    def name(self, level: int) -> str:
        if level <= SESSION:
            return ("exchange", "session")[level - 1]
        return str(self.windows[level - SESSION - 1])

    def kind(self, level: int) -> Kind:
        if level <= SESSION:
            return "exchange" if level == EXCHANGE else "session"
        return "profile" if level == self.top else "pattern"

    def __str__(self) -> str:
        """What the bank notes: when it changes, all windows change."""
        windows = ", ".join(map(str, self.windows)) or NO_WINDOWS[self.top - 1]
        return f"{windows} | {self.exchanges} | {self.zone}"

    # Places

    def session(self, session: str, first: datetime, last: datetime) -> NodePlace:
        above = self.window_place(SESSION + 1, first).id if self.windows else None
        return NodePlace(_id(SESSION, session), SESSION, first, last + INSTANT, session, above)

    def exchange(self, session: str, turn: str, first: datetime, last: datetime) -> NodePlace:
        parent = _id(SESSION, session)
        return NodePlace(_id(EXCHANGE, session, turn), EXCHANGE, first, last + INSTANT, session, parent)

    def above(self, place: NodePlace) -> NodePlace | None:
        if place.level >= self.top:
            return None
        if place.level == SESSION:
            return self.window_place(SESSION + 1, place.start)
        span = self.windows[place.level - SESSION - 1]
        window = Interval(place.start, place.end, span.grain)
        return self.window_place(place.level + 1, span.anchor(window, self.zone))

    def window_place(self, level: int, instant: datetime) -> NodePlace:
        span = self.windows[level - SESSION - 1]
        window = span.window(instant, self.zone)
        assert window.start is not None
        assert window.end is not None
        parent = None
        if level < self.top:
            parent = self.window_place(level + 1, span.anchor(window, self.zone)).id
        return NodePlace(
            _window_id(level, window.start, window.end), level, window.start, window.end, None, parent
        )


def parse_levels(windows: str, zone: str, exchanges: int = 1) -> Levels:
    """Levels by a list of windows, shortest first; one that does not grow is refused."""
    if exchanges < 1:
        raise UsageError(f"tree_exchanges must be at least 1, got {exchanges}")
    if (lowest := windows.strip().lower()) in NO_WINDOWS:
        return Levels((), zone, exchanges, lowest == "session")
    spans = tuple(WindowSize.parse(part) for part in windows.split(",") if part.strip())
    if not 1 <= len(spans) <= MOST_WINDOWS:
        raise UsageError(
            f"tree_windows takes 1 to {MOST_WINDOWS} windows, shortest first, such as '{DEFAULT_WINDOWS}'; or "
            "'session' or 'exchange', where nothing stands above those"
        )
    for below, above in pairwise(spans):
        if above.minutes <= below.minutes:
            raise UsageError(
                f"a {above} cannot stand above a {below} in the memory tree: tree_windows goes from short to long, "
                f"such as '{DEFAULT_WINDOWS}'"
            )
    return Levels(spans, zone, exchanges)


def read_levels(noted: str | None, windows: str | None, exchanges: int | None, zone: str) -> Levels:
    """What was asked for, else what the bank has, else the default."""
    parts = noted.split(" | ") if noted else [DEFAULT_WINDOWS, "1", zone]
    return parse_levels(windows or parts[0], zone, int(parts[1]) if exchanges is None else exchanges)


@lru_cache(maxsize=65_536)
def _window_id(level: int, start: datetime, end: datetime) -> str:
    return _id(level, to_text(start), to_text(end))


def _id(level: int, *parts: str) -> str:
    """The same for the same level and window, session or exchange: to write a node again is to replace it."""
    whole = "\x1f".join((str(level), *parts))
    return f"n{level}{hashlib.blake2b(whole.encode('utf-8', 'replace'), digest_size=9).hexdigest()}"
