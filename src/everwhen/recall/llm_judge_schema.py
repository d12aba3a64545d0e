"""The JSON shape of a language model's answers as planner and as gate. Imported only when needed: pydantic is slow to
load."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class PlanAnswer(BaseModel):
    """The complexity of a question, and the words to search for."""

    complexity: Literal["simple", "hybrid", "complex"]
    keywords: list[str] = Field(default_factory=list, max_length=8)


class GateAnswer(BaseModel):
    """The numbers of the memories that help."""

    keep: list[int] = Field(max_length=200)
