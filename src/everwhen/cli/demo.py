"""`demo`: a story of some months in a folder of its own: its timeline, its answers, its page."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from everwhen.cli.app import GlobalOptions, app, before_the_end
from everwhen.cli.printing import counting
from everwhen.cli.renderers import show_events, show_memories
from everwhen.cli.server_commands import Browser, PagePort, need_ui, show_page

if TYPE_CHECKING:
    from everwhen.api.memory import Memory

FEW = 256
"""Tokens of memories for each question."""


@app.command()
def demo(
    here: GlobalOptions,
    ui: Annotated[bool, Option("--ui", help="Open the page on the story instead (Ctrl-C ends it).")] = False,
    port: PagePort = 8766,
    browser: Browser = True,
) -> None:
    """See it work: a story's timeline, answers with dates and reasons. Keeps nothing."""
    if not ui:
        show_demo(here)
        return
    need_ui()
    with _story_bank(here) as memory:
        memory.consolidate("end")
        memory.close()
        # In a context of its own: a server waits for extraction at each request, a command only once.
        Context().run(show_page, here, port, browser=browser)


@contextmanager
def _story_bank(here: GlobalOptions) -> Iterator[Memory]:
    """The story in a bank of its own, which is deleted afterwards."""
    from everwhen.cli.story.story import STORY_ZONE, story

    with tempfile.TemporaryDirectory(prefix="everwhen-demo-") as folder:
        before_the_end(lambda: shutil.rmtree(folder, ignore_errors=True))
        here.home, here.store, here.bank = Path(folder), None, "demo"
        messages = story()
        with here.open(create=True, zone=STORY_ZONE) as memory:
            with counting(here, "remembering the story", len(messages)) as tick:
                for first in range(0, len(messages), 20):
                    memory.add_many(messages[first : first + 20])
                    tick(min(first + 20, len(messages)))
            if not here.json:
                with counting(here, "reading it", len(messages)) as tick:
                    memory.process(progress=lambda left: tick(len(messages) - left))
            yield memory


def show_demo(here: GlobalOptions) -> None:
    """The demo itself, on the console that `here` brings (`make figures` records it)."""
    from everwhen.cli.story.story import ASKED, ASKED_AT, NOT_TOLD, QUESTIONS, calendar

    with _story_bank(here) as memory:
        if here.json:
            here.print([memory.recall(one.question, at=ASKED_AT, max_tokens=FEW) for one in QUESTIONS])
            return
        here.say("What happened, and when: worked out from what was said", style="bold")
        show_events(here, calendar(memory))

        def answered(question: str, style: str) -> None:
            here.say(f"\n{question}", style="bold")
            here.say(memory.ask(question, at=ASKED_AT, model="none").text, style=style)

        for one in QUESTIONS:
            answered(one.question, "green")
            show_memories(here, memory.recall(one.question, at=ASKED_AT, max_tokens=FEW), why=True, limit=2)
        here.say("\nAnd ten more", style="bold")
        for question, _ in ASKED:
            answered(question, "green")
        answered(NOT_TOLD, "yellow")
    here.say("\nClick through it: everwhen demo --ui")
    here.say("Your own: everwhen add 'I moved to Porto in May'; everwhen ask 'when did I move to Porto'")
