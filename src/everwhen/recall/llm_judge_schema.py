"""The JSON shape of a language model's answers as planner and as gate. Imported only when needed: pydantic is slow to
load."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

DATE = r"^(?:\d{4}(?:-\d\d){0,2})?$"
"""A year, a month or a day, or nothing."""


class PlanAnswer(BaseModel):
    """The complexity of a question, the words to search for, and the time that it is about."""

    complexity: Literal["simple", "hybrid", "complex"]
    keywords: list[str] = Field(default_factory=list, max_length=8)
    since: str = Field("", pattern=DATE)
    until: str = Field("", pattern=DATE)


class GateAnswer(BaseModel):
    """The numbers of the memories that help."""

    keep: list[int] = Field(max_length=200)
