"""Predicates: which have one object at a time and which several, and which words mean the same predicate.

Nothing has to be declared: an unknown predicate is single-valued. The shipped table has the common predicates of
conversations and projects; a bank adds its own with `define_predicate`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from everwhen.errors import UsageError
from everwhen.store.facts import DeclaredPredicate
from everwhen.types.relations import relations

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GAPS = re.compile(r"[\s_\-]+")
_SCOPE = re.compile(r"\s(?:for|when|while|during)\s+(?:the\s+|my\s+|his\s+|her\s+|their\s+|a\s+|an\s+)?(.+)$")
_SCOPED = re.compile(r"(?:prefer|use|favou?rite|choose|like|want)")

# name; several objects at a time?; domain; words that mean the same
_SHIPPED: tuple[tuple[str, bool, str | None, str], ...] = (
    ("name", False, "personal_trait", "is named|is called|is known as|goes by|named"),
    ("born on", False, "personal_trait", "was born on|birthday|birthday is|date of birth|birth date|birthdate"),
    ("born in", False, "personal_trait", "was born in|birthplace|place of birth|comes from|is from|from"),
    ("nationality", False, "personal_trait", "citizenship|is a citizen of"),
    ("married to", False, None, "is married to|spouse|husband|wife|married"),
    ("visited", True, None, "visit|visits|has visited|travelled to|traveled to|went to|has been to|toured"),
    ("knows", True, None, "know|met|has met"),
    ("knows how to", True, None, "can|skill|has skill|is able to"),
    ("read", True, None, "reads|has read|is reading"),
    ("watched", True, None, "watches|has watched|saw"),
    ("attended", True, None, "attend|took part in|participated in"),
    ("studied", True, None, "study|studies|is studying|learned|is learning|learns"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate: its name, whether it takes several objects at a time, and its domain."""

    key: str
    name: str
    multi: bool = False
    domain: str | None = None

    def slot(self, object_: str) -> str:
        """Where facts of this predicate would contradict: everywhere, in one scope, or only on one object."""
        if self.multi:
            return folded(object_)
        return scope(object_) if _SCOPED.match(self.key) else ""


class Predicates:
    """The shipped table, overridden by a bank's own declarations."""

    def __init__(self, declared: Iterable[DeclaredPredicate] = ()) -> None:
        self._known = dict(_shipped())
        for one in declared:
            predicate = Predicate(one.key, one.name, one.multi, one.domain)
            for words in (one.key, *one.synonyms):
                self._known[normalised(words)] = predicate

    def synonyms(self, words: str) -> tuple[str, ...]:
        found = self.find(words)
        return tuple(known for known, predicate in self._known.items() if predicate == found)

    def find(self, words: str) -> Predicate:
        """The predicate that some words name; one that nobody declared is single-valued."""
        key = normalised(words)
        if not key:
            raise UsageError("the predicate is empty; name it, such as 'lives in'")
        known = self._known.get(key)
        if known is None:
            return Predicate(key, words.strip())
        # A synonym is written as the predicate that it stands for; its own name keeps its spelling (lives_in).
        return known if known.key != key else Predicate(key, words.strip(), known.multi, known.domain)


@cache
def _shipped() -> dict[str, Predicate]:
    """The predicates of the relations, and a few more; a word that two of them have means the first."""
    rows = [(name, multi, domain, synonyms.split("|")) for name, multi, domain, synonyms in _SHIPPED]
    rows += [(one.name, one.many, one.domain, list(one.means)) for one in relations()]
    named = {
        normalised(name): Predicate(normalised(name), name, multi, domain) for name, multi, domain, _ in rows
    }
    table: dict[str, Predicate] = {}
    for name, *_, synonyms in rows:
        for words in synonyms:
            table.setdefault(normalised(words), named[normalised(name)])
    return table | named


def normalised(text: str) -> str:
    """What two spellings of one thing have in common: `livesIn`, `lives_in` and ` Lives  in` are one predicate."""
    spaced = _CAMEL.sub(" ", unicodedata.normalize("NFC", text))
    return _GAPS.sub(" ", spaced).strip().casefold()


def folded(text: str) -> str:
    """A subject or an object whatever its case and spacing; nothing else may make two of them one."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def scope(object_: str) -> str:
    """What an object is restricted to: "Python for scripting" speaks of scripting; '' is everything."""
    found = _SCOPE.search(folded(object_))
    return found.group(1) if found else ""
