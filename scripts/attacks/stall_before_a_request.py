"""Without a key: endless request lines and headers, and connections that never send all of them. Who else is answered?

The server may have 1,024 files open. `/healthz` is asked from the same address all the while, on new connections.
"""

from __future__ import annotations

import contextlib
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import httpx
from target import Target, outcome, serving

BYTES = 200_000_000
HALF_SENT = 1_100
FILES = 1_024
PATIENCE = 45.0
"""Seconds after which a half-sent request that is still open counts as one that stays for ever."""
SLOWEST = 5.0
"""Seconds in which `/healthz` must answer. What needs longest is 1,100 connections that come at one moment."""
HALF = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Never: "


def main() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    with ExitStack() as stack:
        target = stack.enter_context(serving())
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * FILES)), hard))
        figures: list[str] = []
        taken, waited = 0, 0.0
        for what, begun in (("request line", b"GET /"), ("header", HALF)):
            with asked_all_the_while(target) as slowest:
                sent = endless(target, begun)
            taken, waited = max(taken, sent), max(waited, slowest[0])
            figures.append(f"{sent / 1e6:.1f} of {BYTES / 1e6:.0f} MB of a {what} taken")
            figures.append(f"/healthz within {slowest[0]:.2f} s")
        with asked_all_the_while(target) as slowest:
            began = time.monotonic()
            half = [stack.enter_context(closing(connection(target, HALF))) for _ in range(HALF_SENT)]
            figures.append(f"{len(half):,} half-sent requests")
            while time.monotonic() - began < PATIENCE and (left := sum(map(is_open, half))):
                half = [one for one in half if is_open(one)]
                time.sleep(0.5)
            figures.append(f"{left} open after {time.monotonic() - began:.0f} s")
        figures.append(f"/healthz within {slowest[0]:.2f} s")
    held = taken < BYTES / 10 and max(waited, slowest[0]) < SLOWEST and not left
    return outcome(held, "; ".join(figures))


@contextmanager
def asked_all_the_while(target: Target) -> Iterator[list[float]]:
    """The slowest answer of `/healthz` while the block runs; one that fails counts as one that took all the time."""
    slowest = [0.0]
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            began = time.monotonic()
            try:
                httpx.get(f"{target.url}/healthz", timeout=PATIENCE, trust_env=False).raise_for_status()
                took = time.monotonic() - began
            except httpx.HTTPError:
                took = PATIENCE
            slowest[0] = max(slowest[0], took)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield slowest
    finally:
        over.set()
        asking.join()


def connection(target: Target, said: bytes) -> socket.socket:
    url = httpx.URL(target.url)
    sock = socket.create_connection((url.host, url.port or 80), PATIENCE)
    sock.sendall(said)
    return sock


def endless(target: Target, begun: bytes) -> int:
    """How many bytes the server takes of what never ends."""
    sent = 0
    with closing(connection(target, begun)) as sock, contextlib.suppress(OSError):
        while sent < BYTES:
            sock.sendall(b"a" * 100_000)
            sent += 100_000
    return sent


def is_open(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        sock.recv(1, socket.MSG_PEEK)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False


if __name__ == "__main__":
    raise SystemExit(main())
