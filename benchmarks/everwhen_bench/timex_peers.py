"""Other libraries that find time expressions, each behind the same small function.

They are asked as generously as their interfaces allow: every value that one returns counts as found.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from everwhen_bench.timex_cases import Case, Days


@dataclass(frozen=True, slots=True)
class Peer:
    """A library: the module that must be there, how it is asked, and whether it reads more than English."""

    module: str
    find: Callable[[Case], list[Days]]
    many_languages: bool = False


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


def dateparser_finds(case: Case) -> list[Days]:
    """`search_dates`: one day each. Where a file has languages it sees them itself, unless it is told."""
    from dateparser.search import search_dates

    settings: Any = {"RELATIVE_BASE": case.ref.replace(tzinfo=None)}
    if case.tense is not None:
        settings["PREFER_DATES_FROM"] = case.tense
    if case.day_first:
        settings["DATE_ORDER"] = "DMY"
    languages = ["en"] if case.lang is None else [case.lang] if case.told else None
    found = search_dates(case.text, languages=languages, settings=settings)
    return [_day(entry[1]) for entry in found or []]


def parsedatetime_finds(case: Case) -> list[Days]:
    """`Calendar.nlp`: one day each."""
    import parsedatetime

    found = parsedatetime.Calendar().nlp(case.text, sourceTime=case.ref.replace(tzinfo=None))
    return [_day(entry[0]) for entry in found or ()]


def timefhuman_finds(case: Case) -> list[Days]:
    """`timefhuman`: days, and pairs as ranges; durations have no place on the calendar."""
    from timefhuman import tfhConfig, timefhuman

    found = timefhuman(case.text, tfhConfig(now=case.ref.replace(tzinfo=None)))
    return [one for entry in found or [] for one in _flat(entry)]


def _flat(entry: object) -> list[Days]:
    if isinstance(entry, date):
        return [_day(entry)]
    if isinstance(entry, tuple) and len(entry) == 2 and all(isinstance(side, date) for side in entry):
        return [(_day(entry[0])[0], _day(entry[1])[0])]
    return [one for part in entry for one in _flat(part)] if isinstance(entry, (list, tuple)) else []


def recognizers_finds(case: Case) -> list[Days]:
    """Microsoft's recognizers: every value of every date and date range, the past and the future one."""
    library = importlib.import_module("recognizers_date_time")
    found: list[Days] = []
    said_at = case.ref.replace(tzinfo=None)
    for result in library.recognize_datetime(case.text, "en-us", reference=said_at):
        for value in (result.resolution or {}).get("values", ()):
            kind = value.get("type", "")
            if kind in ("date", "datetime") and "value" in value:
                found += [_day(date.fromisoformat(value["value"][:10]))] if _is_date(value["value"]) else []
            elif kind in ("daterange", "datetimerange"):
                found.append((_cut(value.get("start")), _cut(value.get("end"))))
    return found


def ctparse_finds(case: Case) -> list[Days]:
    """`ctparse`: the likeliest reading of the text, one time or one interval. It reads English and German."""
    library = importlib.import_module("ctparse")
    found = library.ctparse(case.text, ts=case.ref.replace(tzinfo=None), timeout=5)
    meaning: Any = None if found is None else found.resolution
    kind = type(meaning).__name__
    if kind == "Time":
        return [_day(meaning.dt)] if meaning.hasDate else []
    if kind != "Interval":
        return []
    first, last = (side.dt if side is not None else None for side in (meaning.t_from, meaning.t_to))
    return [(None if first is None else _day(first)[0], None if last is None else _day(last)[1])]


def _is_date(text: str) -> bool:
    return len(text) >= 10 and text[4] == "-" and text[:4].isdigit()


def _cut(side: str | None) -> str | None:
    return side[:10] if side else None


PEERS: dict[str, Peer] = {
    "dateparser": Peer("dateparser.search", dateparser_finds, many_languages=True),
    "parsedatetime": Peer("parsedatetime", parsedatetime_finds),
    "timefhuman": Peer("timefhuman", timefhuman_finds),
    "recognizers-text": Peer("recognizers_date_time", recognizers_finds),
    "ctparse": Peer("ctparse", ctparse_finds),
}
