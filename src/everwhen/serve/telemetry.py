"""What a server says of itself: logs, the audit log, metrics for Prometheus, and traces where OpenTelemetry is there.

Logs are one JSON object a line. The audit log holds writes, deletes and denied calls. No content is in either, and no
bank's name is in the metrics: anybody may scrape them. A trace is one span a request, named by the GenAI conventions
for memory. Attributes: `gen_ai.operation.name` (search_memory, create_memory, update_memory, delete_memory, …),
`gen_ai.provider.name`, `gen_ai.memory.store.id` (the bank), `gen_ai.memory.record.count`. The words of a question
(`gen_ai.memory.query.text`) are left out unless `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from logging.handlers import QueueListener, RotatingFileHandler
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from everwhen.store.answers import Shared
from everwhen.store.files.private import private_file

disable_created_metrics()  # type: ignore[no-untyped-call]

# Logs

AUDIT_BYTES, AUDIT_FILES = 10_000_000, 5
"""The audit log is bounded: someone who knocks all day must not fill the disk."""
AUDIT_ENTRIES, TRIMMED = 250_000, 500
"""The same in a database, about as many; and entries between two looks at how many there are."""
INTERVAL = 60.0
"""Seconds for which denied calls are counted together."""
ONE_BY_ONE = 20
"""Denied calls of one key that have a line of their own in that time; of all calls without a key it is one."""

log = logging.getLogger("everwhen.serve")


class JsonLines(logging.Formatter):
    """A record as one line of JSON; `extra={"fields": {…}}` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def to_standard_error(level: str) -> None:
    """Send what everwhen and its web server log to standard error, in one form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("everwhen", "uvicorn", "uvicorn.error", "mcp"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(level.upper())
    logging.getLogger("mcp").setLevel("WARNING")


def say(event: str, level: int = logging.INFO, **fields: Any) -> None:
    log.log(level, event, extra={"fields": fields})


class _Private(RotatingFileHandler):
    """Each file, the new ones after a rotation too, is its owner's alone."""

    def _open(self) -> Any:
        private_file(Path(self.baseFilename))
        return super()._open()


class _Rows(logging.Handler):
    """Each entry is a row of the database; in the file is what could not be written there."""

    def __init__(self, tables: Shared, otherwise: logging.Handler) -> None:
        super().__init__()
        self._tables = tables
        self._otherwise = otherwise
        self._written = 0

    def emit(self, record: logging.LogRecord) -> None:
        values = {"id": uuid.uuid4().hex, "at": record.created, "line": self.format(record)}
        try:
            self._tables.run(
                "INSERT INTO audit (id, at, line) VALUES (:id, to_timestamp(:at), :line) ON CONFLICT DO NOTHING",
                values,
            )
            self._written += 1
            if self._written % TRIMMED == 1:
                self._tables.run(
                    "DELETE FROM audit WHERE at < (SELECT at FROM audit ORDER BY at DESC LIMIT 1 OFFSET :most)",
                    {"most": AUDIT_ENTRIES - 1},
                )
        except Exception as error:
            say("an audit entry stands in the file, not in the database", logging.WARNING, error=str(error))
            self._otherwise.handle(record)


@dataclass
class _Denied:
    """The denied calls of one key in the time that runs: how many more have a line of their own, how many have none."""

    until: float = 0.0
    lines: int = 0
    counted: int = 0


class Audit:
    """`serve/audit.jsonl`, or the table `audit` of a database: when, which key, which bank, what, and how it ended.

    Denied calls are written one by one up to a bound, then counted: whoever knocks all day must not push out what was
    written about others.
    """

    def __init__(
        self,
        folder: Path,
        shared: Shared | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._handler = _Private(
            folder / "audit.jsonl",
            maxBytes=AUDIT_BYTES,
            backupCount=AUDIT_FILES,
            encoding="utf-8",
            delay=True,
        )
        self._handler.setFormatter(JsonLines())
        self._clock = clock
        self._lock = threading.Lock()
        self._denied: dict[str | None, _Denied] = {}
        self.path = folder / "audit.jsonl"
        self._waiting: SimpleQueue[logging.LogRecord] | None = None
        if shared is not None:  # requests do not wait for the database
            rows = _Rows(shared, self._handler)
            rows.setFormatter(JsonLines())
            self._waiting = SimpleQueue()
            self._writing = QueueListener(self._waiting, rows)
            self._writing.start()

    def note(self, event: str, **fields: Any) -> None:
        record = logging.LogRecord("everwhen.audit", logging.INFO, "", 0, event, None, None)
        record.fields = {**fields, "pid": os.getpid()}
        if self._waiting is None:
            self._handler.handle(record)
        else:
            self._waiting.put(record)

    def denied(self, key: str | None, **fields: Any) -> None:
        """A call that was refused to a key, or to somebody without one."""
        now = self._clock()
        with self._lock:
            held = self._denied.setdefault(key, _Denied())
            if now >= held.until:
                self._sum_up(key, held)
                held.until, held.lines = now + INTERVAL, ONE_BY_ONE if key else 1
            if not held.lines:
                held.counted += 1
                return
            held.lines -= 1
        self.note("denied", key=key, **fields)

    def _sum_up(self, key: str | None, held: _Denied) -> None:
        if held.counted:
            self.note("denied", key=key, more=held.counted)
        held.counted = 0

    def close(self) -> None:
        with self._lock:
            for key, held in self._denied.items():
                self._sum_up(key, held)
        if self._waiting is not None:
            self._writing.stop()
        self._handler.close()


# Metrics


class Metrics:
    """What a server has done."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = self._counter("requests", "Requests answered.", "method", "route", "status")
        self.denied = self._counter("denied", "Requests refused to a known key, or without one.", "key")
        self.rate_limited = self._counter("rate_limited", "Requests of keys that ask too often.")
        self.tree_nodes_built = self._counter(
            "tree_nodes_built", "Nodes of memory trees built in the background."
        )
        self.background_failures = self._counter("background_failures", "Background work that failed.")
        self.seconds = Histogram(
            "everwhen_request_seconds", "How long requests took.", ["route"], registry=self._registry
        )

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Something that is read when it is asked for."""
        Gauge(f"everwhen_{name}", text, registry=self._registry).set_function(read)

    def text(self) -> bytes:
        """The exposition format, version 0.0.4."""
        return generate_latest(self._registry)

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"everwhen_{name}", text, labels, registry=self._registry)


# Traces

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
