"""Things without a name of their own ("the budget migration", "woodworking"): entities once they are spoken of again.

A term that people come back to is a topic of theirs (Justeson and Katz 1995 keep the terms of a text in the same way);
one that is said once is only how a sentence was worded. Names in chat without capitals are found in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from everwhen.store.base import Store
from everwhen.store.search import Filter, SearchQuery, Wanted
from everwhen.types import UnitRow
from everwhen.write.entity_resolution import key
from everwhen.write.extract.base import ExtractedEntity, Extraction

LOOKED_AT = 5
"""Turns with the words of a concept that are looked at."""


def with_topics(store: Store, extraction: Extraction) -> tuple[Extraction, Mapping[str, frozenset[int]]]:
    """What was extracted, without the concepts that are said in one turn only; and of the others some units of turns
    that say them: those of before are mentions, too, now that there is a second one."""
    doubtful = {key(one.name) for one in extraction.entities if _is_doubtful(one)}
    said = {name: _said(store, name) for name in doubtful}
    topics = {name: units for name, units in said.items() if len(units) > 1}
    kept = tuple(one for one in extraction.entities if not _is_doubtful(one) or key(one.name) in topics)
    return replace(extraction, entities=kept), topics


def _is_doubtful(entity: ExtractedEntity) -> bool:
    """Whether nothing but being said again makes it an entity: what is written small has no name to be known by."""
    return entity.tentative and entity.name == entity.name.lower()


def turns_saying(store: Store, name: str, most: int) -> Mapping[int, UnitRow]:
    """Some turns with the words of a name in them, by their units."""
    search = store.search(SearchQuery(words=name, where=Filter(kinds=frozenset({"turn"}))))
    [found] = search.candidates(Wanted(most)).words
    return store.units([one.unit for one in found])


def _said(store: Store, name: str) -> frozenset[int]:
    rows = turns_saying(store, name, LOOKED_AT)
    return frozenset(seq for seq, row in rows.items() if f" {name} " in f" {_words(row.text)} ")


def _words(text: str) -> str:
    """A text as words alone, so that a phrase is found at the end of a sentence, too."""
    return " ".join(re.findall(r"[\w'-]+", text.casefold()))
