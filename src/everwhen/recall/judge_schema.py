"""What a language model answers as planner and as gate. Imported only when one is asked: pydantic takes its time."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Planned(BaseModel):
    """How much a question needs, and the words to search by."""

    complexity: Literal["simple", "hybrid", "complex"]
    keywords: list[str] = Field(default_factory=list, max_length=8)


class Kept(BaseModel):
    """The numbers of the memories that help."""

    keep: list[int] = Field(max_length=200)
