"""Who looks at the page: signing in with a key, and what every request and socket under `/ui` has to show.

The key travels once, in the body of the form. The browser then holds the number of a session in a cookie that no script
can read and no other site can send; the key itself stays in the server's memory, and is checked like that
of any request each time something is asked for: a key that is revoked is out at once.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from everwhen.serve.auth import Key
from everwhen.serve.responses import Problem, handle_http_error
from everwhen.serve.state import ServerState

MOST_SESSIONS = 1000
"""Who is signed in; beyond that the one that was idle longest goes."""
SESSION_HOURS = 12.0
"""How long somebody stays signed in who does nothing."""
COOKIE = "everwhen_session"
MOUNT = "/ui"
_HERE = Path(__file__).parent
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
)
"""The browser itself lets the page reach nobody else. Vue compiles its templates, hence `unsafe-eval`."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with none at all, browsers send the form's origin as null
}

LASTING = "private, max-age=31536000, immutable"
_ASSET = re.compile(rf"{MOUNT}/_nicegui/[^/]+/(static|libraries|components|resources|esm)/")
"""Files whose address has NiceGUI's version in it; everything else shows a memory, and is kept nowhere."""


class Sessions:
    """Who is signed in: the number in the cookie, and the key it stands for. Gone with the process."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, token: str) -> str:
        number = secrets.token_urlsafe(32)
        with self._lock:
            self._held[number] = (token, time.monotonic())
            while len(self._held) > MOST_SESSIONS:
                self._held.popitem(last=False)
        return number

    def token(self, number: str | None) -> str | None:
        """The key of a session that is open still."""
        if number is None:
            return None
        with self._lock:
            token, used = self._held.pop(number, (None, 0.0))
            if token is None or time.monotonic() - used > SESSION_HOURS * 3600:
                return None
            self._held[number] = (token, time.monotonic())
        return token

    def close(self, number: str | None) -> None:
        with self._lock:
            self._held.pop(number or "", None)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody with the page open."""

    state: ServerState
    sessions: Sessions
    session: str | None
    host: str

    def caller(self) -> Key:
        """The key behind it, as the server knows it now; raises a problem when it is none any more."""
        shown = {"host": self.host}
        token = self.sessions.token(self.session)
        if token is not None:
            shown["authorization"] = f"Bearer {token}"
        return self.state.auth.caller(Headers(shown))

    @property
    def signed_in(self) -> bool:
        return self.sessions.token(self.session) is not None


