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
_BETWEEN_PEOPLE = vocabulary(
    """
    talk speak chat converse meet call tell ask invite help thank hug visit text message email phone ring marry date
    teach inform join
    """
)
"""What is done to or with people: where nobody is named, it was someone."""
_PREPOSITIONS = vocabulary(
    """
    to in at on for from with near into off by as about up of over through during after before without
    """
)
_SKIPPED = vocabulary(
    """
    a an the this that these those some any all my your his her its our their first second last next new old own
    little big few many several more most much lot lots bunch couple kind sort sorts bit piece pair set
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
    words = [word.strip(".,'\"()!?").lower() for word in object_.split()]
    kind = _kind(words, object_.lower(), types)
    known = "meet" if verb == "see" and kind in _PEOPLE else verb
    others, phrases = VERBS.get(known) or VERBS.get(known.split()[0], ((), ()))
    direct = bool(words) and words[0] not in _PREPOSITIONS
    if direct:
        others = tuple(other for other in others if "…" in other)  # "ran the tests" is no jog
        phrases = phrases if others else ()
    filled = kind or ("someone" if known.split()[0] in _BETWEEN_PEOPLE else "something")
    alone = [other for other in others if "…" not in other]
    # "baked at the shelter" has baked no shelter: what hangs on a preposition goes where there is one
    fits = [other for other in others if "…" in other and (direct or not words or _after_preposition(other))]
    taking = [other.replace("…", filled) for other in fits]
    found = (
        [*taking, *alone] if direct else [*alone, *taking, *phrases] if words else [*alone, *phrases, *taking]
    )
    if kind and kind != "something" and not others:
        found += [f"something with {kind}", f"it was about {kind}"]
    found += [*phrases, *(other.replace("…", "something") for other in others)]
    fresh = [alias for alias in dict.fromkeys(found) if not _repeats(alias, words)]
    other_words = [alias for alias in fresh if not alias.startswith(verb.split(maxsplit=1)[0][:5])]
    fresh = other_words if len(other_words) > 1 else fresh
    return tuple(_spread(fresh, len(taking))) if len(fresh) > 1 else ()


def _after_preposition(other: str) -> bool:
    before = other.partition("…")[0].split()
    return bool(before) and before[-1] in _PREPOSITIONS


def _spread(found: list[str], taking: int) -> list[str]:
    """At most four, and among them one that stands alone where there is one."""
    if len(found) <= MOST or taking < MOST:
        return found[:MOST]
    return [*found[: MOST - 1], found[min(taking, len(found) - 1)]]


def _repeats(alias: str, words: list[str]) -> bool:
    """Whether an alias has a key word of the object in it, in any of its forms."""
    said = {_stem(word) for word in words if len(word) > 3}
    return not said.isdisjoint(_stem(word) for word in alias.lower().split())


def _stem(word: str) -> str:
    return word.removesuffix("'s").removesuffix("es").removesuffix("s")


def _kind(words: list[str], object_: str, types: Mapping[str, EntityType]) -> str:
    """What the object is, in a word that is not its own: the head of the phrase says it, else what is near it."""
    if not words:
        return ""
    inner = words[1:] if words[0] in _PREPOSITIONS else words
    ends = next((n for n, word in enumerate(inner) if n and word in _PREPOSITIONS), len(inner))
    head, rest = inner[:ends], inner[ends:]
    if head and set(head) <= FIRST | SECOND | THIRD - {"it", "itself"}:
        return "someone"
    phrase = " ".join(head)
    named = next((type_ for name, type_ in types.items() if phrase.endswith(name) and type_ in _NAMED), None)
    if named is not None:
        return _NAMED[named]
    content = [one for one in head if one not in _SKIPPED]
    for word in reversed(content) if content else rest:
        for form in (word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("'s")):
            if form in KINDS:
                return KINDS[form]
    for name, type_ in types.items():
        if name in object_ and f"{name}'s" not in object_ and type_ in _NAMED:
            return _NAMED[type_]
    return "something"
