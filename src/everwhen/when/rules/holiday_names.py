"""Holidays, by the names in `holidays.toml`."""

from __future__ import annotations

from pathlib import Path

from everwhen.when.cycles import Holiday
from everwhen.when.parser import RuleBook
from everwhen.when.word_lists import word_table

book = RuleBook()


def _register(name: str, patterns: list[str]) -> None:
    def holiday() -> Holiday:
        return Holiday(name)

    book.rule(*patterns, gives="cycle")(holiday)


for _name, _patterns in word_table(Path(__file__).with_name("holidays.toml")).items():
    _register(_name, _patterns)


@book.rule("new year 's?", "new years", gives="cycle", bare=True)
def new_year() -> Holiday:
    """Alone it may be a wish or a resolution: it needs a preposition."""
    return Holiday("new year's day")
