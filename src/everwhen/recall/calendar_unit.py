"""The calendar unit (day, week, month, year) that an instant lies in, as an interval."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from everwhen_time import Grain, Interval
from everwhen_time.calendar import floor, shift
from everwhen_time.zones import zone_of


@lru_cache(4096)
def unit_around(instant: datetime, grain: Grain, zone: str) -> Interval:
    """The unit of a grain that an instant lies in, as a zone counts; for what is finer than a day, the day."""
    area = zone_of(zone)
    local = instant.astimezone(area).replace(tzinfo=None)
    if grain == "season":  # from March, June, September and December on
        start = floor(shift(floor(local, "month"), "month", -(local.month % 3)), "month")
        end = shift(start, "month", 3)
    else:
        if grain in ("second", "minute", "hour"):
            grain = "day"
        start = floor(local, grain)
        end = shift(start, grain, 1)
    return Interval(start.replace(tzinfo=area), end.replace(tzinfo=area), grain)
