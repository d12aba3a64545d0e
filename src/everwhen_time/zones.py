"""Time zones by name: those of IANA, and fixed offsets.

A fixed offset of whole hours has an IANA name, `Etc/GMT+8` (which is eight hours *behind* UTC); others are written as
in ISO 8601: `+05:30`. So `ZoneInfo` reads nearly all of them, and `zone_of` reads all.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

UNIVERSAL = frozenset(
    area + name for area in ("", "Etc/") for name in ("UTC", "UCT", "Zulu", "Universal", "GMT", "GMT0")
)
"""Names of UTC itself, which say nothing of where somebody is."""
_OFFSET = re.compile(r"([+-])(\d\d):?([0-5]\d)(?::?([0-5]\d))?", re.ASCII)
_HOUR = timedelta(hours=1)
LONGEST = 64
"""Characters of a zone's name: what is asked for is kept."""


@lru_cache(maxsize=256)
def zone_of(name: str) -> tzinfo:
    """The zone of a name: an IANA name or an offset such as `+05:30`; ValueError where there is none."""
    try:
        if len(name) > LONGEST:
            raise ValueError
        offset = _offset(name)
        return ZoneInfo(name) if offset is None else timezone(offset)
    except (
        LookupError,
        ValueError,
        OSError,
        TypeError,
    ):  # absent, a path trick, or a folder such as "Europe"
        raise ValueError(
            f"unknown zone {name!r:.60}: use an IANA name such as 'Europe/Rome', or an offset such as '+05:30'"
        ) from None


def wall_clock(instant: datetime | None, zone: tzinfo) -> datetime | None:
    """What the clocks of the zone show then, naive; the open side of an interval stays None."""
    return None if instant is None else instant.astimezone(zone).replace(tzinfo=None)


def stored_name(name: str) -> str:
    """The name under which a zone is kept: an offset has one way to be written."""
    zone_of(name)
    offset = _offset(name)
    return name if offset is None else _offset_name(offset)


def zone_name(instant: datetime, home: str = "UTC") -> str | None:
    """The zone that an aware datetime itself is in, by name or by offset; None where it is only in UTC.

    An offset that the clocks of `home` had then means that zone: it says nothing of another half of the year.
    """
    offset, name = instant.utcoffset(), named_zone(instant)
    if name is not None or not offset:
        return name
    return home if instant.astimezone(zone_of(home)).utcoffset() == offset else _offset_name(offset)


def named_zone(instant: datetime) -> str | None:
    """The zone that an aware datetime itself is in, where that has a name and is not UTC.

    `key` is zoneinfo's name, `zone` pytz's, and dateutil knows the file that it has read.
    """
    given = instant.tzinfo
    names = [getattr(given, attribute, None) for attribute in ("key", "zone", "_filename")]
    for name in (str(name).partition("zoneinfo/")[2] or str(name) for name in names if name):
        if name in UNIVERSAL:
            return None
        if _OFFSET.fullmatch(name) is None and _is_known(name):
            return name
    return None


def _is_known(name: str) -> bool:
    try:
        zone_of(name)
    except ValueError:
        return False
    return True


def _offset(name: str) -> timedelta | None:
    match = _OFFSET.fullmatch(name)
    if match is None:
        return None
    hours, minutes, seconds = (int(digits or 0) for digits in match.groups()[1:])
    size = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -size if match[1] == "-" else size


def _offset_name(offset: timedelta) -> str:
    if not offset:
        return "UTC"
    hours, rest = divmod(offset, _HOUR)
    if not rest and -12 <= hours <= 14:
        return f"Etc/GMT{-hours:+d}"  # POSIX counts towards the west
    minutes, seconds = divmod(int(abs(offset).total_seconds()), 60)
    whole = f"{'-' if offset < timedelta() else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{whole}:{seconds:02d}" if seconds else whole
