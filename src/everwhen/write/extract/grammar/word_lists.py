"""The word lists of the rules, read from `words.toml`; each has its reason there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from everwhen_time.word_lists import word_table


def vocabulary(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LISTS: dict[str, Any] = word_table(Path(__file__).with_name("words.toml"))

FIRST, SECOND, THIRD = (vocabulary(_LISTS[name]) for name in ("first", "second", "third"))
WH = vocabulary(_LISTS["wh"])
NOBODY = vocabulary(_LISTS["nobody"])
STATIVE = vocabulary(_LISTS["stative"])
MENTAL = vocabulary(_LISTS["mental"])
UNREAL = vocabulary(_LISTS["unreal"])
AHEAD = vocabulary(_LISTS["ahead"])
ARRANGING = vocabulary(_LISTS["arranging"])
TRIPS = vocabulary(_LISTS["trips"])
TRAVELLING = vocabulary(_LISTS["travelling"])
PHASES = vocabulary(_LISTS["phases"])
FAILED = vocabulary(_LISTS["failed"])
HYPOTHETICAL = vocabulary(_LISTS["hypothetical"])
FUTURE = vocabulary(_LISTS["future"])
DENIAL = vocabulary(_LISTS["denial"])
INVERTING = vocabulary(_LISTS["inverting"])
OCCASIONS = vocabulary(_LISTS["occasions"])
LIGHT = vocabulary(_LISTS["light"])
VAGUE = vocabulary(_LISTS["vague"])
MANNERS = vocabulary(_LISTS["manners"])
EVALUATIVE = vocabulary(_LISTS["evaluative"])
FILES = vocabulary(_LISTS["files"])
"""How the names of files end."""
PASTS: dict[str, str] = dict(pair.split(":") for pair in _LISTS["pasts"].split())
"""Of a past its verb."""
TAGS = {tag: part for part, tags in _LISTS["tags"].items() for tag in tags.split()}
PEOPLE = {pronoun: vocabulary(words) for pronoun, words in _LISTS["people"].items()}
PERSON_WORDS = frozenset[str]().union(*PEOPLE.values())
PETS = vocabulary(_LISTS["pets"])
THINGS = vocabulary(_LISTS["things"]) | PETS
