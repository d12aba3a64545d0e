"""`process`, `reextract`: what is made of turns after they are written; and how `add` and `import` wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.progress import counting

if TYPE_CHECKING:
    from everwhen.memory import Memory

Wait = Annotated[
    bool,
    typer.Option(
        "--wait/--no-wait", help="Wait until events and entities are extracted, or leave it for later."
    ),
]


def extracting(wait: bool) -> dict[str, Any]:
    """Settings for a command: one that does not wait leaves extraction to `everwhen bank process`."""
    return {} if wait else {"extract": "none"}


def extract(here: GlobalOptions, memory: Memory) -> int:
    """Extract what is pending, with a progress bar; how many turns."""
    total = memory.stats().pending
    with counting(here, "extracting", total) as tick:
        return memory.process(progress=lambda left: tick(max(total - left, 0)))


@app.command()
def process(here: GlobalOptions) -> None:
    """Extract from the turns that still wait for it.

    They were added with --no-wait, or a crash left them.
    """
    with here.open() as memory:
        done = extract(here, memory)
        bank = memory.bank
    here.tell(
        {"bank": bank, "processed": done},
        f"bank {bank}: {done} turns extracted" if done else f"bank {bank}: nothing was pending",
    )


@app.command()
def reextract(
    here: GlobalOptions,
    turns: Annotated[list[str] | None, typer.Argument(help="Ids of turns [all].")] = None,
) -> None:
    """Derive events, entities and links again.

    What people decided about entities stays.
    """
    with here.open() as memory:
        total = len(turns) if turns else memory.stats().turns
        with counting(here, "extracting", total) as tick:
            count = memory.reextract(turns or None, progress=lambda left: tick(max(total - left, 0)))
        bank = memory.bank
    here.tell({"bank": bank, "reextracted": count}, f"bank {bank}: {count} turns extracted again")
