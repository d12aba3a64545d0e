"""Units of the calendar as intervals: the day, week, month or year that an instant lies in."""

from __future__ import annotations

from datetime import datetime

from everwhen.when import Grain, Interval
from everwhen.when.calendar import Unit, floor, shift
from everwhen.when.zones import zone_of

_UNITS: dict[Grain, Unit] = {
    "day": "day",
    "week": "week",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
    "decade": "decade",
    "century": "century",
}


def unit_around(instant: datetime, grain: Grain, zone: str) -> Interval:
    """The unit of a grain that an instant lies in, as a zone counts; for what is finer than a day, the day."""
    area = zone_of(zone)
    local = instant.astimezone(area).replace(tzinfo=None)
    if grain == "season":  # from March, June, September and December on
        start = floor(shift(floor(local, "month"), "month", -(local.month % 3)), "month")
        end = shift(start, "month", 3)
    else:
        unit = _UNITS.get(grain, "day")
        grain = grain if grain in _UNITS else "day"
        start = floor(local, unit)
        end = shift(start, unit, 1)
    return Interval(start.replace(tzinfo=area), end.replace(tzinfo=area), grain)
