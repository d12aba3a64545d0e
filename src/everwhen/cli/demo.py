"""`demo`: a story of some months, its timeline and three answers, in a folder of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from everwhen.cli import interrupt
from everwhen.cli.app import Here, app
from everwhen.cli.graph import show_calendar
from everwhen.cli.progress import counting
from everwhen.cli.reading import show

if TYPE_CHECKING:
    from rich.text import Text

    from everwhen.memory import Memory
    from everwhen.types import Turn

LINES_A_SESSION = 2


@app.command()
def demo(context: typer.Context) -> None:
    """See it work: a story's timeline and three answers with dates and reasons. Keeps nothing."""
    tell(context.obj)


def tell(here: Here) -> None:
    """The demo itself, on the console that `here` brings (`make figures` records it)."""
    from pathlib import Path

    from everwhen.demo import ASKED_AT, QUESTIONS, STORY_ZONE, calendar, story

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
                here.print([memory.recall(one.question, at=ASKED_AT, max_tokens=256) for one in QUESTIONS])
                return
            timeline(here, memory)
            here.console.print("\n[bold]The event calendar, with dates worked out from what was said[/bold]")
            show_calendar(here, calendar(memory))
            for one in QUESTIONS:
                here.console.print(f"\n{one.question}", style="bold")
                show(here, memory.recall(one.question, at=ASKED_AT), explain=True, limit=2)
    here.console.print(
        "\nYour own: everwhen add 'I moved to Porto in May'; everwhen recall 'where do I live'"
    )


def timeline(here: Here, memory: Memory) -> None:
    """When what was spoken of happened or will happen: the time words of the story, as intervals."""
    from zoneinfo import ZoneInfo

    from rich.text import Text

    zone = ZoneInfo(memory.zone)
    month = ""
    for session in memory.sessions():
        said = session.first.astimezone(zone)
        if f"{said:%B %Y}" != month:
            month = f"{said:%B %Y}"
            here.console.print(f"\n{month}", style="bold cyan")
        speakers = ", ".join(session.speakers)
        here.console.print(Text.assemble(("  ● ", "cyan"), f"{said:%a %d %b}  ", (speakers, "dim")))
        for line in _dated(memory.turns(session.id))[:LINES_A_SESSION]:
            here.console.print(line, no_wrap=True, overflow="ellipsis")


def _dated(turns: Sequence[Turn]) -> list[Text]:
    """A line for each turn that speaks of a day or longer: the interval, then the words around it."""
    from rich.text import Text

    from everwhen.when import describe, resolve

    lines = []
    for turn in turns:
        for found in resolve(turn.text, turn.said_at, turn.zone):
            if found.interval is None or found.grain in ("second", "minute", "hour"):
                continue
            start, end = found.span
            before = turn.text[:start].rsplit(". ", 1)[-1]
            line = Text.assemble("      ", (f"{describe(found.interval, turn.zone):<24} ", "green"))
            line.append_text(
                Text.assemble(f"{turn.speaker}: {before}", (found.text, "bold"), turn.text[end:])
            )
            lines.append(line)
            break
    return lines
