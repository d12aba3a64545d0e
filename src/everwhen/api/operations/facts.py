"""What is true from when to when: the methods of `memory.facts`. `at` is when it was learned; left out, it is now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY
from functools import partial
from typing import Annotated

from pydantic import Field, SkipValidation

from everwhen.api.operations.base import (
    LOCAL,
    BothTimes,
    CommandLine,
    Days,
    Fraction,
    IdOrIds,
    LearnedAt,
    Limit,
    Moment,
    Name,
    OneOf,
    Operation,
    Spec,
    Synonyms,
    Text,
    operation,
)
from everwhen.types import ORIGINS, Conflict, Fact, FactDiff, ListWithPending, Origin, Proposal, StaleFact
from everwhen.types.facts import OLD_BELOW

FactId = Annotated[Name, Field(description="A fact's id.")]
AnySubject = Annotated[
    Name | None, Field(description="Who or what. Left out: everything."), CommandLine(positional=True)
]
AnyPredicate = Annotated[
    Name | None, Field(description="Such as 'lives in'. Left out: all."), CommandLine(positional=True)
]
_changes = partial(Spec, scope="write", runs="quick", traced="update_memory")


@operation
class Assert(Operation[Fact]):
    """Say that something is so, from `valid_from` (else from `at`) until `valid_to` (else until it changes).

    A later fact closes an earlier one; an earlier one that comes late is placed before it. The same again
    reinforces: an earlier `valid_from` moves its beginning back, in a new version; a later one is a confirmation,
    the beginning stays, and `note` says so. What comes back says in `status` whether it is believed, disputed or
    overruled.
    """

    spec = Spec("POST /facts", scope="write", runs="quick", creates=True, status=201, traced="create_memory")
    subject: Annotated[Name, Field(description="Who or what it is about.", examples=["Ana"])]
    predicate: Annotated[Name, Field(description="Such as 'lives in'.", examples=["lives in"])]
    object: Annotated[Text, Field(description="What is said of it.", examples=["Porto"])]
    _: KW_ONLY
    valid_from: Annotated[
        Moment | None,
        Field(description="Since when it is so. Left out: when it was learned."),
        CommandLine("--from"),
    ] = None
    valid_to: Annotated[
        Moment | None, Field(description="Until when. Left out: until it changes."), CommandLine("--to")
    ] = None
    confidence: Annotated[Fraction, Field(description="How sure, from 0 to 1.")] = 1.0
    domain: Annotated[Name | None, Field(description="Which half-life applies, such as tech_preference.")] = (
        None
    )
    source: Annotated[IdOrIds | None, Field(description="Ids of turns.")] = None
    origin: Annotated[
        Origin, OneOf(ORIGINS), Field(description="Whose word it is."), CommandLine(default="user")
    ] = "observation"
    at: LearnedAt = None


@operation
class Correct(Operation[Fact]):
    """The user's word, which wins over all that was said before: what was believed is replaced, from its beginning on.

    With `valid_from`, from then on. What is said later can end it. What was known before stays what was known before
    (`known_at`).
    """

    spec = _changes("POST /facts/correct", creates=True, guarded=True)
    subject: Annotated[Name, Field(description="Who or what it is about.", examples=["Ana"])]
    predicate: Annotated[Name, Field(description="Such as 'lives in'.", examples=["lives in"])]
    object: Annotated[Text, Field(description="What is right.", examples=["Lisbon"])]
    _: KW_ONLY
    valid_from: Annotated[
        Moment | None,
        Field(description="Since when it is so. Left out: since what it replaces was."),
        CommandLine("--from"),
    ] = None
    at: LearnedAt = None


@operation
class Retract(Operation[Fact]):
    """Take a fact back: it was never so. What it had closed is open again."""

    spec = _changes("POST /facts/{fact_id}/retract", guarded=True)
    fact_id: FactId
    _: KW_ONLY
    reason: Annotated[Text, Field(description="Why it was never so.", examples=["It was a joke"])]
    at: LearnedAt = None


@operation
class End(Operation[list[Fact]]):
    """Say that something stopped being so: what holds until then ends at `on` (valid time)."""

    spec = _changes("POST /facts/end", runs="settled", guarded=True)
    subject: Annotated[Name, Field(description="Who or what it is about.", examples=["Ana"])]
    predicate: Annotated[Name, Field(description="Such as 'lives in'.", examples=["lives in"])]
    _: KW_ONLY
    on: Annotated[Moment, Field(description="When it stopped being so.")]
    at: LearnedAt = None


@operation
class Confirm(Operation[Fact]):
    """It is still so: its age counts from now on again. A proposal becomes a fact, as if its person had said it."""

    spec = _changes("POST /facts/{fact_id}/confirm", guarded=True)
    fact_id: FactId
    at: LearnedAt = None
    _: KW_ONLY
    by: Annotated[Name | None, Field(description="Who says so.", examples=["Ana"])] = None


@operation
class Reject(Operation[Fact]):
    """A proposal is not so: the turns that said it never propose it again."""

    spec = _changes("POST /facts/{fact_id}/reject", guarded=True)
    fact_id: FactId
    at: LearnedAt = None
    _: KW_ONLY
    by: Annotated[Name | None, Field(description="Who says so.", examples=["Ana"])] = None


@operation
class ReportMissing(Operation[list[Fact]]):
    """A file, project or person is no longer there: `stale` lists the facts that name it, and so does this."""

    spec = _changes("POST /facts/reports", fixed={"kind": "missing"})
    ref: Annotated[Name, Field(description="A name as the facts have it.", examples=["the billing service"])]
    at: LearnedAt = None


@operation
class ReportChange(Operation[list[Fact]]):
    """Something outside changed (a release, a team): the facts that name it want to be looked at."""

    spec = _changes("POST /facts/reports", fixed={"kind": "change"})
    ref: Annotated[Name, Field(description="A name as the facts have it.", examples=["the billing service"])]
    at: LearnedAt = None


@operation
class Resolve(Operation[Fact | None]):
    """Decide a conflict: `keep` the id or the object of one side, or "neither"."""

    spec = _changes("POST /facts/review/{conflict_id}", runs="settled")
    conflict_id: Annotated[Name, Field(description="Its id; `facts review` shows it.")]
    keep: Annotated[
        Name,
        Field(description="The id or object of one side, or `neither`.", examples=["neither"]),
        CommandLine(positional=False),
    ]
    at: LearnedAt = None


@operation
class Current(Operation[ListWithPending[Fact]]):
    """What holds at `now`, as known at present."""

    spec = Spec("GET /facts", paged=True)
    subject: AnySubject = None
    predicate: AnyPredicate = None
    _: KW_ONLY
    now: Annotated[Moment | None, Field(description="What holds then, as known at present.")] = None


@operation
class AsOf(Operation[ListWithPending[Fact]]):
    """What held at an instant, as known at present, or as it was known at `known_at`."""

    spec = Spec("GET /facts", paged=True, renamed={"instant": "as_of"})
    instant: Annotated[Moment, Field(description="What held then.")]
    subject: AnySubject = None
    predicate: AnyPredicate = None
    _: KW_ONLY
    known_at: Annotated[Moment | None, Field(description="As it was known then.")] = None


@operation
class History(BothTimes, Operation[ListWithPending[Fact]]):
    """What is believed of a thing over all time, in valid-time order; or every version ever recorded.

    With `as_of`, by what had been said by then; with `known_at`, by what the memory held then.
    """

    spec = Spec("GET /facts", paged=True, fixed={"history": True})
    subject: Annotated[Name, Field(description="Who or what it is about.")]
    predicate: Annotated[Name, Field(description="Such as 'lives in'.")]
    _: KW_ONLY
    versions: Annotated[bool, Field(description="Every version ever recorded, corrections too.")] = False


@operation
class About(BothTimes, Operation[ListWithPending[Fact]]):
    """All that is believed of a subject over all time, in valid-time order; or every version."""

    spec = Spec("GET /facts", paged=True, fixed={"history": True})
    subject: Annotated[Name, Field(description="Who or what it is about.")]
    _: KW_ONLY
    versions: Annotated[bool, Field(description="Every version ever recorded, corrections too.")] = False


@operation
class Diff(BothTimes, Operation[FactDiff]):
    """What began, ended and changed from one instant to another, as believed now."""

    spec = Spec("GET /facts/diff")
    t1: Annotated[Moment, Field(description="From this instant.")]
    t2: Annotated[Moment, Field(description="To this one.")]
    subject: AnySubject = None


@operation
class Stale(BothTimes, Operation[ListWithPending[StaleFact]]):
    """What should not be relied on as it stands, with the sign and what to do; lowest confidence first."""

    spec = Spec("GET /facts/stale")
    threshold: Annotated[Fraction, Field(description="Confidence below which age counts.")] = OLD_BELOW
    now: Annotated[Moment | None, Field(description="The moment asked about. Left out: now, or `as_of`.")] = (
        None
    )
    _: KW_ONLY
    limit: Limit | None = None


@operation
class Review(BothTimes, Operation[ListWithPending[Conflict | Proposal]]):
    """What a person has to decide: conflicts, with `resolve`; then proposals, with `confirm` or `reject`."""

    spec = Spec("GET /facts/review")


@operation
class Get(Operation[Fact]):
    """The newest version of a fact."""

    spec = Spec("GET /facts/{fact_id}", runs="quick")
    fact_id: FactId


@operation
class Versions(Operation[Iterator[Fact]]):
    """Every version of every fact, subject by subject: what an export writes."""

    spec = Spec("GET /facts/versions", paged=True)


@operation
class ConfidenceAt(Operation[float]):
    """`confidence * 0.5 ** (age / half_life)`; age counts from the start or the last confirmation."""

    fact: Annotated[Fact, SkipValidation, LOCAL]
    instant: Moment


@operation
class DefinePredicate(Operation[None]):
    """Declare a predicate single- or multi-valued, with words that mean the same. What is known is placed anew."""

    spec = _changes("POST /facts/predicates", scope="admin", creates=True, status=204)
    name: Annotated[Name, Field(description="The predicate.", examples=["drives"])]
    _: KW_ONLY
    multi: Annotated[
        bool, Field(description="It may have several objects at once."), CommandLine("--multi/--single")
    ] = False
    synonyms: Annotated[
        Synonyms, Field(description="Words that mean the same."), CommandLine("--synonym")
    ] = ()
    domain: Annotated[Name | None, Field(description="Domain of facts that name none.")] = None
    at: LearnedAt = None


@operation
class SetHalfLife(Operation[None]):
    """Let facts of a domain or of a predicate, or with None all others, fade faster or slower in this bank."""

    spec = _changes("POST /facts/half-lives", scope="admin", creates=True, status=204)
    domain: Annotated[
        Name | None, Field(description="Null: all that have none.", examples=["tech_preference"])
    ]
    days: Annotated[Days, Field(description="Days after which such a fact is half as sure.")]
