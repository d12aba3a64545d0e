"""Who says a fact, and of whom: the origin that decides what it may change (`facts/rights.py`).

Somebody speaks of themselves by every name that is theirs: as "I", under another form of the name that they speak
under, or by the name that they said they go by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from everwhen.facts.predicates import folded
from everwhen.store.base import Store
from everwhen.types import ROLES, Origin, Turn
from everwhen.types.relations import relations
from everwhen.write.entity_resolution import KnownEntities, forms
from everwhen.write.extract.base import ExtractedFact
from everwhen.write.passed_on import is_passed_on

UNNAMED = "user"
CALLED = "called"
"""The relation that gives somebody a name."""


class SaidBy:
    """Everybody who speaks in a bank, by all their names."""

    def __init__(self, store: Store, turns: Mapping[str, Turn], entities: KnownEntities) -> None:
        self._store, self._turns, self._entities = store, turns, entities
        people = (one for one in store.voices().speakers if one == UNNAMED or one not in ROLES)
        self._speakers = {folded(one): one for one in people}
        self._of_things = {one.name for one in relations() if one.of == "thing"}
        rows = store.facts.history(UNNAMED, CALLED, versions=False)
        self._own_names = [row.object for row in rows if row.origin == "self"]

    def attributed(self, facts: Sequence[ExtractedFact]) -> list[ExtractedFact]:
        """Facts with their origins, and each subject under the name by which that person speaks."""
        people = [one for one in facts if one.turns and one.predicate not in self._of_things]
        self._own_names += [
            one.object
            for one in people
            if (one.subject, one.predicate) == (UNNAMED, CALLED) and self._origin(one) == "self"
        ]
        return [self._attributed(one) if one in people else one for one in facts]

    def _attributed(self, fact: ExtractedFact) -> ExtractedFact:
        named = replace(fact, subject=self._speaker(fact.subject))
        return replace(named, origin=self._origin(named))

    def _origin(self, fact: ExtractedFact) -> Origin:
        turn = self._turns[fact.turns[0]]
        if is_passed_on(turn.text, fact.object):
            return "pasted"
        if turn.role != "user":
            return turn.role
        return "self" if folded(fact.subject) == folded(turn.speaker) else "speaker"

    def _speaker(self, name: str) -> str:
        """The name under which somebody speaks; the name itself where that is nobody, or may be several."""
        called = folded(name)
        if called in self._speakers:
            return self._speakers[called]
        if any(called == folded(one) or forms(name, one) for one in self._own_names):
            return UNNAMED
        aliases = {other for names in self._people if called in names for other in names}
        found = [
            one for key, one in self._speakers.items() if (key in aliases if aliases else forms(name, one))
        ]
        return found[0] if len(found) == 1 else name

    @cached_property
    def _people(self) -> list[frozenset[str]]:
        """The names of each entity that the bank knows."""
        known = [one.names for one in self._entities.known.values()]
        known = known or [frozenset((one.name, *one.aliases)) for one in self._store.graph.entities()]
        return [frozenset(map(folded, names)) for names in known]
