"""`/facts`: what is true from when to when. A fact's `ETag` is what `If-Match` may ask for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Annotated

from fastapi import Query, Request, Response

from everwhen.errors import UsageError
from everwhen.memory import Memory
from everwhen.serve.pages import Cursor, Limit, Page, page
from everwhen.serve.problems import Problem
from everwhen.serve.routing import Bank, area, house_of, if_match_of, needs, replied, written
from everwhen.serve.schemas import (
    AssertIn,
    AtIn,
    CorrectIn,
    EndIn,
    HalfLifeIn,
    Name,
    PredicateIn,
    ReportIn,
    ResolveIn,
    RetractIn,
    Share,
    Time,
)
from everwhen.types import Conflict, Fact, FactDiff, StaleFact

router = area("facts")

Flag = Annotated[bool, Query()]


@router.get("/banks/{bank}/facts", response_model=Page[Fact], **needs("read"))
async def facts(
    request: Request,
    bank: Bank,
    subject: Annotated[Name | None, Query()] = None,
    predicate: Annotated[Name | None, Query()] = None,
    as_of: Annotated[Time | None, Query(description="What held then.")] = None,
    known_at: Annotated[Time | None, Query(description="As it was known then.")] = None,
    now: Annotated[Time | None, Query(description="What holds then, as known at present.")] = None,
    history: Flag = False,
    versions: Flag = False,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response:
    """What holds now, or at an instant; with `history` all that was believed of a subject, in valid-time order."""
    house = house_of(request)

    def found(memory: Memory) -> list[Fact]:
        if history or versions:
            if subject is None:
                raise UsageError("history: name the subject whose history you want (`subject`)")
            if predicate is None:
                return memory.facts.about(subject, versions=versions)
            return memory.facts.history(subject, predicate, versions=versions)
        if as_of is not None:
            return memory.facts.as_of(as_of, subject, predicate, known_at=known_at)
        if known_at is not None:
            raise UsageError("known_at: say also for which instant (`as_of`)")
        return memory.facts.current(subject, predicate, now=now)

    return replied(
        await house.banks.read(
            bank, lambda memory: written(page(found(memory), cursor, limit, house.serving), Page[Fact])
        )
    )


@router.post("/banks/{bank}/facts", status_code=201, response_model=Fact, **needs("write", "create_memory"))
async def assert_(request: Request, bank: Bank, body: AssertIn) -> Response:
    """Say that something is so; the bank comes into being when it is new."""
    return await _change(
        request,
        bank,
        lambda memory: memory.facts.assert_(
            body.subject,
            body.predicate,
            body.object,
            valid_from=body.valid_from,
            valid_to=body.valid_to,
            confidence=body.confidence,
            domain=body.domain,
            source=body.source,
            origin=body.origin,
            at=body.at,
        ),
        status=201,
        create=True,
    )


@router.post(
    "/banks/{bank}/facts/correct", response_model=Fact, **needs("write", "update_memory", if_match=True)
)
async def correct(request: Request, bank: Bank, body: CorrectIn) -> Response:
    """The user's word, which always wins. `If-Match` names what is believed now."""
    return await _change(
        request,
        bank,
        lambda memory: memory.facts.correct(
            body.subject, body.predicate, body.object, valid_from=body.valid_from, at=body.at
        ),
        held=lambda memory: memory.facts.current(body.subject, body.predicate),
        if_match=if_match_of(request),
        create=True,
    )


@router.post(
    "/banks/{bank}/facts/end", response_model=list[Fact], **needs("write", "update_memory", if_match=True)
)
async def end(request: Request, bank: Bank, body: EndIn) -> Response:
    """Say that something stopped being so. `If-Match` names what is believed now."""
    banks, wanted = house_of(request).banks, if_match_of(request)

    def act(memory: Memory) -> bytes:
        with banks.changing(bank):
            _must_match(wanted, lambda: memory.facts.current(body.subject, body.predicate))
            return written(memory.facts.end(body.subject, body.predicate, on=body.on, at=body.at), list[Fact])

    return replied(await banks.read(bank, act))


@router.get("/banks/{bank}/facts/stale", response_model=list[StaleFact], **needs("read"))
async def stale(
    request: Request,
    bank: Bank,
    threshold: Annotated[Share, Query()] = 0.5,
    now: Annotated[Time | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """What should not be relied on as it stands; lowest confidence first."""
    return replied(
        await house_of(request).banks.read(
            bank,
            lambda memory: written(memory.facts.stale(threshold, now, limit=limit), list[StaleFact]),
        )
    )


@router.get("/banks/{bank}/facts/review", response_model=list[Conflict], **needs("read"))
async def review(request: Request, bank: Bank) -> Response:
    """Conflicts that no rule decides, oldest first."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(memory.facts.review(), list[Conflict])
        )
    )


@router.post(
    "/banks/{bank}/facts/review/{conflict}", response_model=Fact | None, **needs("write", "update_memory")
)
async def resolve(request: Request, bank: Bank, conflict: str, body: ResolveIn) -> Response:
    """Decide a conflict."""
    return replied(
        await house_of(request).banks.read(
            bank,
            lambda memory: written(memory.facts.resolve(conflict, body.keep, body.at), Fact | None),
        )
    )


@router.get("/banks/{bank}/facts/diff", response_model=FactDiff, **needs("read"))
async def diff(
    request: Request,
    bank: Bank,
    t1: Annotated[Time, Query()],
    t2: Annotated[Time, Query()],
    subject: Annotated[Name | None, Query()] = None,
) -> Response:
    """What began, ended and changed from one instant to another, as believed now."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(memory.facts.diff(t1, t2, subject), FactDiff)
        )
    )


