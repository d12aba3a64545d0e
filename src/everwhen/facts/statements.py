"""What is said of a fact: its predicate, and the checked statement, prepared for search.

A predicate has one object at a time or several, and words that mean the same. Nothing has to be declared: an unknown
predicate is single-valued. The shipped table has the common predicates of conversations and projects; a bank adds its
own with `define_predicate`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import UsageError
from everwhen.models.embedder import Embedder, LocalTime, embed_derived
from everwhen.store.base import VectorModel
from everwhen.store.rows import Act, DeclaredPredicate
from everwhen.types import ORIGINS, Origin
from everwhen.types.facts import in_words, relations
from everwhen.types.times import aware
from everwhen.types.turns import FACT
from everwhen_time import Grain

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


@dataclass(frozen=True, slots=True)
class FactStatement:
    """A checked assertion or correction, with the text, tokens and vectors for search. Without a `start` it starts when
    it is made."""

    subject: str
    predicate: Predicate
    object: str
    at: datetime
    start: datetime | None = None
    end: datetime | None = None
    ends: bool = False
    """Whether it only ends what is known: where nothing is, it says nothing."""
    grain: Grain = "second"
    confidence: float = 1.0
    domain: str | None = None
    origin: Origin = "observation"
    act: Act = "assert"
    sources: tuple[str, ...] = ()
    text: str = ""
    tokens: int = 0
    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    made_with: VectorModel | None = None
    """The model of the vectors; None where there are none."""


LONGEST = 2_000
"""Characters of a subject, predicate or object: longer ones are documents, and belong into turns."""
MOST_SOURCES = 1_000
"""Sources that one assertion may name."""


def checked_statement(
    predicates: Predicates,
    subject: str,
    predicate: str,
    object_: str,
    *,
    at: datetime,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    grain: Grain = "second",
    confidence: float = 1.0,
    domain: str | None = None,
    source: str | Sequence[str] | None = None,
    origin: Origin = "observation",
) -> FactStatement:
    """A statement, or one sentence that says what is wrong with it."""
    start, end = aware(valid_from, "valid_from"), aware(valid_to, "valid_to")
    if start is not None and end is not None and end <= start:
        raise UsageError(
            f"valid_to ({end.isoformat()}) must lie after valid_from ({start.isoformat()}): "
            "a fact holds for some time, or it does not hold"
        )
    known = predicates.find(checked_text(predicate, "predicate"))
    said = FactStatement(
        subject=checked_text(subject, "subject"),
        predicate=known,
        object=checked_text(object_, "object"),
        at=at,
        start=start,
        end=end,
        grain=grain,
        confidence=confidence,
        domain=checked_text(domain, "domain") if domain is not None else known.domain,
        origin=_checked_origin(origin),
        sources=sources(source),
    )
    return replace(said, text=f"{said.subject} {known.name.replace('_', ' ')} {said.object}")


def prepared(
    statements: Sequence[FactStatement], embedder: Embedder, zone: str | None = None
) -> list[FactStatement]:
    """The same, with vectors and token counts: done before the transaction, since a model takes its time.

    With a zone, the date since when each holds is part of what is embedded.
    """
    from everwhen.models.embedder import count_tokens

    dates = None if zone is None else [_since(said, zone) for said in statements]
    vectors = embed_derived(embedder, [said.text for said in statements], dates)
    shown = [in_words(said.subject, said.predicate.name, said.object) for said in statements]
    model = VectorModel.of(embedder)
    return [
        replace(said, vectors=matrix, made_with=model, tokens=count_tokens(f"{FACT}: {words}"))
        for said, words, matrix in zip(statements, shown, vectors, strict=True)
    ]


def checked_text(given: str, what: str) -> str:
    """Text without NULs, broken surrogates and superfluous space; never empty."""
    if not isinstance(given, str):
        raise UsageError(f"the {what} must be text, not {type(given).__name__}")
    text = " ".join(given.replace("\0", "").encode("utf-8", "replace").decode("utf-8").split())
    if not text:
        raise UsageError(f"the {what} is empty; a fact is a subject, a predicate and an object, such as "
                         "'Ana', 'lives in', 'Porto'")  # fmt: skip
    if len(text) > LONGEST:
        raise UsageError(
            f"the {what} has {len(text):,} characters; {LONGEST:,} are allowed: add longer text as a turn"
        )
    return text


def sources(given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    listed = [given] if isinstance(given, str) else list(given)
    if (many := len(listed)) > MOST_SOURCES:
        raise UsageError(f"a fact has {many:,} sources; at most {MOST_SOURCES:,} are kept of one assertion")
    return tuple(dict.fromkeys(checked_text(one, "source") for one in listed))


def _checked_origin(given: Origin) -> Origin:
    if given not in ORIGINS:
        raise UsageError(f"unknown origin {given!r}; use one of {', '.join(ORIGINS)}")
    return given


def _since(said: FactStatement, zone: str) -> LocalTime:
    return LocalTime(said.at, zone) if said.start is None else LocalTime(said.start, zone, said.grain)
