"""What can be set for a server, the note by which others find one that runs, and what the extra `serve` brings."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from everwhen.errors import Unavailable
from everwhen.store.files.home import is_running
from everwhen.store.files.private import write_private

ENVIRONMENT = "EVERWHEN_SERVING"
"""Where the settings are handed to worker processes, as JSON."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server serves. The defaults suit one machine with a handful of agents."""

    home: Path
    store: str | None = None
    """The PostgreSQL database that holds the banks; None is the home folder."""
    host: str = "127.0.0.1"
    port: int = 8765
    auth: bool = True
    """False only on loopback, and only when a person says so."""
    workers: int = 1
    threads: int = 0
    """Calls of `Memory` at a time; 0 is two for each core, at least four."""
    open_banks: int = 32
    """Banks that stay open; each holds its search index in memory."""

    rate: float = 200.0
    """Requests a second that one key may send on average …"""
    burst: int = 2000
    """… and at once."""
    largest_body: int = 8_000_000
    """Bytes of a request; a single message may have five million (`ingest.messages.LARGEST_TEXT`)."""
    largest_import: int = 4_000_000_000
    """Bytes of an export that comes in parts, or of an uploaded file once unpacked: nobody fills the disk unasked."""
    body_seconds: float = 20.0
    """How long a request may take to arrive: a slow client must not hold a place for ever."""
    largest_headers: int = 65_536
    """Bytes of a request line and its headers."""
    most_headers: int = 100
    headers_seconds: float = 10.0
    """How long they may take to arrive on a new connection …"""
    idle_seconds: float = 30.0
    """… and on one that is kept, counted from the last answer."""
    connections: int = 4000
    """Connections at a time, and at most half of the files that the process may have open. For one that is too many,
    the one that has waited longest for a request is closed."""
    connections_per_address: int = 1000
    """The same for one address, so that no other machine takes all. A reverse proxy is one address; 0 is no bound."""

    page: int = 100
    """Entries of a list that are given at once unless `limit` says otherwise."""

    shutdown_seconds: int = 30
    """How long requests that are being answered may go on after SIGTERM."""
    background_seconds: float = 5.0
    """How often extraction that was left behind is looked for."""
    retry_seconds: float = 300.0
    """The longest pause between two attempts at background work that fails."""
    consolidate_seconds: float = 60.0
    """The shortest time between two looks at one bank's memory tree; 0 leaves trees to `consolidate`."""
    remember_hours: float = 24.0
    """How long the answer to an idempotency key is kept."""
    log_level: str = "info"

    @property
    def calls_at_a_time(self) -> int:
        return self.threads or max(4, 2 * (os.cpu_count() or 2))

    @property
    def folder(self) -> Path:
        """Where the server keeps its own files: keys, answers by idempotency key, the audit log."""
        return self.home / "serve"

    def to_environment(self) -> str:
        return json.dumps({**asdict(self), "home": str(self.home)})

    @classmethod
    def from_environment(cls) -> ServerSettings:
        given = json.loads(os.environ[ENVIRONMENT])
        return cls(**{**given, "home": Path(given["home"])})


# The note of a running server

FILE = "running.json"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server on this machine."""

    url: str
    pid: int
    token: str


def announce(folder: Path, url: str) -> RunningServer:
    running = RunningServer(url, os.getpid(), f"local_{secrets.token_urlsafe(32)}")
    write_private(folder / FILE, json.dumps(asdict(running)))
    return running


def running(folder: Path) -> RunningServer | None:
    """The server that left the note, while its process lives."""
    try:
        found = RunningServer(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if is_running(found.pid) else None


def withdraw(folder: Path, announced: RunningServer) -> None:
    """Take the note away, unless another server has left its own."""
    if running(folder) == announced:
        (folder / FILE).unlink(missing_ok=True)


def need(*packages: str, extra: str = "serve") -> None:
    """Raise one sentence with the command that installs what is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise Unavailable(
            f"this needs {', '.join(missing)}; install it with: pip install 'everwhen[{extra}]'"
        )
