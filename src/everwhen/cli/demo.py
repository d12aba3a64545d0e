"""`demo`: a story of some months, its timeline, its answers and an honest "not known", in a folder of its own."""

from __future__ import annotations

import shutil
import tempfile

import typer

from everwhen.cli import interrupt
from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.graph import show_calendar
from everwhen.cli.progress import counting
from everwhen.cli.recall_commands import show

FEW = 256
"""Tokens of memories for each question."""


@app.command()
def demo(context: typer.Context) -> None:
    """See it work: a story's timeline, answers with dates and reasons. Keeps nothing."""
    tell(context.obj)


def tell(here: GlobalOptions) -> None:
    """The demo itself, on the console that `here` brings (`make figures` records it)."""
    from pathlib import Path

    from everwhen.demo import ASKED, ASKED_AT, NOT_TOLD, QUESTIONS, STORY_ZONE, calendar, story

    with tempfile.TemporaryDirectory(prefix="everwhen-demo-") as folder:
        interrupt.before_the_end(lambda: shutil.rmtree(folder, ignore_errors=True))
        here.home, here.bank = Path(folder), "demo"
        messages = story()
        with here.open(create=True, zone=STORY_ZONE) as memory:
            with counting(here, "remembering the story", len(messages)) as tick:
                for first in range(0, len(messages), 20):
                    memory.add_many(messages[first : first + 20])
                    tick(min(first + 20, len(messages)))
            if here.json:
                here.print([memory.recall(one.question, at=ASKED_AT, max_tokens=FEW) for one in QUESTIONS])
                return
            with counting(here, "reading it", len(messages)) as tick:
                memory.process(progress=lambda left: tick(len(messages) - left))
            here.console.print("What happened, and when: worked out from what was said", style="bold")
            show_calendar(here, calendar(memory))
            for one in QUESTIONS:
                here.console.print(f"\n{one.question}", style="bold")
                here.console.print(memory.ask(one.question, at=ASKED_AT, model="none").text, style="green")
                show(here, memory.recall(one.question, at=ASKED_AT, max_tokens=FEW), explain=True, limit=2)
            here.console.print("\nAnd ten more", style="bold")
            for question, _ in ASKED:
                here.console.print(f"\n{question}", style="bold")
                here.console.print(memory.ask(question, at=ASKED_AT, model="none").text, style="green")
            here.console.print(f"\n{NOT_TOLD}", style="bold")
            here.console.print(memory.ask(NOT_TOLD, at=ASKED_AT, model="none").text, style="yellow")
    here.console.print(
        "\nYour own: everwhen add 'I moved to Porto in May'; everwhen ask 'when did I move to Porto'"
    )
