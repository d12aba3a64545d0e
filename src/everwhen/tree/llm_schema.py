"""The JSON shape in which a language model answers when it consolidates."""

from __future__ import annotations

from pydantic import BaseModel, Field


class NodeSentence(BaseModel):
    """One sentence of a node."""

    text: str = Field(description="one sentence that is understood without the lines")
    lines: list[int] = Field(description="the numbers of the lines that it rests on")


class Consolidation(BaseModel):
    """A node of the memory tree."""

    sentences: list[NodeSentence]
