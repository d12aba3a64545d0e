"""`tree`, `profile`, `consolidate`: the memory tree in the terminal; `map`: where its summaries lie, and measures."""

from __future__ import annotations

import math
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from everwhen.cli.add_commands import extract
from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.progress import counting
from everwhen.cli.recall_commands import AsOf, KnownAt, both_times
from everwhen.cli.safe_printing import local, styled, table
from everwhen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text
    from rich.tree import Tree

    from everwhen.api.memory import Memory
    from everwhen.tree.map import Chart, Layer
    from everwhen.types import Node, Statement

BUILD = "`everwhen bank consolidate --end`"
"""Also builds what lies in windows that are still open: in a new bank that is everything."""
FIGURES = {
    "dimension": "dim",
    "silhouette": "silh",
    "separation": "sep",
    "spread": "spread",
    "variation": "cv",
    "radius95": "r95",
    "trustworthiness": "trust",
    "continuity": "cont",
}
"""The measures, and how a narrow table calls them."""


@app.command()
def tree(
    here: GlobalOptions,
    level: Annotated[
        int | None, Option(help="Only this level: 1 exchange, 2 session, 3 day, … [2 and up].")
    ] = None,
    at: Annotated[str | None, Option(help="Only what holds this time: ISO 8601 or an expression.")] = None,
    full: Annotated[bool, Option("--full", help="Every line of every node.")] = False,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """Summaries by session, day, week and month."""
    with here.reading() as (memory, clock):
        asked = clock.interval(at, "at") if at is not None else None
        moment = asked.start if asked is not None and asked.start == asked.end else asked
        found = memory.tree(level, moment, **both_times(clock, as_of, known_at))
        waiting = 0 if any(node.level > 1 for node in found) else memory.stats().turns
    if here.printed(found):
        return
    shown = [node for node in found if node.level > 1 or level == 1]
    for root in _drawn(shown, clock.zone, full=full):
        here.console.print(root, soft_wrap=False)
    if not shown:
        yet = f"no node there yet; {BUILD} builds the tree"
        here.say(yet if waiting else "nothing is remembered there")


@app.command()
def profile(
    here: GlobalOptions,
    name: Annotated[str | None, Argument(help="Only what concerns this person or thing [everybody].")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
) -> None:
    """What it says of people over all of time, with dates."""
    with here.reading() as (memory, clock):
        every = memory.profile(**both_times(clock, as_of, known_at))
        found = every if name is None else _concerning(memory, every, name)
        turns = memory.stats().turns
    if here.printed(found):
        return
    if not found:
        yet = "nothing is remembered yet" if not turns else f"no profile yet; {BUILD} builds it"
        here.say(f"the profile says nothing of {name}" if every else yet)
        return
    listed = table()
    for head in ("support", "first", "last", "statement"):
        listed.add_column(head, justify="right" if head == "support" else "left", no_wrap=head != "statement")
    for one in found:
        days = (f"{local(side, clock.zone):%Y-%m-%d}" for side in (one.first, one.last))
        words = one.text if one.fact else f"{one.speaker}: {one.text}"
        listed.add_row(str(one.support), *days, styled(words, style="dim" if one.ended else ""))
    here.console.print(listed)


def _concerning(memory: Memory, every: Sequence[Statement], name: str) -> list[Statement]:
    """The statements of somebody, and those that name them; by all names that they go by."""
    names = {name}
    if not any(one.speaker.casefold() == name.casefold() for one in every):
        entity = memory.entity(name)  # which says so where nobody is called that
        names = {entity.name, *entity.aliases}
    named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)
    return [one for one in every if named.search(one.speaker) or named.search(one.text)]


@app.command()
def consolidate(
    here: GlobalOptions,
    now: Annotated[
        str | None, Option(help="Close the windows up to then: ISO 8601 or an expression [the newest turn].")
    ] = None,
    end: Annotated[bool, Option("--end", help="Build the windows that are still open too.")] = False,
) -> None:
    """Build the summaries of the time since the last build.

    The memory tree: what has closed since then, and what late turns changed.
    """
    if end and now is not None:
        raise UsageError("--end builds everything; leave out --now, or leave out --end")
    with here.reading() as (memory, clock):
        moment = clock.last(now, "now")
        extract(here, memory)
        with counting(here, "nodes") as tick:
            done = memory.consolidate("end" if end else moment, progress=lambda built, _: tick(built))
    bank, waiting = memory.bank, done.waiting
    counts = {name: getattr(done, name) for name in ("built", "rebuilt", "dropped", "failed")}
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing to build"
    still = f"; {waiting} wait for their window to close (--end builds them)" if waiting else ""
    here.tell({"bank": bank, **counts, "waiting": waiting}, f"bank {bank}: {said}{still}")


def _drawn(nodes: Sequence[Node], zone: str, *, full: bool) -> list[Tree]:
    """The nodes as trees, one for each that has nothing above it among them."""
    from rich.tree import Tree

    there = {node.id for node in nodes}
    under: dict[str | None, list[Node]] = {}
    for node in sorted(nodes, key=lambda one: (one.interval.start, one.id)):
        under.setdefault(node.parent if node.parent in there else None, []).append(node)

    def grow(branch: Tree, node: Node) -> None:
        lowest = not under.get(node.id)
        lines = node.text.splitlines()
        said = lines[1:] if len(lines) > 1 else lines
        for line in said if full or lowest else []:
            branch.add(styled(line, style="" if lowest else "dim"))
        for child in under.get(node.id, []):
            grow(branch.add(_label(child, zone)), child)

    roots = []
    for node in under.get(None, []):
        root = Tree(_label(node, zone), guide_style="dim")
        grow(root, node)
        roots.append(root)
    return roots


def _label(node: Node, zone: str) -> Text:
    """When a node is, and what it is called."""
    assert node.interval.start is not None
    start, first = local(node.interval.start, zone), node.text.splitlines()[0]
    if node.level <= 2:
        return styled(f"{start:%H:%M} {first}" if node.level == 2 else f"{start:%H:%M}", style="cyan")
    return styled(first.rstrip("."), style="bold green")


@app.command("map")
def map_(
    here: GlobalOptions,
    banks: Annotated[
        list[str] | None, Argument(help="Banks to draw together, a colour each; none: the one of --bank.")
    ] = None,
    out: Annotated[Path | None, Option(help="The picture: .svg or .png (bench extra).")] = None,
    method: Annotated[str, Option(help="auto, pca or umap (bench extra).")] = "auto",
) -> None:
    """Draw the vectors of the summaries, and measure them."""
    from everwhen.tree.map import METHODS, chart

    if method not in METHODS:
        raise UsageError(f"unknown method '{method}'; use one of {', '.join(METHODS)}")
    if out is not None and out.suffix not in (".svg", ".png"):
        raise UsageError(f"{out.name} is no picture that can be written; name it .svg or .png")
    names = banks or [here.bank or "default"]
    layers = _layers(here, names)
    if not layers:
        raise UsageError("there is nothing to draw; add something, then `everwhen bank consolidate`")
    drawn = chart(layers, method)
    if out is not None:
        _write(drawn, f"{', '.join(names)} ({drawn.method.upper()})", out)
    _report(here, drawn, out, len(names) > 1)


def _layers(here: GlobalOptions, banks: list[str]) -> list[Layer]:
    """The levels of one bank, or those of several laid over each other."""
    import numpy as np

    from everwhen.tree.map import Layer

    found: dict[int, list[Layer]] = {}
    for bank in banks:
        here.bank = bank
        with here.open() as memory:
            if len(banks) == 1:
                return memory.layers()
            for layer in memory.layers(group=bank):
                found.setdefault(layer.level, []).append(layer)
    return [
        Layer(
            level,
            several[0].name,
            np.concatenate([one.vectors for one in several]),
            tuple(group for one in several for group in one.groups),
            tuple(label for one in several for label in one.labels),
        )
        for level, several in sorted(found.items())
    ]


def _write(drawn: Chart, title: str, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".png":
        from everwhen.tree.map.pictures import write_png

        write_png(drawn, title, out)
    else:
        from everwhen.tree.map.pictures import svg

        out.write_text(svg(drawn, title), encoding="utf-8")


def _report(here: GlobalOptions, drawn: Chart, out: Path | None, by_bank: bool) -> None:
    from everwhen.tree.map.measures import DEFINITIONS

    if here.json:
        rows = [
            {
                key: None if isinstance(value, float) and math.isnan(value) else value
                for key, value in asdict(row).items()
            }
            for row in drawn.measured
        ]
        picture = str(out) if out else None
        here.print({"method": drawn.method, "levels": rows, "definitions": DEFINITIONS, "out": picture})
        return
    measures = table()
    for name in ("level", "points", "groups", *FIGURES.values()):
        measures.add_column(name, justify="left" if name == "level" else "right", no_wrap=True)
    for row in drawn.measured:
        figures = [getattr(row, name) for name in FIGURES]
        measures.add_row(
            f"{row.level} {row.name}",
            f"{row.points:,}",
            str(row.groups),
            *("–" if math.isnan(one) else f"{one:.0f}" if one > 10 else f"{one:.3f}" for one in figures),
        )
    here.console.print(measures)
    here.say(f"\nGroups are {'banks' if by_bank else 'months'}; distances are Euclidean, of unit vectors.")
    for name, meaning in DEFINITIONS.items():
        here.remark(f"  {FIGURES[name]}: {name}, {meaning}")
    if out is not None:
        here.say(f"\n{out} written")
