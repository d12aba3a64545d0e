"""What is true from when to when: the methods of `memory.facts`. `at` is when it was learned; left out, it is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated

from everwhen.api.operations.arguments import (
    LONGEST_SENT,
    MOST_SENT,
    Choice,
    Flag,
    Fraction,
    Help,
    Here,
    Moment,
    Name,
    Names,
    Number,
    Whole,
)  # fmt: skip
from everwhen.api.operations.base import Operation, Spec
from everwhen.api.operations.frozen import frozen
from everwhen.types import ORIGINS, Conflict, Fact, FactDiff, Listed, Origin, StaleFact, Time

MOST_SYNONYMS = 100
"""Words that mean the same as one predicate."""
MOST_DAYS = 10_000_000
_changes = partial(Spec, scope="write", runs="quick", traced="update_memory")


@frozen
class Assert(Operation[Fact]):
    """Say that something is so, from `valid_from` (else from `at`) until `valid_to` (else until it changes).

    A later fact closes an earlier one; an earlier one that comes late is placed before it. The same again
    reinforces: an earlier `valid_from` moves its beginning back, in a new version; a later one is a confirmation,
    the beginning stays, and `note` says so. What comes back says in `status` whether it is believed, disputed or
    overruled.
    """

    spec = Spec("POST /facts", scope="write", runs="quick", creates=True, status=201, traced="create_memory")
    subject: Annotated[str, Name(), Help("Who or what it is about.", "Ana")]
    predicate: Annotated[str, Name(), Help("Such as 'lives in'.", "lives in")]
    object: Annotated[str, Name(most=LONGEST_SENT), Help(example="Porto")]
    _: KW_ONLY
    valid_from: Annotated[Time | None, Moment()] = None
    valid_to: Annotated[Time | None, Moment()] = None
    confidence: Annotated[float, Fraction()] = 1.0
    domain: Annotated[str | None, Name()] = None
    source: Annotated[
        str | Sequence[str] | None, Names(most=MOST_SENT, single=True), Help("Ids of turns.")
    ] = None
    origin: Annotated[Origin, Choice(among=ORIGINS)] = "observation"
    at: Annotated[Time | None, Moment()] = None


@frozen
class Correct(Operation[Fact]):
    """The user's word, which wins over all that was said before: what was believed is replaced, from its beginning on.

    With `valid_from`, from then on. What is said later can end it. What was known before stays what was known before
    (`known_at`).
    """

    spec = _changes("POST /facts/correct", creates=True, guarded=True)
    subject: Annotated[str, Name(), Help("Who or what it is about.", "Ana")]
    predicate: Annotated[str, Name(), Help("Such as 'lives in'.", "lives in")]
    object: Annotated[str, Name(most=LONGEST_SENT), Help("What is right.", "Lisbon")]
    _: KW_ONLY
    valid_from: Annotated[Time | None, Moment()] = None
    at: Annotated[Time | None, Moment()] = None


@frozen
class Retract(Operation[Fact]):
    """Take a fact back: it was never so. What it had closed is open again."""

    spec = _changes("POST /facts/{fact_id}/retract", guarded=True)
    fact_id: Annotated[str, Name()]
    _: KW_ONLY
    reason: Annotated[str, Name(most=LONGEST_SENT), Help(example="It was a joke")]
    at: Annotated[Time | None, Moment()] = None


@frozen
class End(Operation[list[Fact]]):
    """Say that something stopped being so: what holds until then ends at `on` (valid time)."""

    spec = _changes("POST /facts/end", runs="settled", guarded=True)
    subject: Annotated[str, Name(), Help("Who or what it is about.", "Ana")]
    predicate: Annotated[str, Name(), Help("Such as 'lives in'.", "lives in")]
    _: KW_ONLY
    on: Annotated[Time, Moment()]
    at: Annotated[Time | None, Moment()] = None


@frozen
class Confirm(Operation[Fact]):
    """It is still so: its age counts from now on again."""

    spec = _changes("POST /facts/{fact_id}/confirm", guarded=True)
    fact_id: Annotated[str, Name()]
    at: Annotated[Time | None, Moment()] = None


@frozen
class ReportMissing(Operation[list[Fact]]):
    """A file, project or person is gone: `stale` lists the facts that name it, and so does this."""

    spec = _changes("POST /facts/reports", fixed={"kind": "missing"})
    ref: Annotated[str, Name(), Help(example="the billing service")]
    at: Annotated[Time | None, Moment()] = None


@frozen
class ReportChange(Operation[list[Fact]]):
    """Something outside changed (a release, a team): the facts that name it want to be looked at."""

    spec = _changes("POST /facts/reports", fixed={"kind": "change"})
    ref: Annotated[str, Name(), Help(example="the billing service")]
    at: Annotated[Time | None, Moment()] = None


@frozen
class Resolve(Operation[Fact | None]):
    """Decide a conflict: `keep` the id or the object of one side, or "neither"."""

    spec = _changes("POST /facts/review/{conflict_id}", runs="settled")
    conflict_id: Annotated[str, Name()]
    keep: Annotated[str, Name(), Help("The id or object of one side, or `neither`.", "neither")]
    at: Annotated[Time | None, Moment()] = None


@frozen
class Current(Operation[Listed[Fact]]):
    """What holds at `now`, as known at present."""

    spec = Spec("GET /facts", paged=True)
    subject: Annotated[str | None, Name(), Help("Who or what it is about.")] = None
    predicate: Annotated[str | None, Name(), Help("Such as 'lives in'.")] = None
    _: KW_ONLY
    now: Annotated[Time | None, Moment(), Help("What holds then, as known at present.")] = None


@frozen
class AsOf(Operation[Listed[Fact]]):
    """What held at an instant, as known at present, or as it was known at `known_at`."""

    spec = Spec("GET /facts", paged=True, renamed={"instant": "as_of"})
    instant: Annotated[Time, Moment(), Help("What held then.")]
    subject: Annotated[str | None, Name(), Help("Who or what it is about.")] = None
    predicate: Annotated[str | None, Name(), Help("Such as 'lives in'.")] = None
    _: KW_ONLY
    known_at: Annotated[Time | None, Moment(), Help("As it was known then.")] = None


@frozen
class History(Operation[Listed[Fact]]):
    """What is believed of a thing over all time, in valid-time order; or every version ever recorded."""

    spec = Spec("GET /facts", paged=True, fixed={"history": True})
    subject: Annotated[str, Name(), Help("Who or what it is about.")]
    predicate: Annotated[str, Name(), Help("Such as 'lives in'.")]
    _: KW_ONLY
    versions: Annotated[bool, Flag(), Help("Every version ever recorded, corrections too.")] = False


@frozen
class About(Operation[Listed[Fact]]):
    """All that is believed of a subject over all time, in valid-time order; or every version."""

    spec = Spec("GET /facts", paged=True, fixed={"history": True})
    subject: Annotated[str, Name(), Help("Who or what it is about.")]
    _: KW_ONLY
    versions: Annotated[bool, Flag(), Help("Every version ever recorded, corrections too.")] = False


@frozen
class Diff(Operation[FactDiff]):
    """What began, ended and changed from one instant to another, as believed now."""

    spec = Spec("GET /facts/diff")
    t1: Annotated[Time, Moment()]
    t2: Annotated[Time, Moment()]
    subject: Annotated[str | None, Name(), Help("Who or what it is about.")] = None


@frozen
class Stale(Operation[Listed[StaleFact]]):
    """What should not be relied on as it stands, with the sign and what to do; lowest confidence first."""

    spec = Spec("GET /facts/stale")
    threshold: Annotated[float, Fraction()] = 0.5
    now: Annotated[Time | None, Moment()] = None
    _: KW_ONLY
    limit: Annotated[int | None, Whole(least=1, most=1000)] = None


@frozen
class Review(Operation[Listed[Conflict]]):
    """Conflicts that no rule decides, oldest first: both sides are kept until `resolve`."""

    spec = Spec("GET /facts/review")


@frozen
class Get(Operation[Fact]):
    """The newest version of a fact."""

    spec = Spec("GET /facts/{fact_id}", runs="quick")
    fact_id: Annotated[str, Name()]


@frozen
class Versions(Operation[Iterator[Fact]]):
    """Every version of every fact, subject by subject: what an export writes."""

    spec = Spec("GET /facts/versions", paged=True)


@frozen
class ConfidenceAt(Operation[float]):
    """`confidence * 0.5 ** (age / half_life)`; age counts from the start or the last confirmation."""

    fact: Annotated[Fact, Here()]
    instant: Annotated[Time, Moment()]


@frozen
class DefinePredicate(Operation[None]):
    """Declare a predicate single- or multi-valued, with words that mean the same. What is known is placed anew."""

    spec = _changes("POST /facts/predicates", scope="admin", creates=True, status=204)
    name: Annotated[str, Name(), Help(example="drives")]
    _: KW_ONLY
    multi: Annotated[bool, Flag()] = False
    synonyms: Annotated[Sequence[str], Names(most=MOST_SYNONYMS)] = ()
    domain: Annotated[str | None, Name()] = None
    at: Annotated[Time | None, Moment()] = None


@frozen
class SetHalfLife(Operation[None]):
    """Let facts of a domain or of a predicate, or with None all others, fade faster or slower in this bank."""

    spec = _changes("POST /facts/half-lives", scope="admin", creates=True, status=204)
    domain: Annotated[str | None, Name(), Help("Null: all that have none.", "tech_preference")]
    days: Annotated[float, Number(most=MOST_DAYS)]
