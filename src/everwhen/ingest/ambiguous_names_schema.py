"""What a language model answers about two names. Imported only when one is asked: pydantic takes its time."""

from __future__ import annotations

from pydantic import BaseModel


class SameEntity(BaseModel):
    """Whether two names are one person's, place's or thing's."""

    same: bool
