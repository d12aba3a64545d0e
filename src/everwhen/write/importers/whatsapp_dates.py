"""In which order the numbers of a WhatsApp export's dates stand: found out from all of them, or asked for.

What a file shows for sure: a year of four digits, a day above 12, points (no country writes the month first with
points), and that a chat goes forward in time, from 2009 on and never into the future. Where two orders are left, the
caller has to say which: 03/04 is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from everwhen.errors import UsageError
from everwhen.write.importers.conversation import DATE_ORDERS, DateOrder

FIRST = date(2009, 1, 1)
"""The year in which WhatsApp began."""
BACKWARD = timedelta(days=1)
"""How far a chat may go back from one line to the next: messages that were sent without a network come late."""
_PLACES: dict[DateOrder, tuple[int, int, int]] = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
"""Where year, month and day stand."""
_SAID = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}


@dataclass(frozen=True, slots=True)
class Stamp:
    """The beginning of a line: three numbers of a date, a time, and which half of the day a 12-hour clock means."""

    numbers: tuple[int, ...]
    clock: tuple[int, int, int]
    half: str
    points: bool
    written: str

    def day(self, order: DateOrder) -> date | None:
        """The date in an order; None where there is no such day."""
        year, month, day = (self.numbers[place] for place in _PLACES[order])
        try:
            return date(year + 2000 if year < 100 else year, month, day)
        except ValueError:
            return None

    def local(self, order: DateOrder, where: str) -> datetime:
        day, (hour, minute, second) = self.day(order), self.clock
        if self.half:
            hour = hour % 12 + (12 if self.half == "pm" else 0)
        if day is None or hour > 23 or minute > 59 or second > 59:
            raise UsageError(f"{where}: '{self.written[:40]}' is no date and time, read as {_SAID[order]}")
        if not FIRST <= day <= _tomorrow():
            raise UsageError(
                f"{where}: '{self.written[:40]}', read as {_SAID[order]}, lies before {FIRST.year} or in the future"
            )
        return datetime(day.year, day.month, day.day, hour, minute, second)


def date_order(path: Path, stamps: Iterable[Stamp], told: DateOrder | None) -> DateOrder:
    """The one order that all dates of a file allow; `told` where the caller says it."""
    if told is not None:
        return told
    possible: list[DateOrder] = list(DATE_ORDERS)
    last: dict[DateOrder, date] = {}
    example = ""
    ahead = _tomorrow()
    backward: set[DateOrder] = set()
    for stamp in stamps:
        example = example or stamp.written
        allowed = [order for order in possible if _fits(stamp, order, ahead)]
        if not allowed:
            raise UsageError(
                f"{path}: its dates fit no order of day, month and year (such as '{stamp.written[:40]}'); "
                "say which with --date-order dmy, mdy or ymd"
            )
        possible = allowed
        for order in possible:
            day = stamp.day(order)
            assert day is not None
            if order in last and day < last[order] - BACKWARD:
                backward.add(order)
            last[order] = max(day, last.get(order, day))
    if not example:
        raise UsageError(f"{path} holds no line of a WhatsApp export")
    # A chat that goes back in every order was put together by somebody: then that says nothing.
    forward = [order for order in possible if order not in backward] or possible
    if len(forward) > 1:
        raise UsageError(
            f"{path}: its dates, such as '{example[:40]}', can be {' or '.join(_SAID[one] for one in forward)}; "
            f"say which with --date-order {' or '.join(forward)}"
        )
    return forward[0]


def _tomorrow() -> date:
    """A chat cannot hold later days, wherever the phone is."""
    return (datetime.now(UTC) + timedelta(days=1)).date()


def _fits(stamp: Stamp, order: DateOrder, ahead: date) -> bool:
    year = stamp.numbers[_PLACES[order][0]]
    others = [stamp.numbers[place] for place in _PLACES[order][1:]]
    if any(number > 31 for number in others) or (stamp.points and order == "mdy"):
        return False
    if max(stamp.numbers) > 31 and year <= 31:
        return False
    day = stamp.day(order)
    return day is not None and FIRST <= day <= ahead
