"""Named days: the common ones by rule, the others from the `holidays` package when a text names one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache

from everwhen_time.calendar import easter, nth_weekday, orthodox_easter


def _fixed(month: int, day: int) -> Callable[[int], datetime | None]:
    return lambda year: datetime(year, month, day)


def _nth(month: int, weekday: int, nth: int) -> Callable[[int], datetime | None]:
    return lambda year: nth_weekday(year, month, weekday, nth)


def _easter(days: int) -> Callable[[int], datetime | None]:
    return lambda year: easter(year) + timedelta(days=days)


def _after_thanksgiving(days: int) -> Callable[[int], datetime | None]:
    def day(year: int) -> datetime | None:
        thursday = nth_weekday(year, 11, 3, 4)
        return None if thursday is None else thursday + timedelta(days=days)

    return day


def _listed(country: str, name: str) -> Callable[[int], datetime | None]:
    """The first day that the `holidays` package calls so in the country."""

    def day(year: int) -> datetime | None:
        import holidays  # large: only when a text names such a feast

        every = holidays.country_holidays(country).supported_categories
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # years for which the feasts are estimated, or unknown
            listed = holidays.country_holidays(country, years=year, language="en_US", categories=every)
        days = [day for day, label in listed.items() if name in label.split("; ")]
        return datetime(min(days).year, min(days).month, min(days).day) if days else None

    return day


_RULES: dict[str, Callable[[int], datetime | None]] = {
    "new year's day": _fixed(1, 1),
    "new year's eve": _fixed(12, 31),
    "epiphany": _fixed(1, 6),
    "martin luther king day": _nth(1, 0, 3),
    "groundhog day": _fixed(2, 2),
    "valentine's day": _fixed(2, 14),
    "presidents' day": _nth(2, 0, 3),
    "international women's day": _fixed(3, 8),
    "pi day": _fixed(3, 14),
    "st patrick's day": _fixed(3, 17),
    "april fools' day": _fixed(4, 1),
    "earth day": _fixed(4, 22),
    "mardi gras": _easter(-47),
    "ash wednesday": _easter(-46),
    "palm sunday": _easter(-7),
    "maundy thursday": _easter(-3),
    "good friday": _easter(-2),
    "easter": _easter(0),
    "easter monday": _easter(1),
    "orthodox easter": orthodox_easter,
    "whit monday": _easter(50),
    "star wars day": _fixed(5, 4),
    "may day": _fixed(5, 1),
    "cinco de mayo": _fixed(5, 5),
    "mother's day": _nth(5, 6, 2),
    "memorial day": _nth(5, 0, -1),
    "juneteenth": _fixed(6, 19),
    "father's day": _nth(6, 6, 3),
    "canada day": _fixed(7, 1),
    "independence day": _fixed(7, 4),
    "bastille day": _fixed(7, 14),
    "labor day": _nth(9, 0, 1),
    "columbus day": _nth(10, 0, 2),
    "halloween": _fixed(10, 31),
    "all saints' day": _fixed(11, 1),
    "guy fawkes night": _fixed(11, 5),
    "veterans day": _fixed(11, 11),
    "remembrance day": _fixed(11, 11),
    "thanksgiving": _nth(11, 3, 4),
    "black friday": _after_thanksgiving(1),
    "cyber monday": _after_thanksgiving(4),
    "christmas eve": _fixed(12, 24),
    "christmas day": _fixed(12, 25),
    "boxing day": _fixed(12, 26),
    # Feasts of other calendars, by a country whose list has them
    "chinese new year": _listed("SG", "Chinese New Year"),
    "diwali": _listed("SG", "Diwali"),
    "eid al-fitr": _listed("SG", "Eid al-Fitr"),
    "eid al-adha": _listed("SG", "Eid al-Adha"),
    "hanukkah": _listed("IL", "Hanukkah"),
    "passover": _listed("IL", "Pesach"),
    "rosh hashanah": _listed("IL", "Rosh Hashanah"),
    "yom kippur": _listed("IL", "Yom Kippur"),
    "holi": _listed("IN", "Holi"),
    # Feasts that the data files of other languages name; English has no words for them here
    "ascension day": _easter(39),
    "pentecost": _easter(49),
    "corpus christi": _easter(60),
    "tomb-sweeping day": _listed("CN", "Tomb-Sweeping Day"),
    "dragon boat festival": _listed("CN", "Dragon Boat Festival"),
    "mid-autumn festival": _listed("CN", "Mid-Autumn Festival"),
}
_BY_COUNTRY: dict[tuple[str, str], Callable[[int], datetime | None]] = {
    ("mother's day", "GB"): _easter(-21),
    ("thanksgiving", "CA"): _nth(10, 0, 2),
    ("labor day", "DE"): _fixed(5, 1),
    ("independence day", "IN"): _fixed(8, 15),
    ("independence day", "MX"): _fixed(9, 16),
    ("independence day", "BR"): _fixed(9, 7),
}


@lru_cache(maxsize=512)
def holiday_date(name: str, year: int, country: str) -> datetime | None:
    """The day on which the holiday falls in the year; None when it does not."""
    rule = _BY_COUNTRY.get((name, country)) or _RULES.get(name)
    return rule(year) if rule else None


def is_holiday(name: str) -> bool:
    """Whether there is a date for it, whichever language has words for it."""
    return name in _RULES
