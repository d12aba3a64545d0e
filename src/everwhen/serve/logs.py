"""Structured logs, one JSON object a line; the audit log of writes, deletes and denied calls. No content in either."""

from __future__ import annotations

import json
import logging
import os
import sys
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from everwhen.serve.private import private_file

AUDIT_BYTES, AUDIT_FILES = 10_000_000, 5
"""The audit log is bounded: someone who knocks all day must not fill the disk."""

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


class Audit:
    """`serve/audit.jsonl`: when, which key, which bank, what, and how it ended."""

    def __init__(self, folder: Path) -> None:
        self._handler = _Private(
            folder / "audit.jsonl",
            maxBytes=AUDIT_BYTES,
            backupCount=AUDIT_FILES,
            encoding="utf-8",
            delay=True,
        )
        self._handler.setFormatter(JsonLines())
        self.path = folder / "audit.jsonl"

    def note(self, event: str, **fields: Any) -> None:
        record = logging.LogRecord("everwhen.audit", logging.INFO, "", 0, event, None, None)
        record.fields = {**fields, "pid": os.getpid()}
        self._handler.handle(record)

    def close(self) -> None:
        self._handler.close()
