"""The reader: a question and one turn in; relevance, answer span, answer kind and the status of what is said out."""

from functools import lru_cache

from everwhen.models.reader.base import KINDS, STATUSES, Passage, ProposedAnswer, Reader, Reading
from everwhen.models.reader.packaged import PackagedReader

__all__ = [
    "KINDS", "STATUSES", "PackagedReader", "Passage", "ProposedAnswer", "Reader", "Reading", "open_reader",
]  # fmt: skip


@lru_cache(maxsize=2)
def open_reader(name: str) -> Reader | None:
    """The reader of a setting, one for all the banks of a process; it is loaded when it first reads."""
    return None if name == "none" else PackagedReader()
