"""What a question asks of time, read from its own words."""

from __future__ import annotations

import re
from datetime import datetime

from everwhen.when import Interval

# Said of what held once and may hold no longer, without a date.
_FORMERLY = re.compile(
    r"\b(used to|formerly|previous(ly)?|former|original(ly)?|at first|back then|in the past|once|no longer|"
    r"over the years|history|ever)\b",
    re.IGNORECASE,
)


def past_asked_for(query: str, at: datetime, zone: str) -> Interval | None:
    """The stretch of the past that a question is about, or None when it asks about the present.

    "Where did she live in 2021" is about that year; "where did she live before", "her first job" and "what did
    he use to drink" about all that came until now.
    """
    from everwhen.when import constraint

    asked = constraint(query, at, zone)
    if asked is not None and asked.interval is not None:
        start, end = asked.interval.start, asked.interval.end
        if end is not None and end <= at:
            return asked.interval
        if start is None and end is not None:
            return Interval(None, min(end, at), "second")
    backwards = asked is not None and (asked.order == "first" or asked.relation == "before")
    return Interval(None, at, "second") if backwards or _FORMERLY.search(query) else None
