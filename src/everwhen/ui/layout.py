"""The frame around the pages: banks, the slider through time, the rail, light and dark, who redraws what when; and the
addresses, `/ui/` that leads to a bank and `/ui/{bank}/{page}` that shows one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from nicegui import context, ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from everwhen.errors import EverwhenError, UsageError
from everwhen.serve.middleware import say_bug
from everwhen.serve.responses import Problem
from everwhen.store.files.home import BANK_NAME
from everwhen.ui.auth import MOUNT, Visitor, plain_page
from everwhen.ui.components import block, day, dialog, empty, heading, markup, press, said
from everwhen.ui.page import UIPage
from everwhen.ui.pages.entities import Entities
from everwhen.ui.pages.overview import Importing, Overview
from everwhen.ui.pages.recall import Conversations, Explorer
from everwhen.ui.pages.timeline import FactBars, Timeline
from everwhen.ui.pages.tree import MemoryMap, TreeBrowser
from everwhen.ui.session import PageSession

PAGES: dict[str, type[UIPage]] = {
    page.name: page
    for page in (
        Overview, Explorer, Timeline, Conversations, FactBars, Entities, TreeBrowser, MemoryMap, Importing,
    )
}  # fmt: skip
THROTTLE = 0.15
"""Seconds between two positions of the slider that are looked at while it moves."""
FOLLOWED_HERE = (
    "(event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; "
    "event.preventDefault(); emit(); }"
)
"""A link that is followed without loading the page anew, unless another tab is asked for."""
_HERE = Path(__file__).parent


class Layout:
    """One browser tab."""

    def __init__(self, session: PageSession, page: str, theme: str = "") -> None:
        self.session = session
        self._shown = PAGES[page](session, self, {})
        self._theme = {"dark": True, "light": False}.get(theme)
        self._drawing = 0
        self._headed: tuple[str, datetime | None] | None = None
        self._begun: asyncio.Future[tuple[Any, str]] | None = None
        self._links: dict[str, Element] = {}

    # The frame

    def build(self, asked: Mapping[str, str]) -> None:
        """The frame with the first page's heading and controls, which the browser gets at once; what the page shows is
        being read while the browser still loads its scripts."""
        self._client = context.client
        ui.dark_mode(self._theme)
        green = "#0f6f68"
        ui.colors(primary=green, negative="#a5322a", positive=green, dark="#1f1e1a", dark_page="#161512")
        ui.add_css((_HERE / "style.css").read_text(encoding="utf-8"))
        ui.add_head_html(f"<script>{(_HERE / 'page.js').read_text(encoding='utf-8')}</script>")
        ui.on("everwhen_address", self._gone_back)
        # NiceGUI's page is the one <main> already: what stands around it is put before it.
        main = self._client.content.parent_slot
        assert main is not None
        main.parent.props("id=main tabindex=-1")
        with self._client.layout:
            with block("a", "skip", "href=#main") as skip:
                said("Skip to the page", tag="span")
            for place, part in enumerate((skip, self._top(), self._rail())):
                part.move(target_index=place)
        with block("div", "page"):
            self._head = block("div")
            self._tools = block("div")
            self._busy = block("div", "busy", "aria-hidden=true")
            self._area = block("div", "", "id=area aria-live=polite")
        self._turned(self._shown.name, asked)
        self._begun = asyncio.ensure_future(self._read(self._shown))

    def _top(self) -> Element:
        session = self.session
        with block("header", "top") as top:
            with block("div", "brand"):
                block("span", "dot", "aria-hidden=true")
                said("everwhen", "name", "span")
            names = session.banks()
            shown = names if session.bank in names else [session.bank, *names]
            ui.select(shown, value=session.bank, on_change=lambda event: self._other_bank(event.value)).props(
                'outlined dense options-dense behavior=menu aria-label="Bank" data-testid=bank'
            ).style("min-width: 8.5rem; max-width: 12rem")
            if session.may("write"):
                press("", self._new_bank, "plain icon", icon="add", hint="New bank")
            self._slider()
            theme = partial(self._run, "everwhenTheme()")
            press("", theme, "plain icon", icon="contrast", hint="Light or dark")
            if session.visitor.signed_in:
                press("", self._sign_out, "plain icon", icon="logout", hint="Sign out")
        return top

    def _slider(self) -> None:
        days = self.session.days()
        with block("div", "asof") as self._asof:
            if days is None:
                return
            said(day(days[0]), "from", "span")
            slider = block("input", "", f"type=range id=as-of min=0 max={days[1]} step=1")
            slider.props["aria-label"] = "Show the memory as of this day; the right end is now"
            emit = "(event) => emit(event.target.value)"
            slider.on("input", self._moved, js_handler=emit, throttle=THROTTLE)
            self._when = said("", "when", "output")
            self._now = press("Now", self._to_now, "plain", hint="Back to now")
        self._say_when()

    def _place_slider(self) -> None:
        """Put the handle where the page looks from. A value among the element's own properties would be put back, with
        the handle, each time the browser draws it again."""
        days, as_of = self.session.days(), self.session.as_of
        place = days[1] if days else 0
        if days and as_of is not None:
            place = (self.session.local(as_of).date() - days[0].date()).days - 1
        self._run(f'const it = document.getElementById("as-of"); if (it) it.value = {place}')

    def _say_when(self) -> None:
        as_of = self.session.as_of
        words = "as of now" if as_of is None else day(self.session.local(as_of), before=True)
        self._when.set_content(escape(words))
        self._asof.classes(add="past" if as_of else "", remove="" if as_of else "past")
        self._now.set_visibility(as_of is not None)

    def _rail(self) -> Element:
        with block("nav", "rail", 'aria-label="Pages"') as rail:
            for number, (name, page) in enumerate(PAGES.items(), start=1):
                link = block("a", "", f"data-page={name}")
                link.props["href"] = f"{MOUNT}/{quote(self.session.bank)}/{name}"
                with link:
                    ui.icon(page.icon).props("aria-hidden=true")
                    said(page.title, tag="span")
                    said(str(number), tag="kbd").props("aria-hidden=true")
                self._links[name] = link.on("click", partial(self.turn_to, name), js_handler=FOLLOWED_HERE)
            markup(
                "<kbd>/</kbd> ask · <kbd>1</kbd>–<kbd>9</kbd> pages<br><kbd>←</kbd> <kbd>→</kbd> move through time",
                "keys",
            )
        return rail

    # What a page may ask for

    async def turn_to(self, name: str, /, **asked: str) -> None:
        """Show a page of the same bank, with what its address asks for."""
        await self.show(name, asked, push=True)

    async def change(self, **asked: str) -> None:
        """The same page, with something else in its address; an empty value takes it out."""
        merged = {**self._shown.asked, **asked}
        self._shown.asked = {name: value for name, value in merged.items() if value}
        self._address(push=True)
        await self._drawn_anew()

    async def begin(self) -> None:
        """Draw the first page, when the browser is there."""
        self._place_slider()
        begun, self._begun = self._begun, None
        await self._drawn_anew(begun)

    async def show(self, name: str, asked: Mapping[str, str], *, push: bool = False) -> None:
        """Build a page anew, and draw it; with `push`, as a page with a way back."""
        self._turned(name, asked)
        if push:
            self._address(push=True)
        self._area.clear()
        await self._drawn_anew()

    def _turned(self, name: str, asked: Mapping[str, str]) -> None:
        """A page's heading and controls; nothing is read for them."""
        self._shown = page = PAGES[name](self.session, self, asked)
        for other, link in self._links.items():
            if other == name:
                link.props["aria-current"] = "page"
            else:
                link.props.pop("aria-current", None)
            link.update()
        with self._client:
            ui.page_title(f"{page.title} · {self.session.bank} · everwhen")
        self._say_heading(page)
        self._tools.clear()
        with self._tools:
            if self.session.stats is not None or name == "import":
                page.controls()

    def _say_heading(self, page: UIPage) -> None:
        """The page's first line, where it says something else than before."""
        said_ = (page.name, self.session.as_of)
        if said_ != self._headed:
            self._headed = said_
            self._head.clear()
            with self._head:
                heading(page.title, page.hint, self.session)

    def _say_unread(self) -> None:
        many = f"{self.session.unread:,} turns are" if self.session.unread > 1 else "1 turn is"
        with block("div", "actions unread", "role=status"):
            said(f"{many} not read yet: what was said there is missing here.")
            press("Look again", self.refresh, "plain")

    async def refresh(self) -> None:
        """Read everything again, and draw it."""
        self._shown.read_again()
        await self._drawn_anew()

    async def _read(self, page: UIPage) -> tuple[Any, str]:
        """What a page shows, or the sentence why it cannot."""
        if self.session.unread:  # what it keeps was not all
            page.read_again()
        self.session.unread = 0
        try:
            if self.session.stats is not None or page.name == "import":
                return await page.load(), ""
        except Exception as error:
            return None, _sentence(error)
        return None, ""

    async def _drawn_anew(self, begun: asyncio.Future[tuple[Any, str]] | None = None) -> None:
        """Load, or wait for what is being loaded, and draw; of several at once the last one wins."""
        page = self._shown
        self._drawing += 1
        mine = self._drawing
        self._busy.classes(add="on")
        data, problem = await (begun or self._read(page))
        if mine != self._drawing:
            return
        self._busy.classes(remove="on")
        self._say_heading(page)
        self._area.clear()
        with self._area:
            if problem:
                said(problem, "problem").props("role=alert")
            elif self.session.stats is None and page.name != "import":
                self._no_bank()
            else:
                if self.session.unread:
                    self._say_unread()
                page.draw(data)
        self._area.props(f"data-drawn={mine} data-shown={page.name}")

    async def doing(self, act: Callable[[], Awaitable[Any]], done: str = "", *, redraw: bool = True) -> None:
        """Do something that may fail: say it is done and show what it changed, or the one sentence why not."""
        try:
            with (
                self._client
            ):  # what was pressed may be closed by now, as a button of a dialog that has closed
                await act()
        except Exception as error:
            with self._client:
                ui.notify(_sentence(error), type="negative", position="bottom", multi_line=True)
            return
        with self._client:
            if done:
                ui.notify(done, position="bottom", color="primary")
        if redraw:
            await self.refresh()

    # Moving

    async def _moved(self, event: GenericEventArguments) -> None:
        as_of = self.session.end_of_day(int(event.args))
        if as_of != self.session.as_of:
            await self._look_from(as_of)

    async def _to_now(self) -> None:
        self.session.as_of = None
        self._place_slider()
        await self._look_from(None)

    async def _look_from(self, as_of: datetime | None) -> None:
        self.session.as_of = as_of
        self._say_when()
        self._address()
        await self._drawn_anew()

    def _address(self, *, push: bool = False) -> None:
        """What stands in the address bar leads here again; never a key."""
        as_of, asked = self.session.as_of, dict(self._shown.asked)
        if as_of is not None:
            asked["as_of"] = str((self.session.local(as_of) - timedelta(microseconds=1)).date())
        query = f"?{urlencode(asked)}" if asked else ""
        address = f"{MOUNT}/{quote(self.session.bank)}/{self._shown.name}{query}"
        self._run(f"everwhenAddress({json.dumps(address)}, {json.dumps(push)})")

    async def _gone_back(self, event: GenericEventArguments) -> None:
        """The browser's Back or Forward: show what the address says now."""
        address = urlsplit(str(event.args))
        _, _, _, name = (*address.path.split("/"), "", "", "", "")[:4]
        if name not in PAGES:
            return
        asked = dict(parse_qsl(address.query))
        self.session.as_of = self.session.end_of(asked.pop("as_of", None))
        self._place_slider()
        if self.session.days() is not None:
            self._say_when()
        await self.show(name, asked)

    def _other_bank(self, bank: str) -> None:
        if bank != self.session.bank:
            self._go(f"{MOUNT}/{quote(bank)}/{self._shown.name}")

    def _new_bank(self) -> None:
        note = "Memories of another person, project or agent. Nothing is shared between banks."
        with dialog("A new bank", note):
            name = ui.input("Name").props("outlined dense autofocus")
            # A zone of its own is for those to set who look after banks, as over HTTP.
            zone = ui.input("Time zone", value=self.session.zone).props("outlined dense")
            zone.set_visibility(self.session.may("admin"))

            async def make() -> None:
                wanted = str(name.value or "").strip()
                if not BANK_NAME.fullmatch(wanted):
                    raise UsageError("a bank's name has letters, digits, '-', '_' and '.', such as 'alice'")
                other = PageSession(self.session.visitor, wanted)
                if wanted in self.session.banks():
                    raise UsageError(f"there is a bank '{wanted}' already")
                await other.create(str(zone.value or "UTC").strip() if zone.visible else "UTC")
                self._go(f"{MOUNT}/{quote(wanted)}/import")

            press("Make it", partial(self.doing, make, redraw=False), "strong")

    def leave(self) -> None:
        """Show another bank: this one was deleted."""
        self._go(f"{MOUNT}/")

    def _go(self, address: str) -> None:
        """Load another address. The prefix is ours, not NiceGUI's: it is given whole."""
        self._run(f"location.href = {json.dumps(address)}")

    def _sign_out(self) -> None:
        self._run(f'fetch("{MOUNT}/logout", {{method: "POST"}}).then(() => location.href = "{MOUNT}/login")')

    def _no_bank(self) -> None:
        hint = "Its first write makes it: import a conversation, or add to it from your agent."
        refused = "Its first write makes it, which this key may not do."
        title = f"There is no bank “{self.session.bank}” yet."
        empty(title, hint if self.session.may("write") else refused, "inventory_2")

    def _run(self, script: str) -> None:
        with self._client:
            ui.run_javascript(script)


def _sentence(error: Exception) -> str:
    """What people see: an error made for them in its own words, a bug in none."""
    if not isinstance(error, EverwhenError | Problem):
        say_bug(error, "ui")
        return f"Everwhen failed ({type(error).__name__}); the server's log says where."
    words = str(getattr(error, "detail", "") or error)
    return words[:1].upper() + words[1:]


# Addresses


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
        return _not_here(str(problem.detail), problem.status_code)
    except EverwhenError as error:
        return _not_here(str(error), 500)
    asked = dict(request.query_params)
    session.as_of = session.end_of(asked.pop("as_of", None))
    shell = Layout(session, page, theme=request.cookies.get("everwhen_theme", ""))
    shell.build(asked)
    await ui.context.client.connected(timeout=30.0)
    await shell.begin()
    return None


def _not_here(sentence: str, status: int) -> Response:
    """No page, and one sentence why."""
    return plain_page(
        "everwhen",
        f'<h1>Not here</h1><p role="alert">{escape(sentence[:1].upper() + sentence[1:])}</p>'
        f'<p><a class="press" href="{MOUNT}/">Back to your banks</a></p>'
        f'<form method="post" action="{MOUNT}/logout"><button class="press plain">Use another key</button></form>',
        status,
    )
