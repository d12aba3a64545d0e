"""Connections that never come to a request: bounded in size, in number of headers, in time, and for each address."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import httpx
import pytest

from everwhen.serve.connections import bounded
from everwhen.serve.server_settings import ServerSettings
from tests.serve.conftest import Served, serving, until

HALF = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@contextmanager
def connected(served: Served, said: bytes = b"", source: str = "127.0.0.1") -> Iterator[socket.socket]:
    with closing(socket.create_connection(served.address, 30, (source, 0))) as sock:
        sock.sendall(said)
        yield sock


def answered(sock: socket.socket) -> bytes:
    """All that comes until the server closes."""
    pieces = []
    try:
        while piece := sock.recv(65536):
            pieces.append(piece)
    except ConnectionResetError:
        pass
    return b"".join(pieces)


def is_open(sock: socket.socket) -> bool:
    """Whether nothing was said, and nobody hung up."""
    sock.setblocking(False)
    try:
        sock.recv(1, socket.MSG_PEEK)
        return False
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False
    finally:
        sock.settimeout(30)


def is_well(served: Served) -> bool:
    return httpx.get(f"{served.url}/healthz", trust_env=False).json() == {"status": "ok"}


def sent_in_full(sock: socket.socket, piece: bytes, most: int) -> int:
    """How many bytes the server takes before it closes."""
    sent = 0
    try:
        while sent < most:
            sock.sendall(piece)
            sent += len(piece)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return sent


@pytest.mark.parametrize(
    ("begun", "endless"),
    [
        (b"GET /", b"a" * 65536),
        (HALF + b"X-Long: ", b"a" * 65536),
        (HALF, b"X-Many: 1\r\n" * 6000),
    ],
    ids=["request line", "one header", "many headers"],
)
def test_a_request_line_and_headers_without_end_are_given_up_early(
    served: Served, begun: bytes, endless: bytes
) -> None:
    with connected(served, begun) as sock:
        assert sent_in_full(sock, endless, 50_000_000) < 20_000_000  # what the kernel's buffers took
    assert is_well(served)


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        HALF + b"X-Long: " + b"a" * 3000 + b"\r\n\r\n",
        HALF + b"X: 1\r\n" * 30 + b"\r\n",
        HALF + b"X-Long: " + b"a" * 3000,
    ],
    ids=["request line", "one header", "many headers", "not whole"],
)
def test_headers_beyond_their_bounds_are_refused_in_one_sentence(
    settings: ServerSettings, request_: bytes
) -> None:
    with (
        serving(replace(settings, largest_headers=2000, most_headers=20)) as served,
        connected(served, request_) as sock,
    ):
        said = answered(sock)
    assert said.startswith(b"HTTP/1.1 431 ") and b"application/problem+json" in said
    assert b"larger than 2,000 bytes, or more than 20 headers" in said


def test_what_is_no_http_is_told_so(served: Served) -> None:
    with connected(served, b"\x16\x03\x01 hello\r\n\r\n") as sock:
        said = answered(sock)
    assert said.startswith(b"HTTP/1.1 400 ") and b"this is no HTTP request" in said


def test_headers_that_do_not_come_in_time_get_408_on_a_connection_of_any_age(
    settings: ServerSettings,
) -> None:
    with serving(replace(settings, headers_seconds=0.3, idle_seconds=0.3)) as served, ExitStack() as stack:
        silent = stack.enter_context(connected(served))
        half = stack.enter_context(connected(served, HALF))
        used = stack.enter_context(connected(served, HALF + b"\r\n"))
        assert b"200 OK" in used.recv(65536)
        used.sendall(HALF)
        assert answered(silent) == b""
        for sock in (half, used):
            said = answered(sock)
            assert said.startswith(b"HTTP/1.1 408 ") and b"took too long" in said


def test_drops_that_follow_a_refusal_hold_no_connection(settings: ServerSettings) -> None:
    """A body that nobody reads any more, a byte at a time."""
    post = b"POST /v1/banks/a/turns HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"
    with serving(replace(settings, idle_seconds=0.3)) as served, connected(served, post) as sock:
        assert b" 401 " in sock.recv(65536)
        sock.sendall(b"x")
        assert answered(sock) == b""


def test_a_connection_that_waits_for_its_next_request_is_not_late(settings: ServerSettings) -> None:
    with serving(replace(settings, headers_seconds=0.3)) as served, connected(served, HALF + b"\r\n") as idle:
        assert b"200 OK" in idle.recv(65536)
        with connected(served, HALF) as late:  # which came after it, and tells the time
            assert b" 408 " in answered(late)
        assert is_open(idle)
        idle.sendall(HALF + b"\r\n")
        assert b"200 OK" in idle.recv(65536)


def test_one_address_keeps_the_newest_of_its_connections_and_leaves_the_others_alone(
    settings: ServerSettings,
) -> None:
    """1,100 half-sent requests: the server answers that address and every other."""
    with serving(replace(settings, connections_per_address=20)) as served, ExitStack() as stack:
        other = stack.enter_context(connected(served, HALF, "127.0.0.2"))
        half = [stack.enter_context(connected(served, HALF)) for _ in range(1100)]
        assert is_well(served)
        assert len(served.server.server_state.connections) <= 21
        assert b"too many connections are open" in answered(half[0])
        assert is_open(half[-1]) and is_open(other)
        other.sendall(b"\r\n")
        assert b"200 OK" in other.recv(65536)


def test_beyond_all_connections_the_address_with_the_most_makes_room(settings: ServerSettings) -> None:
    few = replace(settings, connections=20, connections_per_address=0)
    with serving(few) as served, ExitStack() as stack:
        first = stack.enter_context(connected(served, HALF, "127.0.0.2"))
        half = [stack.enter_context(connected(served, HALF)) for _ in range(60)]
        assert is_well(served) and len(served.server.server_state.connections) <= 20
        assert is_open(first) and not is_open(half[0])


def test_a_request_that_is_being_answered_never_makes_room(settings: ServerSettings) -> None:
    """A reverse proxy is one address: what it asks is answered, whatever else it opens."""
    with serving(replace(settings, connections_per_address=3)) as served, served.client() as http:
        body = b'{"messages": "I play the violin"}'
        head = (
            "POST /v1/banks/ana/turns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Authorization: {http.headers['Authorization']}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        with connected(served, head.encode()) as sock, ExitStack() as stack:
            until(lambda: len(served.server.server_state.tasks) == 1)
            for _ in range(30):
                stack.enter_context(connected(served, HALF))
            assert is_well(served)
            sock.sendall(body)
            assert b" 201 " in sock.recv(65536)


def test_half_of_the_files_that_may_be_open_are_for_connections(settings: ServerSettings) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        (bound,) = bounded(settings).args  # type: ignore[attr-defined]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert bound.connections == 256
