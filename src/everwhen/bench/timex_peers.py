"""Other libraries that find time expressions, each behind the same small function.

They are asked as generously as their interfaces allow: every value that one returns counts as found.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

Days = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: the module that must be there, and how it is asked."""

    module: str
    find: Callable[[str, datetime], list[Days]]


def unavailable(peer: Peer) -> str | None:
    """Why the library cannot be asked here; None when it can."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(peer.module)
    except Exception as error:  # an import may fail in any way: missing, too old, wrong Python
        return f"{type(error).__name__}: {error}; install it with: pip install 'everwhen[bench]'"
    return None


def _day(moment: date) -> Days:
    first = date(moment.year, moment.month, moment.day)
    return first.isoformat(), (first + timedelta(days=1)).isoformat()


def dateparser_finds(text: str, ref: datetime) -> list[Days]:
    """`search_dates`: one day each."""
    from dateparser.search import search_dates

    settings: Any = {"RELATIVE_BASE": ref.replace(tzinfo=None)}
    found = search_dates(text, languages=["en"], settings=settings)
    return [_day(entry[1]) for entry in found or []]


def parsedatetime_finds(text: str, ref: datetime) -> list[Days]:
    """`Calendar.nlp`: one day each."""
    import parsedatetime

    found = parsedatetime.Calendar().nlp(text, sourceTime=ref.replace(tzinfo=None))
    return [_day(entry[0]) for entry in found or ()]


def timefhuman_finds(text: str, ref: datetime) -> list[Days]:
    """`timefhuman`: days, and pairs as ranges; durations have no place on the calendar."""
    from timefhuman import tfhConfig, timefhuman

    found = timefhuman(text, tfhConfig(now=ref.replace(tzinfo=None)))
    return [one for entry in found or [] for one in _flat(entry)]


def _flat(entry: object) -> list[Days]:
    if isinstance(entry, date):
        return [_day(entry)]
    if isinstance(entry, tuple) and len(entry) == 2 and all(isinstance(side, date) for side in entry):
        return [(_day(entry[0])[0], _day(entry[1])[0])]
    return [one for part in entry for one in _flat(part)] if isinstance(entry, (list, tuple)) else []


def recognizers_finds(text: str, ref: datetime) -> list[Days]:
    """Microsoft's recognizers: every value of every date and date range, the past and the future one."""
    library = importlib.import_module("recognizers_date_time")
    found: list[Days] = []
    for result in library.recognize_datetime(text, "en-us", reference=ref.replace(tzinfo=None)):
        for value in (result.resolution or {}).get("values", ()):
            kind = value.get("type", "")
            if kind in ("date", "datetime") and "value" in value:
                found += [_day(date.fromisoformat(value["value"][:10]))] if _is_date(value["value"]) else []
            elif kind in ("daterange", "datetimerange"):
                found.append((_cut(value.get("start")), _cut(value.get("end"))))
    return found


def _is_date(text: str) -> bool:
    return len(text) >= 10 and text[4] == "-" and text[:4].isdigit()


def _cut(side: str | None) -> str | None:
    return side[:10] if side else None


PEERS: dict[str, Peer] = {
    "dateparser": Peer("dateparser.search", dateparser_finds),
    "parsedatetime": Peer("parsedatetime", parsedatetime_finds),
    "timefhuman": Peer("timefhuman", timefhuman_finds),
    "recognizers-text": Peer("recognizers_date_time", recognizers_finds),
}
