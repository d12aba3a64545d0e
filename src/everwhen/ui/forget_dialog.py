"""Forgetting from the page: first what would go, counted without changing anything; then, pressed again, for good."""

from __future__ import annotations

from html import escape
from typing import Any

from everwhen.memory import Memory
from everwhen.types import Receipt
from everwhen.ui.components import dialog, markup, press, said
from everwhen.ui.page import PageFrame
from everwhen.ui.page_session import PageSession

COUNTED = {
    "turns": "turns",
    "sessions": "whole conversations",
    "events": "events",
    "facts": "facts, in every version",
    "entities": "names",
    "nodes": "summaries",
}


async def offer_forget(session: PageSession, frame: PageFrame, what: str, page: str, /, **named: Any) -> None:
    """Say what would be forgotten with `what`; `named` are the arguments of `Memory.forget`. Then turn to `page`."""

    async def look() -> None:
        _ask(session, frame, what, page, await _forget(session, True, **named), named)

    await frame.doing(look, redraw=False)


def _ask(
    session: PageSession, frame: PageFrame, what: str, page: str, would: Receipt, named: dict[str, Any]
) -> None:
    counts = {words: len(getattr(would, name)) for name, words in COUNTED.items()}
    lines = "".join(
        f"<dt class='num'>{count:,}</dt><dd>{escape(words)}</dd>" for words, count in counts.items() if count
    )
    with dialog(f"Forget {what}?", "Nothing has been forgotten yet. This would go:", "forget") as opened:
        markup(f'<dl class="pairs">{lines or "<dt>0</dt><dd>nothing</dd>"}</dl>')
        if would.rebuilt:
            said(f"{len(would.rebuilt):,} turns that stay are read again without it.", "soft small")
        said("It cannot be taken back, and it does not come back by importing the same again.", "soft small")

        async def forget_and_leave() -> None:
            await _forget(session, False, **named)
            await session.look()
            await frame.turn_to(page)

        async def forget() -> None:
            opened.close()
            await frame.doing(forget_and_leave, f"Forgotten: {what}.", redraw=False)

        press("Forget for good", forget, "strong danger", icon="delete_forever")


async def _forget(session: PageSession, dry_run: bool, /, **named: Any) -> Receipt:
    def act(memory: Memory) -> Receipt:
        receipt: Receipt = memory.forget(dry_run=dry_run, **named)
        if not dry_run:
            session.visitor.state.forget(session.bank)  # what the server itself keeps of it
        return receipt

    return await session.write(
        "forget dry run" if dry_run else "forget", act, operation="delete_memory", alone=False
    )
