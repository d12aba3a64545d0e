"""Two to four renderings of an event in other words, so that a question in other words finds it.

"bought a Fitbit" -> "picked up a fitness tracker", "purchased a fitness tracker", "made a purchase". The key nouns
are never repeated; where the table does not know the noun, its kind of name stands for it ("a place", "someone").
"""

from __future__ import annotations

from collections.abc import Mapping

from everwhen.ingest.extract.base import EntityType
from everwhen.ingest.extract.rules.lexicon import FIRST, SECOND, THIRD
from everwhen.ingest.extract.rules.wordlist import vocabulary
from everwhen.ingest.extract.rules.words import KINDS, VERBS

MOST = 4
_PEOPLE = frozenset({"someone", "a health professional", "relatives", "a friend"})
_PREPOSITIONS = vocabulary(
    """
    to in at on for from with near into off by as about up of over through
    """
)
_NAMED: dict[EntityType, str] = {
    "PERSON": "someone",
    "LOCATION": "a place",
    "ORGANIZATION": "an organisation",
    "PRODUCT": "a product",
}


def aliases(verb: str, object_: str, types: Mapping[str, EntityType]) -> tuple[str, ...]:
    """Other words for a verb and its object; `types` are those of the names in the turn, by lower-cased name."""
    words = [word.strip(".,'\"()").lower() for word in object_.split()]
    kind = _kind(words, object_.lower(), types)
    known = "meet" if verb == "see" and kind in _PEOPLE else verb
    others, phrases = VERBS.get(known) or VERBS.get(known.split()[0], ((), ()))
    if words and words[0] not in _PREPOSITIONS:
        others = tuple(other for other in others if "…" in other)  # "ran the tests" is no jog
        phrases = phrases if others else ()
    found = []
    for other in others:
        if "…" not in other:
            found.append(other)
        elif kind:
            found.append(other.replace("…", kind))
    if not others and kind and kind != "something":
        found += [f"something with {kind}", f"it was about {kind}"]
    found += phrases
    repeated = {word for word in words if len(word) > 3}
    fresh = [alias for alias in dict.fromkeys(found) if repeated.isdisjoint(alias.lower().split())]
    return tuple(fresh[:MOST]) if len(fresh) > 1 else ()


def _kind(words: list[str], object_: str, types: Mapping[str, EntityType]) -> str:
    """What the object is, in a word that is not its own; the last noun that is known says it."""
    for word in reversed(words):
        for form in (word, word.removesuffix("s"), word.removesuffix("es")):
            if form in KINDS:
                return KINDS[form]
    for name, type_ in types.items():
        if name in object_ and type_ in _NAMED:
            return _NAMED[type_]
    if not words:
        return ""
    return "someone" if set(words) & (FIRST | SECOND | THIRD - {"it", "itself"}) else "something"
