"""`demo`: a story of some months, its timeline and three answers, in a folder of its own."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import typer

from everwhen.cli.app import Here, app
from everwhen.cli.progress import counting
from everwhen.cli.reading import show

if TYPE_CHECKING:
    from everwhen.memory import Memory


@app.command()
def demo(context: typer.Context) -> None:
    """See it work: a story's timeline and three answers with dates and reasons. Keeps nothing."""
    from pathlib import Path

    from everwhen.demo import QUESTIONS, STORY_ZONE, story

    here: Here = context.obj
    with tempfile.TemporaryDirectory(prefix="everwhen-demo-") as folder:
        here.home, here.bank = Path(folder), "demo"
        messages = story()
        with here.open(create=True, zone=STORY_ZONE) as memory:
            with counting(here, "remembering the story", len(messages)) as tick:
                for first in range(0, len(messages), 20):
                    memory.add_many(messages[first : first + 20])
                    tick(min(first + 20, len(messages)))
            if here.json:
                here.print([memory.recall(one.question, max_tokens=256) for one in QUESTIONS])
                return
            timeline(here, memory)
            for one in QUESTIONS:
                here.console.print(f"\n[bold]{one.question}[/bold]")
                show(here, memory.recall(one.question), explain=True, limit=2)
    here.console.print(
        "\nYour own: everwhen add 'I moved to Porto in May'; everwhen recall 'where do I live'"
    )


def timeline(here: Here, memory: Memory) -> None:
    """The sessions of a bank on a line of time, with what was said of other times."""
    from zoneinfo import ZoneInfo

    from rich.text import Text

    from everwhen.when import resolve

    zone = ZoneInfo(memory.zone)
    month = ""
    for session in memory.sessions():
        first = session.first.astimezone(zone)
        if f"{first:%B %Y}" != month:
            month = f"{first:%B %Y}"
            here.console.print(f"\n[bold cyan]{month}[/bold cyan]")
        turns = memory.turns(session.id)
        here.console.print(
            Text.assemble(
                ("  ● ", "cyan"),
                f"{first:%a %d}  ",
                (", ".join(session.speakers), "dim"),
                f"  {len(turns)} turns",
            )
        )
        for turn in turns:
            for found in resolve(turn.text, turn.said_at, turn.zone):
                if found.interval is not None and found.kind in ("point", "range"):
                    here.console.print(
                        Text.assemble(
                            "      ",
                            (str(found.interval), "green"),
                            f"  “{found.text}”  ",
                            (_shortened(turn.text), "dim"),
                        )
                    )


def _shortened(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
