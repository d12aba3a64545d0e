"""A fact's `ETag`, and `If-Match`, which asks for it: nobody changes what they have not seen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from everwhen.memory import Memory
from everwhen.operations import Operation, result_of
from everwhen.operations.facts import Current, Get
from everwhen.serve.banks import Banks
from everwhen.serve.problems import Problem
from everwhen.serve.routing import written
from everwhen.types import Fact


def tag(fact: Fact) -> str:
    """A fact's ETag, over all that a reader sees of it: taking back and confirming make no new version."""
    return f'"{fact.id}.{fact.version}.{hashlib.sha256(written(fact, Fact)).hexdigest()[:16]}"'


@contextmanager
def unchanged(
    banks: Banks, bank: str, memory: Memory, operation: Operation[Any], if_match: str | None
) -> Iterator[None]:
    """Inside, nobody else changes a fact; and the one that is to be changed is the one that the caller has seen."""
    spec, kind = operation.spec, cast(Any, type(operation))
    if not spec.writes or not (spec.guarded or result_of(kind) is Fact):
        yield
        return
    with banks.changing(bank):
        if spec.guarded and if_match is not None:
            _must_match(if_match, _held(memory, operation))
        yield


def _held(memory: Memory, operation: Any) -> list[Fact]:
    """What a change is about, as it is believed now."""
    if hasattr(operation, "fact_id"):
        return [memory.perform(Get(operation.fact_id))]
    return memory.perform(Current(operation.subject, operation.predicate))


def _must_match(if_match: str, held: list[Fact]) -> None:
    tags = {tag(fact) for fact in held}
    if not tags or (if_match != "*" and if_match not in tags):
        raise Problem(409, "the fact changed since you read it (If-Match); read it again, then decide")
