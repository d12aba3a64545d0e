"""An answer without a model."""

from __future__ import annotations

from datetime import datetime

from everwhen.agent.bank import Bank
from everwhen.types import Answer


def ask(bank: Bank, question: str, *, at: datetime, as_of: datetime | None = None) -> Answer:
    """Abstains: the extractive answer is written on another branch."""
    return Answer("I don't know.", abstained=True, trace={"method": "extractive"})
