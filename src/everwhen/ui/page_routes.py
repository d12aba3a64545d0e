"""The addresses: `/ui/` leads to a bank, `/ui/{bank}/{page}` shows one."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from everwhen.errors import EverwhenError
from everwhen.serve.responses import Problem
from everwhen.store.files.home import BANK_NAME
from everwhen.ui.layout import PAGES, Layout
from everwhen.ui.page_auth import MOUNT, Visitor, plain_page
from everwhen.ui.page_session import PageSession

FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="14" fill="#0f6f68"/>'
    '<path d="M16 8v8l6 4" stroke="#fff" stroke-width="3" fill="none" stroke-linecap="round"/></svg>'
)
FIRST = "default"
"""The bank that is offered where there is none yet."""


def register() -> None:
    """Put the pages on NiceGUI's application; once a process."""
    ui.page("/")(_entrance)
    ui.page("/{bank}")(_bank)
    # A large bank takes a while to open: NiceGUI would give up on the page after three seconds.
    ui.page("/{bank}/{page}", reconnect_timeout=30.0, response_timeout=120.0)(_page)


def _entrance(request: Request) -> Response:
    """The first bank that the key may read, or the one that it could make."""
    visitor: Visitor = request.state.visitor
    caller = visitor.caller()
    banks = PageSession(visitor, FIRST).banks()
    if banks:
        return RedirectResponse(f"{MOUNT}/{quote(banks[0])}/overview", 303)
    named = next((pattern for pattern in caller.banks if "*" not in pattern), FIRST)
    return RedirectResponse(f"{MOUNT}/{quote(named)}/import", 303)


def _bank(bank: str) -> Response:
    return RedirectResponse(f"{MOUNT}/{quote(bank)}/overview", 303)


async def _page(request: Request, bank: str, page: str) -> Response | None:
    visitor: Visitor = request.state.visitor
    session = PageSession(visitor, bank)
    try:
        if not BANK_NAME.fullmatch(bank) or page not in PAGES:
            raise Problem(404, "There is nothing at this address.", "NotFound")
        await session.look()
    except Problem as problem:
        return _told(str(problem.detail), problem.status_code)
    except EverwhenError as error:
        return _told(str(error), 500)
    asked = dict(request.query_params)
    session.as_of = session.end_of(asked.pop("as_of", None))
    shell = Layout(session, page, theme=request.cookies.get("everwhen_theme", ""))
    shell.build(asked)
    await ui.context.client.connected(timeout=30.0)
    await shell.begin()
    return None


def _told(sentence: str, status: int) -> Response:
    """No page, and one sentence why."""
    return plain_page(
        "everwhen",
        f'<h1>Not here</h1><p role="alert">{escape(sentence[:1].upper() + sentence[1:])}</p>'
        f'<p><a class="press" href="{MOUNT}/">Back to your banks</a></p>'
        f'<form method="post" action="{MOUNT}/logout"><button class="press plain">Use another key</button></form>',
        status,
    )
