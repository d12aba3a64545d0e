"""Who asks: the key of a request, whether it may do what it asks for, and how often."""

from __future__ import annotations

import hmac
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from everwhen.serve.discovery import RunningServer
from everwhen.serve.keys import Key, KeyStore, Scope
from everwhen.serve.problems import Problem

_START = datetime.now(UTC)
ANYBODY = Key("anybody", "loopback without a key", "admin", ("*",), _START)
"""Whoever asks a server that was started without keys, which it can be on loopback only."""
LOCAL = Key("local", "a process of this machine's user", "admin", ("*",), _START)
"""Whoever has read the note of the running server."""


@dataclass
class Authenticator:
    """Decides who a caller is."""

    keys: KeyStore
    auth: bool
    announced: RunningServer | None = None

    def caller(self, headers: Headers) -> Key:
        """The key that a request came with; raises a problem when it is none."""
        if not self.auth:
            self._same_machine(headers)
        token = _bearer(headers)
        if token is None:
            if not self.auth:
                return ANYBODY
            raise _unknown(
                "a key is needed: send `Authorization: Bearer <key>` (`everwhen server keys create`)"
            )
        if self.announced and hmac.compare_digest(
            token.encode("utf-8", "replace"), self.announced.token.encode()
        ):
            return LOCAL
        key = self.keys.find(token)
        if key is None:
            raise _unknown(
                "this key is not known, or was revoked; `everwhen server keys list` shows those that are"
            )
        return key

    @staticmethod
    def _same_machine(headers: Headers) -> None:
        """Without keys, a web page of somebody else must not reach us through the user's browser."""
        origin = headers.get("origin")
        for host in (headers.get("host", ""), urlsplit(origin).netloc if origin is not None else None):
            if host is not None and not is_loopback(_without_port(host)):
                raise Problem(403, "this server answers to this machine only; ask it as localhost")


def admit(key: Key, scope: Scope, bank: str) -> None:
    """Raise a problem unless the key has the scope in the bank. What is in the bank is not looked at."""
    if not key.reaches(bank):
        raise Problem(403, "this key is for other banks")
    if not key.allows(scope, bank):
        raise Problem(403, f"this key may only {key.scope}; this needs the scope {scope}")


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _bearer(headers: Headers) -> str | None:
    given = headers.get("authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise _unknown("the key belongs into `Authorization: Bearer <key>`")
    return token.strip()


def _unknown(sentence: str) -> Problem:
    return Problem(401, sentence, headers={"WWW-Authenticate": "Bearer"})


MOST_KEYS = 10_000
"""Buckets that are remembered; the one used longest ago goes first, and would be full again by then."""


@dataclass
class RateLimits:
    """`tokens = min(burst, tokens + rate * seconds)`; a request takes one. Used from the event loop alone.

    Processes that share a load share the rate: each allows its part (`processes` says how many there are now).
    """

    rate: float
    burst: int
    clock: Callable[[], float] = time.monotonic
    processes: Callable[[], int] = lambda: 1
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, key: str) -> float:
        """0 when the request may go on, else the seconds after which the next one may."""
        now = self.clock()
        processes = self.processes()
        rate, burst = self.rate / processes, max(1.0, self.burst / processes)
        level, since = self._levels.pop(key, (burst, now))
        level = min(burst, level + rate * (now - since))
        allowed = level >= 1
        self._levels[key] = (level - 1 if allowed else level, now)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)
        return 0.0 if allowed else (1 - level) / rate
