"""What a server tells of itself: counters and timings as Prometheus reads them; traces, where OpenTelemetry is there.

No bank's name and no content are in the metrics: anybody may scrape them. A trace is one span a request, named by the
GenAI conventions for memory. Attributes: `gen_ai.operation.name` (search_memory, create_memory, update_memory,
delete_memory, …), `gen_ai.provider.name`, `gen_ai.memory.store.id` (the bank), `gen_ai.memory.record.count`. The words
of a question (`gen_ai.memory.query.text`) are left out unless
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; Prometheus' usual ones."""

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What a server has done. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, Counter[Labels]] = defaultdict(Counter)
        self._times: dict[Labels, list[float]] = {}
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        with self._lock:
            self._counts[name][tuple(sorted(labels.items()))] += by

    def timed(self, seconds: float, **labels: str) -> None:
        """One request: its time goes into the histogram."""
        with self._lock:
            bars = self._times.setdefault(tuple(sorted(labels.items())), [0.0] * (len(BOUNDS) + 2))
            for place, bound in enumerate(BOUNDS):
                bars[place] += seconds <= bound
            bars[-2] += 1
            bars[-1] += seconds

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Something that is read when it is asked for."""
        self._gauges[name] = (text, read)

    def text(self) -> str:
        """The exposition format, version 0.0.4."""
        with self._lock:
            counts = {name: dict(values) for name, values in self._counts.items()}
            times = {labels: list(bars) for labels, bars in self._times.items()}
        return "\n".join([*self._lines(counts, times), ""])

    def _lines(self, counts: dict[str, dict[Labels, int]], times: dict[Labels, list[float]]) -> Iterator[str]:
        for name in sorted(counts):
            yield f"# TYPE everwhen_{name}_total counter"
            for labels, value in sorted(counts[name].items()):
                yield f"everwhen_{name}_total{_braces(labels)} {value}"
        if times:
            yield "# TYPE everwhen_request_seconds histogram"
        for named, bars in sorted(times.items()):
            for bound, count in zip((*BOUNDS, "+Inf"), bars[:-1], strict=True):
                yield f"everwhen_request_seconds_bucket{_braces((*named, ('le', str(bound))))} {count:g}"
            yield f"everwhen_request_seconds_count{_braces(named)} {bars[-2]:g}"
            yield f"everwhen_request_seconds_sum{_braces(named)} {bars[-1]:.6f}"
        for name, (text, read) in sorted(self._gauges.items()):
            yield f"# HELP everwhen_{name} {text}"
            yield f"# TYPE everwhen_{name} gauge"
            yield f"everwhen_{name} {read():g}"


def _braces(labels: Labels) -> str:
    if not labels:
        return ""
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for _, value in labels)
    return "{" + ",".join(f'{name}="{value}"' for (name, _), value in zip(labels, escaped, strict=True)) + "}"


CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class Span:
    """A span that may not be there."""

    def __init__(self, inner: Any = None) -> None:
        self._inner = inner

    def records(self, count: int) -> None:
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
