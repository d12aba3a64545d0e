"""The levels of the memory tree: exchanges, sessions, and above them windows of time of growing length.

    1 exchange   a message and the answer to it (or several such pairs: `exchanges`)
    2 session    a conversation, however long
    3 day        … the windows of the setting `tree_windows`; the last of them is the profile
    4 week
    5 month

A node belongs to the window that contains its start; a week belongs to the month of its Thursday. So each node has
exactly one parent, known before anything is built.

Windows cover all of time without gaps. A day runs from local midnight to local midnight: 23 or 25 hours when the clock
is changed. Minutes and hours are counted in elapsed time from local midnight, so that a clock change neither repeats
nor splits a window; the last window of a day ends with the day.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from everwhen.errors import UsageError
from everwhen.store.rows import NodePlace
from everwhen.types.times import to_text
from everwhen_time import Grain, Interval
from everwhen_time.zones import zone_of

Unit: TypeAlias = Literal["minute", "hour", "day", "week", "month", "year"]

MINUTES: dict[str, int] = {
    "minute": 1, "hour": 60, "day": 1440, "week": 10_080, "month": 43_800, "year": 525_600,
}  # fmt: skip
"""How long a unit is, about: what the order of levels is judged by."""
MOST_YEARS = 100
_WRITTEN = re.compile(r"(?:(\d{1,6})\s*)?(minute|hour|day|week|month|quarter|year)s?", re.IGNORECASE)
_MONDAY = datetime(1970, 1, 5)
_FIRST = datetime(1970, 1, 1)
_LAST = datetime(9999, 12, 31)


@dataclass(frozen=True, slots=True)
class WindowSize:
    """A number of calendar units, such as 1 week or 6 hours."""

    count: int
    unit: Unit

    @classmethod
    def parse(cls, text: str) -> WindowSize:
        """`day`, `6 hours`, `quarter`."""
        match = _WRITTEN.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                f"'{text.strip()}' is no window of the memory tree; write minutes, hours, days, weeks, months, "
                "quarters or years, such as '6 hours' or 'month'"
            )
        count, unit = int(match[1] or 1), match[2].lower()
        if unit == "quarter":
            count, unit = 3 * count, "month"
        span = cls(count, unit)  # type: ignore[arg-type]
        if count < 1 or span.minutes > MOST_YEARS * MINUTES["year"]:
            raise UsageError(
                f"a window of the memory tree is 1 minute to {MOST_YEARS} years long, not '{text.strip()}'"
            )
        if span.unit in ("minute", "hour") and span.minutes > MINUTES["day"]:
            raise UsageError(
                f"'{text.strip()}' is longer than a day, which not all days are alike in; write it in days"
            )
        return span

    @property
    def minutes(self) -> int:
        return self.count * MINUTES[self.unit]

    @property
    def grain(self) -> Grain:
        return self.unit

    def __str__(self) -> str:
        return self.unit if self.count == 1 else f"{self.count} {self.unit}s"

    def window(self, instant: datetime, zone: str) -> Interval:
        local = instant.astimezone(zone_of(zone))
        day = datetime(local.year, local.month, local.day)
        return _part(self, instant, day, zone) if self.unit in ("minute", "hour") else _days(self, day, zone)

    def anchor(self, window: Interval, zone: str) -> datetime:
        """The instant that says which window above it belongs to: its start, for weeks the day in their middle.

        That is the Thursday of a week, so that a week belongs to the month that has most of it.
        """
        assert window.start is not None
        if self.unit != "week":
            return window.start
        local = window.start.astimezone(zone_of(zone)).replace(tzinfo=None)
        return _instant(local + timedelta(days=(7 * self.count - 1) // 2), zone)


@lru_cache(maxsize=65_536)
def _days(span: WindowSize, day: datetime, zone: str) -> Interval:
    start, end = _dates(span, day)
    return Interval(_instant(start, zone), _instant(min(end, _LAST), zone), span.grain)


def _dates(span: WindowSize, day: datetime) -> tuple[datetime, datetime]:
    """The first day of the window that a day lies in, and the first day after it."""
    match span.unit:
        case "day":
            start = day - timedelta(days=(day - _FIRST).days % span.count)
            return start, start + timedelta(days=span.count)
        case "week":
            start = day - timedelta(days=(day - _MONDAY).days % (7 * span.count))
            return start, start + timedelta(days=7 * span.count)
        case "month":
            first = (day.year * 12 + day.month - 1) // span.count * span.count
            return _month(first), _month(first + span.count)
    year = day.year // span.count * span.count
    return _month(12 * year), _month(12 * (year + span.count))


def _month(number: int) -> datetime:
    """The first day of a month, counted from the year 0; kept to the years that there are."""
    year, month = divmod(number, 12)
    if year < 1:
        return datetime(1, 1, 1)
    return datetime(year, month + 1, 1) if year <= _LAST.year else _LAST


def _part(span: WindowSize, instant: datetime, day: datetime, zone: str) -> Interval:
    """Minutes and hours: so much time after another, from local midnight on."""
    midnight, next_ = _instant(day, zone), _instant(day + timedelta(days=1), zone)
    size = timedelta(minutes=span.minutes)
    start = midnight + (instant - midnight) // size * size
    return Interval(start, min(start + size, next_), span.grain)


def _instant(local: datetime, zone: str) -> datetime:
    """A local time as an instant: the first where the clock shows it twice, the change itself where it skips it."""
    return local.replace(tzinfo=zone_of(zone)).astimezone(UTC)


# Levels

Kind: TypeAlias = Literal["exchange", "session", "pattern", "profile"]
"""What a level is consolidated for: what is new, what was said, what recurs, what stays (TiMem)."""

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
    exchanges_per_piece: int = 1
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
        return f"{windows} | {self.exchanges_per_piece} | {self.zone}"

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
