"""JSON requests to a model's server, sent again after a pause while it is busy, failing or silent."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from everwhen.errors import ModelError

if TYPE_CHECKING:
    import httpx


@dataclass
class ModelServer:
    """Threads share its connection, which the first request opens."""

    base_url: str
    key: str | None
    model: str
    """The setting that names it, for errors."""
    timeout: float
    attempts: int
    first_pause: float
    """Seconds; each further pause is twice as long, give or take a quarter, unless the server asks for another."""
    longest_pause: float
    advice: str
    """What to do when no attempt is answered."""
    timeout_advice: str = ""
    key_advice: str = ""
    """How to get a key, where the server answers nobody without one."""
    _opened: httpx.Client | None = field(default=None, init=False)
    _opening: threading.Lock = field(default_factory=threading.Lock, init=False)

    def post(self, path: str, body: dict[str, object]) -> httpx.Response:
        """A success, or a refusal that would be the same the next time."""
        client = self._client()
        import httpx

        for attempt in range(1, self.attempts + 1):
            pause = self.first_pause * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
            try:
                response = client.post(self.base_url + path, json=body)
            except httpx.TimeoutException:
                problem = f"did not answer within {self.timeout:g} s{self.timeout_advice}"
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                problem = f"cannot be reached ({error})"
            else:
                if response.status_code != 429 and response.status_code < 500:
                    return response
                problem = f"answered with status {response.status_code}"
                pause = _asked_pause(response, pause)
            if attempt < self.attempts:
                time.sleep(min(self.longest_pause, pause))
        raise ModelError(f"{self.base_url} {problem}, {self.attempts} times; {self.advice}")

    def read(self, response: httpx.Response) -> Any:
        """What a success holds; `None` if that is no JSON."""
        if not response.is_success:
            raise ModelError(
                f"{self.base_url} refused the request (status {response.status_code}): {response.text[:300]}"
            )
        try:
            return response.json()
        except ValueError:
            return None

    def _client(self) -> httpx.Client:
        try:
            import httpx
        except ImportError as error:
            raise ModelError(f"{self.model} needs httpx: pip install 'everwhen[llm]'") from error
        if self.key_advice and not self.key:
            raise ModelError(f"{self.model} needs a key: {self.key_advice}")
        if self.key and not (self.key.isascii() and self.key.isprintable()):
            raise ModelError(f"the key for {self.base_url} has characters that no key has; copy it again")
        with self._opening:
            if self._opened is None:
                headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
                self._opened = httpx.Client(headers=headers, timeout=self.timeout)
        return self._opened


def is_address(url: str) -> bool:
    """Whether a server can be there: HTTP, a host, and no port beyond 65535."""
    try:
        parts = urlsplit(url)
        fits = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return (
        fits
        and parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and url.isprintable()
        and " " not in url
    )


def sendable(text: str) -> str:
    """JSON has no lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def _asked_pause(response: httpx.Response, otherwise: float) -> float:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return otherwise