class PageAuth:
    """What stands before the page. `admitted` says who comes in; all else is answered here."""

    def __init__(self, state: ServerState) -> None:
        self._state = state
        self.sessions = Sessions()

    async def admitted(self, scope: Scope, receive: Receive, send: Send) -> Visitor | None:
        """Who asks, or None when the request was answered or the socket turned away."""
        connection = HTTPConnection(scope)
        path = scope["path"].removeprefix(MOUNT)
        host = connection.headers.get("host", "")
        visitor = Visitor(self._state, self.sessions, connection.cookies.get(_cookie(host)), host)
        try:
            _same_origin(connection.headers)
            if scope["type"] == "http" and path in ("/login", "/logout"):
                await (await self._sign(Request(scope, receive), path, visitor))(scope, receive, send)
                return None
            caller = visitor.caller()
            if self._state.buckets.take(caller.id):
                self._state.metrics.rate_limited.inc()
                often = "this key asks too often; wait a second"
                raise Problem(429, often, "Unavailable", {"Retry-After": "1"})
        except Problem as problem:
            await self.turn_away(problem, scope, receive, send)
            return None
        scope.setdefault("state", {})["caller"] = caller
        if scope["type"] == "http" and not self._state.ready.is_set():
            await _waiting(self._state.problem)(scope, receive, send)
            return None
        return visitor

    async def _sign(self, request: Request, path: str, visitor: Visitor) -> Response:
        if path == "/logout":
            if request.method != "POST":
                return RedirectResponse(f"{MOUNT}/", 303)
            self.sessions.close(visitor.session)
            answer: Response = RedirectResponse(f"{MOUNT}/login", 303)
            answer.delete_cookie(_cookie(visitor.host), path=MOUNT)
            return answer
        if request.method != "POST":
            try:
                visitor.caller()
            except Problem:  # this server wants a key, and the visitor has none yet
                return _form()
            return RedirectResponse(f"{MOUNT}/", 303)
        given = parse_qs((await request.body()).decode("utf-8", "replace")).get("key", [""])[0].strip()
        number = self.sessions.open(given)
        try:
            Visitor(self._state, self.sessions, number, visitor.host).caller()
        except Problem as problem:
            self.sessions.close(number)
            said = "This key is not known, or was revoked." if given else "Paste your key first."
            return _form(said if problem.status_code == 401 else str(problem.detail), problem.status_code)
        self.sessions.close(visitor.session)
        answer = RedirectResponse(f"{MOUNT}/", 303)
        answer.set_cookie(
            _cookie(visitor.host),
            number,
            path=MOUNT,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer

    async def turn_away(self, problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
        """Say why not. A socket hears it before it is accepted: the browser hears 403, and no frame is read."""
        if scope["type"] == "websocket":
            self._state.audit.denied(None, route=f"{MOUNT} socket", status=403)
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope, receive)
        wants_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if problem.status_code == 401 and wants_page:
            await RedirectResponse(f"{MOUNT}/login", 303)(scope, receive, send)
        else:
            await handle_http_error(request, problem)(scope, receive, send)


def sealed(scope: Scope, send: Send) -> Send:
    """The same answers, with what the browser is to hold the page to, and how long it may keep them."""
    lasting = _ASSET.match(scope["path"]) is not None

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers["Cache-Control"] = LASTING if lasting and message["status"] == 200 else "no-store"
        await send(message)

    return with_headers


def plain_page(title: str, inside: str, status: int = 200) -> HTMLResponse:
    """A page that needs no script: signing in, waiting, a refusal."""
    style = (_HERE / "style.css").read_text(encoding="utf-8")
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<style>{style}</style></head><body class="plain"><main class="sheet">'
        f'<p class="brand"><span class="dot"></span>everwhen</p>{inside}</main></body></html>',
        status,
    )


def _form(problem: str | None = None, status: int = 200) -> HTMLResponse:
    said = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
    return plain_page(
        "Sign in · everwhen",
        "<h1>Sign in</h1><p>Paste an API key to see the banks it is for. "
        "<code>everwhen server keys create --scope read</code> makes one.</p>"
        f'{said}<form method="post" action="{MOUNT}/login"><label for="key">API key</label>'
        '<input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required autofocus '
        'placeholder="ew_…"><button type="submit" class="press strong">Sign in</button></form>'
        '<p class="faint">The key is sent once and kept in the server’s memory; '
        "your browser keeps a session cookie only.</p>",
        status,
    )


def _waiting(problem: str | None) -> Response:
    if problem:
        return plain_page("everwhen", f"<h1>Not ready</h1><p>{escape(problem)}</p>", 503)
    said = "<h1>One moment</h1><p>The memory is being opened; this page asks again by itself.</p>"
    answer = plain_page("everwhen", said, 503)
    answer.headers.update({"Refresh": "1", "Retry-After": "1"})
    return answer


def _cookie(host: str) -> str:
    """A name for each server of a machine: cookies do not tell ports apart."""
    port = urlsplit(f"//{host}").netloc.rpartition(":")[2]
    return f"{COOKIE}_{port}" if port.isdecimal() else COOKIE


def _same_origin(headers: Headers) -> None:
    """Another port of this machine is the same site to a cookie, so the origin is looked at as well."""
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
        raise Problem(403, "this page answers to itself only, and the request comes from another one")
