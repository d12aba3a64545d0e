"""Guidance: one to five points, made for this question, on what to look for. Chronos calls it dynamic prompting."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from everwhen.answer.answer_budget import RequestLimits
from everwhen.models.llm import LLM, Reply
from everwhen.models.prompts import load
from everwhen_time.zones import zone_of

MOST = 5
LONGEST = 300
"""Characters of one point."""


class Points(BaseModel):
    """What to look for."""

    points: list[str] = Field(description="One to five points, each one short sentence.")


def guidance(llm: LLM, question: str, at: datetime, zone: str, room: RequestLimits) -> Reply[list[str]]:
    """The points for a question asked at a moment. Made from the question alone: no memory is read."""
    day = at.astimezone(zone_of(zone))
    prompt = f"Asked on {day:%A %Y-%m-%d}:\n{question}"
    reply = llm.complete(
        prompt, Points, instructions=load("guidance", llm), max_tokens=room.answer, within=room.seconds
    )
    points = [" ".join(point.split())[:LONGEST] for point in reply.output.points]
    return Reply([point for point in points if point][:MOST], reply.usage, reply.repaired)
