"""Traces, where OpenTelemetry is installed: one span a request, named by the GenAI conventions for memory.

Attributes: `gen_ai.operation.name` (search_memory, create_memory, update_memory, delete_memory, …),
`gen_ai.provider.name`, `gen_ai.memory.store.id` (the bank), `gen_ai.memory.record.count`. The words of a question
(`gen_ai.memory.query.text`) are left out unless `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class Span:
    """A span that may not be there."""

    def __init__(self, inner: Any = None) -> None:
        self._inner = inner

    def records(self, count: int) -> None:
        """How many memories were found, or written."""
        if self._inner is not None:
            self._inner.set_attribute("gen_ai.memory.record.count", count)

    def query(self, words: str) -> None:
        """What was asked; kept only where content is switched on."""
        if self._inner is not None and os.environ.get(CONTENT, "").lower() == "true":
            self._inner.set_attribute("gen_ai.memory.query.text", words)

    def failed(self, kind: str) -> None:
        if self._inner is not None:
            from opentelemetry.trace import Status, StatusCode

            self._inner.set_attribute("error.type", kind)
            self._inner.set_status(Status(StatusCode.ERROR))


@contextmanager
def span(operation: str, bank: str, headers: Mapping[str, str] | None = None) -> Iterator[Span]:
    """The span of one operation on a bank; it goes on the caller's trace where a `traceparent` says so."""
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.trace") is None:
        yield Span()
        return
    from opentelemetry import propagate, trace

    tracer = trace.get_tracer("everwhen")
    with tracer.start_as_current_span(
        f"{operation} {bank}",
        context=propagate.extract(dict(headers or {})),
        kind=trace.SpanKind.SERVER,
        attributes={
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "everwhen",
            "gen_ai.memory.store.id": bank,
        },
        record_exception=False,  # a message could hold content
    ) as inner:
        yield Span(inner)
