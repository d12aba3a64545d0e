"""A server of our own to attack: started on a free loopback port over a temporary home, stopped at the end.

Every attack beside this file is one script with one outcome. It prints one line, `held` or `broken` with its figures,
and exits 0 or 1. It never sends anything to another address than 127.0.0.1, and ends by itself.

    python scripts/attacks/<name>.py
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

START_SECONDS = 120.0
STOP_SECONDS = 60.0
EXTRACTION_SECONDS = 300.0


@dataclass(frozen=True)
class Target:
    """A running server and the home that it serves."""

    url: str
    home: Path
    process: int

    def key(self, scope: str = "write", banks: str = "*") -> str:
        """A new key for some banks (names or patterns, parted by commas), or for all."""
        from everwhen.serve.auth import KeyStore
        from everwhen.serve.server_settings import ServerSettings

        book = KeyStore(ServerSettings(self.home).folder)
        try:
            return book.create(scope, banks)[1]
        finally:
            book.close()

    def client(self, key: str, timeout: float = 120.0) -> httpx.Client:
        """A connection that sends this key and goes past any proxy."""
        return httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=timeout, trust_env=False
        )

    def memory_mb(self) -> float:
        """What the server holds in memory now (Linux)."""
        return _status(self.process, "VmRSS")

    def peak_mb(self) -> float:
        """The most it ever held (Linux)."""
        return _status(self.process, "VmHWM")


@contextmanager
def serving(*options: str, environment: Mapping[str, str] | None = None) -> Iterator[Target]:
    """`everwhen serve` with these options, ready to answer."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "everwhen", "serve", "--port", str(port), *options]
        process = subprocess.Popen(
            command,
            env={**os.environ, **(environment or {}), "EVERWHEN_HOME": str(home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        target = Target(f"http://127.0.0.1:{port}", home, process.pid)
        try:
            _wait_until_ready(target, process)
            yield target
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)


def wait_for_extraction(http: httpx.Client, bank: str) -> None:
    """Until all turns of a bank are read. One call waits a while for that, and then says 503."""
    end = time.monotonic() + EXTRACTION_SECONDS
    answer = http.post(f"/v1/banks/{bank}/process")
    while answer.status_code == 503 and time.monotonic() < end:
        answer = http.post(f"/v1/banks/{bank}/process")
    answer.raise_for_status()


def outcome(held: bool, figures: str) -> int:
    """Print the one line that a reader wants, and give the exit code for it."""
    print(f"{'held' if held else 'broken'}: {figures}", flush=True)
    return 0 if held else 1


def _wait_until_ready(target: Target, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with code {process.returncode} before it was ready")
        try:
            if httpx.get(f"{target.url}/readyz", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise SystemExit(f"the server was not ready after {START_SECONDS:g} s")


def _status(process: int, field: str) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"{field} is not known on this system")
