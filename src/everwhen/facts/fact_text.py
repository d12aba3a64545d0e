"""The text of a fact: checked when it is written, and prepared for search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from everwhen.errors import UsageError
from everwhen.facts.changes import FactStatement
from everwhen.facts.predicates import Predicates
from everwhen.models.embed import Embedder
from everwhen.models.embed.date_prefix import LocalTime, embed_derived
from everwhen.store.vector_model import VectorModel
from everwhen.types import ORIGINS, Origin
from everwhen.types.instants import aware
from everwhen.types.recall import FACT
from everwhen.types.relations import in_words
from everwhen_time import Grain

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
        origin=_origin(origin),
        sources=sources(source),
    )
    return replace(said, text=f"{said.subject} {known.name.replace('_', ' ')} {said.object}")


def prepared(
    statements: Sequence[FactStatement], embedder: Embedder, zone: str | None = None
) -> list[FactStatement]:
    """The same, with vectors and token counts: done before the transaction, since a model takes its time.

    With a zone, the date since when each holds is part of what is embedded.
    """
    from everwhen.models.tokens import count_tokens

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


def _origin(given: Origin) -> Origin:
    if given not in ORIGINS:
        raise UsageError(f"unknown origin {given!r}; use one of {', '.join(ORIGINS)}")
    return given


def _since(said: FactStatement, zone: str) -> LocalTime:
    return LocalTime(said.at, zone) if said.start is None else LocalTime(said.start, zone, said.grain)
