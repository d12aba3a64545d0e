"""The reader: a question and one turn in; relevance, answer span, answer kind and the status of what is said out."""

from everwhen.models.reader.base import KINDS, STATUSES, Passage, Reader, Reading
from everwhen.models.reader.packaged import PackagedReader

__all__ = ["KINDS", "STATUSES", "PackagedReader", "Passage", "Reader", "Reading"]
