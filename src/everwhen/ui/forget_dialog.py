"""Forgetting from the page: first what would go, counted without changing anything; then, pressed again, for good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import date
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from nicegui import ui

from everwhen.api.memory import Memory
from everwhen.errors import UsageError
from everwhen.types import Receipt
from everwhen.ui.components import dialog, markup, press, said
from everwhen.ui.page_session import PageSession

if TYPE_CHECKING:
    from everwhen.ui.layout import Layout

COUNTED = {
    "turns": "turns",
    "sessions": "whole conversations",
    "events": "events",
    "facts": "facts, in every version",
    "entities": "names",
    "nodes": "summaries",
}
NOT_YET = "Nothing has been forgotten yet. This would go:"
FOR_GOOD = "It cannot be taken back, and it does not come back by importing the same again."


async def offer_forget(
    session: PageSession,
    frame: Layout,
    what: str,
    page: str,
    asked: Mapping[str, str] | None = None,
    /,
    **named: Any,
) -> None:
    """Say what would be forgotten with `what`; `named` are the arguments of `Memory.forget`. Then turn to `page`, with
    what its address asks for."""

    async def leave() -> None:
        await _forget(session, False, **named)
        await session.look()
        await frame.turn_to(page, **(asked or {}))

    async def look() -> None:
        _ask(frame, what, await _forget(session, True, **named), leave)

    await frame.doing(look, redraw=False)


def offer_stretch(session: PageSession, frame: Layout, page: str) -> None:
    """Ask for the first and the last day of a stretch of time, then say what would go with it."""
    note = "Everything that was said on these days; both are included."
    with dialog("Forget a stretch of time", note) as opened:
        with ui.element("div").classes("tools"):
            first, last = (
                ui.input(label).props("outlined dense stack-label type=date") for label in ("From", "Until")
            )

        async def count() -> None:
            try:
                days = [date.fromisoformat(str(field.value or "")) for field in (first, last)]
            except ValueError:
                said_ = "choose both days: the first and the last of what is to be forgotten"
                raise UsageError(said_) from None
            if days[1] < days[0]:
                raise UsageError("the last day lies before the first one")
            opened.close()
            named = " to ".join(dict.fromkeys(f"{one.day} {one:%b %Y}" for one in days))
            what, between = f"what was said on {named}", tuple(map(str, days))
            await offer_forget(session, frame, what, page, between=between)

        press("Count what would go", partial(frame.doing, count, redraw=False), "strong")


async def offer_delete_bank(session: PageSession, frame: Layout) -> None:
    """Say what a bank holds, and delete it once its name is typed; then show another one."""

    async def delete() -> None:
        await session.delete()
        frame.leave()

    async def look() -> None:
        would = await _forget(session, True, everything=True)
        _ask(frame, f"the whole bank “{session.bank}”", would, delete, typed=session.bank)

    await frame.doing(look, redraw=False)


def _ask(
    frame: Layout, what: str, would: Receipt, act: Callable[[], Awaitable[None]], typed: str = ""
) -> None:
    """The dialog: what would go, that it is for good, and the button; where a name is to be `typed`, only then."""
    counts = {words: len(getattr(would, name)) for name, words in COUNTED.items()}
    lines = "".join(
        f"<dt class='num'>{count:,}</dt><dd>{escape(words)}</dd>" for words, count in counts.items() if count
    )
    with dialog(f"Forget {what}?", NOT_YET, "forget") as opened:
        markup(f'<dl class="pairs">{lines or "<dt>0</dt><dd>nothing</dd>"}</dl>')
        if would.rebuilt:
            said(f"{len(would.rebuilt):,} turns that stay are read again without it.", "soft small")
        said("The bank goes with its settings. It cannot be taken back." if typed else FOR_GOOD, "soft small")
        name = ui.input(f"Type “{typed}” to go on") if typed else None
        if name is not None:
            name.props("outlined dense autocomplete=off")

        async def forget() -> None:
            if name is not None and str(name.value or "").strip() != typed:
                raise UsageError(f"the name is not “{typed}”; nothing was forgotten")
            opened.close()
            await act()

        go = partial(frame.doing, forget, f"Forgotten: {what}.", redraw=False)
        press("Forget for good", go, "strong danger", icon="delete_forever")


async def _forget(session: PageSession, dry_run: bool, /, **named: Any) -> Receipt:
    def act(memory: Memory) -> Receipt:
        receipt: Receipt = memory.forget(dry_run=dry_run, **named)
        if not dry_run:
            session.visitor.state.forget(session.bank)  # what the server itself keeps of it
        return receipt

    return await session.write(
        "forget dry run" if dry_run else "forget",
        act,
        scope="admin" if named.get("everything") else "write",
        operation="delete_memory",
        alone=False,
    )
