"""Holidays: the names each of them has."""

from __future__ import annotations

from everwhen.when.cycles import Holiday
from everwhen.when.parser import RuleBook

book = RuleBook()

_NAMES: dict[str, tuple[str, ...]] = {
    "christmas day": ("christmas", "christmas day", "xmas", "xmas day"),
    "christmas eve": ("christmas eve", "xmas eve"),
    "boxing day": ("boxing day",),
    "new year's day": ("new year 's day", "new years day", "new year day"),
    "new year's eve": ("new year 's eve", "new years eve", "new year eve", "nye"),
    "epiphany": ("epiphany day",),
    "martin luther king day": ("martin luther king|jr day", "mlk day"),
    "groundhog day": ("groundhog day",),
    "valentine's day": ("valentine 's day", "valentines day", "valentine 's"),
    "presidents' day": ("presidents ' day", "presidents day", "president 's day"),
    "international women's day": ("international women 's day", "women 's day", "womens day"),
    "pi day": ("pi day",),
    "st patrick's day": ("st .? patrick 's day", "saint patrick 's day", "st .? paddy 's day"),
    "april fools' day": ("april fools ' day", "april fool 's day", "april fools day", "april fools"),
    "earth day": ("earth day",),
    "mardi gras": ("mardi gras",),
    "ash wednesday": ("ash wednesday",),
    "palm sunday": ("palm sunday",),
    "maundy thursday": ("maundy thursday",),
    "good friday": ("good friday",),
    "easter": ("easter", "easter sunday", "easter day"),
    "easter monday": ("easter monday",),
    "whit monday": ("whit monday",),
    "star wars day": ("star wars day",),
    "may day": ("may day", "international? workers ' day", "international? worker 's day"),
    "cinco de mayo": ("cinco de mayo",),
    "mother's day": ("mother 's day", "mothers day", "mothers ' day"),
    "memorial day": ("memorial day",),
    "juneteenth": ("juneteenth",),
    "father's day": ("father 's day", "fathers day", "fathers ' day"),
    "canada day": ("canada day",),
    "independence day": ("independence day",),
    "bastille day": ("bastille day",),
    "labor day": ("labor day", "labour day"),
    "columbus day": ("columbus day", "indigenous peoples ' day"),
    "halloween": ("halloween", "hallowe'en", "all hallows ' eve"),
    "all saints' day": ("all saints ' day", "all saints day"),
    "guy fawkes night": ("guy fawkes night|day", "bonfire night"),
    "veterans day": ("veterans ' day", "veterans day", "veteran 's day"),
    "remembrance day": ("remembrance day", "armistice day"),
    "thanksgiving": ("thanksgiving", "thanksgiving day"),
    "black friday": ("black friday",),
    "cyber monday": ("cyber monday",),
    "chinese new year": ("chinese new year", "lunar new year"),
    "diwali": ("diwali", "deepavali"),
    "eid al-fitr": ("eid al - fitr", "eid ul - fitr"),
    "eid al-adha": ("eid al - adha", "eid ul - adha"),
    "holi": ("holi",),
    "hanukkah": ("hanukkah", "chanukah"),
    "passover": ("passover",),
    "rosh hashanah": ("rosh hashanah",),
    "yom kippur": ("yom kippur",),
    "orthodox easter": ("orthodox easter", "greek easter"),
}


def _register(name: str, patterns: tuple[str, ...]) -> None:
    def holiday() -> Holiday:
        return Holiday(name)

    book.rule(*patterns, gives="cycle")(holiday)


for _name, _patterns in _NAMES.items():
    _register(_name, _patterns)


@book.rule("new year 's?", "new years", gives="cycle", bare=True)
def new_year() -> Holiday:
    """Alone it may be a wish or a resolution: it needs a preposition."""
    return Holiday("new year's day")


def names() -> dict[str, tuple[str, ...]]:
    """Holiday to the patterns of words it goes by."""
    return dict(_NAMES)
