"""The note that a running server leaves in the home folder, so that `everwhen server mcp` finds it and loads no model.

It holds a token that is good for every bank while the server runs. Whoever can read the note can read the banks'
files too: it gives away nothing.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from everwhen.store.files.private import write_private
from everwhen.store.files.processes import is_running

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
