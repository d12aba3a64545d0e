"""Forgetting reaches what the server itself keeps of a bank, is audited, and for everything needs the scope admin."""

from __future__ import annotations

from fastapi import Response

from everwhen.memory import Memory
from everwhen.operations.maintenance import Forget, Retain
from everwhen.serve.auth import admit
from everwhen.serve.routes.operations import Asked, Special, perform
from everwhen.serve.routing import audited
from everwhen.types import Receipt


async def _forget(asked: Asked) -> Response:
    """Forget in the bank, then in what the server itself keeps of it."""
    state, operation = asked.state, asked.operation
    if getattr(operation, "everything", False):
        admit(asked.request.state.caller, "admin", asked.bank)

    def act(memory: Memory) -> Receipt:
        receipt: Receipt = memory.perform(operation)
        if not receipt.dry_run:
            state.forget(asked.bank)
        audited(asked.request, dry_run=receipt.dry_run, turns=len(receipt.turns), facts=len(receipt.facts))
        return receipt

    return await perform(asked, act)


SPECIAL = {Forget: Special(_forget), Retain: Special(_forget)}