@router.get("/banks/{bank}/facts/versions", response_model=Page[Fact], **needs("read"))
async def versions(request: Request, bank: Bank, cursor: Cursor = None, limit: Limit = None) -> Response:
    """Every version of every fact, subject by subject."""
    house = house_of(request)
    return replied(
        await house.banks.read(
            bank,
            lambda memory: written(
                page(list(memory.facts.versions()), cursor, limit, house.serving), Page[Fact]
            ),
        )
    )


@router.post("/banks/{bank}/facts/reports", response_model=list[Fact], **needs("write", "update_memory"))
async def report(request: Request, bank: Bank, body: ReportIn) -> Response:
    """Something outside is gone (`missing`) or changed: the facts that name it want to be looked at."""

    def act(memory: Memory) -> bytes:
        told = memory.facts.report_missing if body.kind == "missing" else memory.facts.report_change
        return written(told(body.ref, body.at), list[Fact])

    return replied(await house_of(request).banks.call(bank, act))


@router.post("/banks/{bank}/facts/predicates", status_code=204, **needs("admin", "update_memory"))
async def define_predicate(request: Request, bank: Bank, body: PredicateIn) -> Response:
    """Declare a predicate single- or multi-valued, with words that mean the same."""
    await house_of(request).banks.call(
        bank,
        lambda memory: memory.facts.define_predicate(
            body.name, multi=body.multi, synonyms=body.synonyms, domain=body.domain, at=body.at
        ),
        create=True,
    )
    return Response(status_code=204)


@router.post("/banks/{bank}/facts/half-lives", status_code=204, **needs("admin", "update_memory"))
async def set_half_life(request: Request, bank: Bank, body: HalfLifeIn) -> Response:
    """Let facts of a domain fade faster or slower in this bank."""
    await house_of(request).banks.call(
        bank, lambda memory: memory.facts.set_half_life(body.domain, body.days), create=True
    )
    return Response(status_code=204)


@router.get("/banks/{bank}/facts/{fact}", response_model=Fact, **needs("read"))
async def fact(request: Request, bank: Bank, fact: str) -> Response:
    """The newest version of a fact, with its ETag."""

    def act(memory: Memory) -> Response:
        found = memory.facts.get(fact)
        return replied(written(found, Fact), headers={"ETag": tag(found)})

    return await house_of(request).banks.call(bank, act)


@router.post(
    "/banks/{bank}/facts/{fact}/retract",
    response_model=Fact,
    **needs("write", "update_memory", if_match=True),
)
async def retract(request: Request, bank: Bank, fact: str, body: RetractIn) -> Response:
    """Take a fact back: it was never so."""
    return await _change(
        request,
        bank,
        lambda memory: memory.facts.retract(fact, reason=body.reason, at=body.at),
        held=lambda memory: [memory.facts.get(fact)],
        if_match=if_match_of(request),
    )


@router.post(
    "/banks/{bank}/facts/{fact}/confirm",
    response_model=Fact,
    **needs("write", "update_memory", if_match=True),
)
async def confirm(request: Request, bank: Bank, fact: str, body: AtIn) -> Response:
    """It is still so: its age counts from now on again."""
    return await _change(
        request,
        bank,
        lambda memory: memory.facts.confirm(fact, body.at),
        held=lambda memory: [memory.facts.get(fact)],
        if_match=if_match_of(request),
    )


def tag(fact: Fact) -> str:
    """A fact's ETag, over all that a reader sees of it: taking back and confirming make no new version."""
    return f'"{fact.id}.{fact.version}.{hashlib.sha256(written(fact, Fact)).hexdigest()[:16]}"'


async def _change(
    request: Request,
    bank: str,
    change: Callable[[Memory], Fact],
    *,
    held: Callable[[Memory], Iterable[Fact]] | None = None,
    if_match: str | None = None,
    status: int = 200,
    create: bool = False,
) -> Response:
    """Write a fact, unless the one that is there is not the one that the caller has seen."""
    banks = house_of(request).banks

    def act(memory: Memory) -> Response:
        with banks.changing(bank):
            if held is not None:
                _must_match(if_match, lambda: held(memory))
            made = change(memory)
        return replied(written(made, Fact), status, {"ETag": tag(made)})

    return await banks.call(bank, act, create=create)


def _must_match(if_match: str | None, held: Callable[[], Iterable[Fact]]) -> None:
    if if_match is None:
        return
    tags = {tag(fact) for fact in held()}
    if not tags or (if_match != "*" and if_match not in tags):
        raise Problem(409, "the fact changed since you read it (If-Match); read it again, then decide")
