"""From turns to structure: one protocol, and the extractors that keep it."""

from everwhen.ingest.extract.base import (
    Batch,
    CausalLink,
    ExtractedEntity,
    ExtractedEvent,
    ExtractedFact,
    ExtractedNarrative,
    Extraction,
    ExtractionUsage,
    Extractor,
    Failure,
)

__all__ = [
    "Batch",
    "CausalLink",
    "ExtractedEntity",
    "ExtractedEvent",
    "ExtractedFact",
    "ExtractedNarrative",
    "Extraction",
    "ExtractionUsage",
    "Extractor",
    "Failure",
]
