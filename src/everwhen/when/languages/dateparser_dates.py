"""Written dates in languages without a data file, phrase by phrase, through `dateparser`'s public interface."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from everwhen.when.cycles import MonthDay
from everwhen.when.languages.language import codes as known
from everwhen.when.meaning import Context, Fixed, Meaning

if TYPE_CHECKING:
    from dateparser.date import DateDataParser

# A day, a word and perhaps a year: "3 févr. 2021", "12. okt"; never free text.
_SPAN = re.compile(
    r"(?<![\w.])(?P<day>\d{1,2})(?:\.|er|º|\.º)?\s+(?:de\s+|di\s+|d')?(?P<word>[^\W\d_]{3,12})\.?"
    r"(?:,?\s+(?:de\s+|del\s+|di\s+)?(?P<year>(?:19|20)\d\d))?\b"
)


def written_dates(
    text: str, start: int, end: int, languages: tuple[str, ...], ctx: Context
) -> Iterator[tuple[int, int, Meaning]]:
    """Spans that `dateparser`, told the language, reads as a day and month, with or without a year."""
    codes = tuple(code for code in languages if code != "en" and code not in known())
    if not codes:
        return
    for match in _SPAN.finditer(text, start, end):
        found = _read(match[0], codes)
        if found is None or not 1 <= int(match["day"]) <= 31 or found.day != int(match["day"]):
            continue
        if match["year"]:
            yield *match.span(), Fixed(datetime(found.year, found.month, found.day), "day")
        else:
            yield *match.span(), MonthDay(found.month, found.day)


def _read(span: str, codes: tuple[str, ...]) -> datetime | None:
    data = _parser(codes).get_date_data(span)
    return data.date_obj if data.date_obj is not None and data.period == "day" else None


@cache
def _parser(codes: tuple[str, ...]) -> DateDataParser:
    from dateparser.date import DateDataParser  # slow to import: only when a span needs it

    settings = {"REQUIRE_PARTS": ["day", "month"], "PARSERS": ["absolute-time"], "DATE_ORDER": "DMY"}
    return DateDataParser(languages=list(codes), settings=settings)
