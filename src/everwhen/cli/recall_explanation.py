"""`recall --explain`: why these memories, drawn: the plan, the parts of each score, what was found and what it took."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from everwhen.cli.printing import local, printable, spoken_of, styled
from everwhen.recall.features import score_label

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from everwhen.cli.app import GlobalOptions
    from everwhen.types import Dropped, Recall, Recalled
    from everwhen_time import Interval

SHOWN = 10
"""Memories that are drawn unless more are asked for: one takes some eight lines."""
PARTS = 5
"""The largest parts of a score; the others are added up."""
WIDE = 100
"""Columns from which the parts stand side by side."""
LEFT, RIGHT = 4, 10
"""Cells of a bar on either side of its axis."""
LEAST_SHARE = 0.01
"""Stages that take less of the time than this are added up."""
NAMED = 3
"""Dropped memories that are named for each reason."""


def explain(here: GlobalOptions, found: Recall, zone: str, limit: int | None = None) -> None:
    """The whole reason for an answer, for as many columns as the terminal has."""
    here.console.print(styled(found.query, style="bold"))
    here.console.print(styled(listed(_plan(found, zone), here.console.width), style="dim"))
    here.console.print()
    shown = found.memories[: SHOWN if limit is None else limit]
    best = max((memory.score for memory in found.memories), default=0.0) or 1.0
    scale = _scale(shown)
    for number, memory in enumerate(shown, start=1):
        here.console.print(_drawn(memory, number, best, scale, here.console.width))
    if not found.memories:
        here.say("nothing in this memory answers that")
    elif len(shown) < len(found):
        more = f"    and {len(found) - len(shown)} more: --limit {len(found)}\n"
        here.console.print(styled(more, style="dim"))
    here.console.print(_account(found, here.console.width - 9))


def _plan(found: Recall, zone: str) -> Iterable[str]:
    """How the question was understood."""
    plan, trace = found.trace["plan"], found.trace
    about = ", ".join(plan["about"])
    yield f"about {about}" if about else "about nobody in particular"
    yield f"time {_window(plan['time'], zone)}" if plan["time"] else "any time"
    yield f"{plan['complexity']} question"
    yield f"answerable {trace['answerable']:.2f}"
    yield f"recipe {trace['recipe']}"


def _window(window: Interval, zone: str) -> str:
    if window.end is None and window.start is not None:
        return f"since {local(window.start, zone):%Y-%m-%d}"
    if window.start is None and window.end is not None:
        return f"until {local(window.end, zone):%Y-%m-%d}"
    return spoken_of(window, zone)


def _drawn(memory: Recalled, number: int, best: float, scale: float, width: int) -> Table:
    """One memory: when, who, what; how it was found and where it comes from; what its score is made of."""
    from rich.table import Table

    said = f"{local(memory.said_at, memory.zone):%a %d %b %Y %H:%M}  ", "cyan"
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", width=3, style="dim")
    grid.add_column(overflow="fold")
    grid.add_row(str(number), styled(said, (f"{memory.speaker}: ", "bold"), memory.text))
    grid.add_row("", styled(listed(_found_by(memory, best), width - 4), style="dim"))
    if memory.why.parts:
        grid.add_row("", _parts(memory.why.parts, scale, wide=width >= WIDE))
    grid.add_row("", "")
    return grid


def _found_by(memory: Recalled, best: float) -> Iterable[str]:
    why = memory.why
    yield f"score {memory.score / best:.2f}"
    led_here = memory.kind == "fact" and abs(why.fused - memory.score) > 0.005
    if why.affinity is not None:
        yield f"affinity {why.affinity:.2f}" + ("" if led_here else f" ({why.fused:.2f} before SATF)")
    for channel, rank in why.ranks.items():
        yield f"{channel} #{rank} ({why.scores[channel]:.2f})"
    if why.beside is not None:
        yield f"beside {why.beside}"
    elif not why.ranks:
        yield "learned from a turn that was found" if memory.kind == "fact" else "found by no channel"
    elif led_here:
        yield f"comes with the turn it was learned from (by itself {_share(why.fused / best)})"
    if memory.kind == "fact":
        yield f"fact {memory.id}"
    if memory.turns:
        yield f"from {', '.join(memory.turns)}"
    if memory.session:
        yield f"session {memory.session}"


def _parts(parts: Mapping[str, float], scale: float, *, wide: bool) -> Table:
    """The largest parts with a bar each, and the sum of the others."""
    from rich.table import Table

    ranked = sorted(parts.items(), key=lambda part: -abs(part[1]))
    lines = [(score_label(name), value, bar(value, scale)) for name, value in ranked[:PARTS]]
    if rest := ranked[PARTS:]:
        others = "one other" if len(rest) == 1 else f"{len(rest)} others"
        lines.append((others, sum(value for _, value in rest), ""))
    columns = 2 if wide else 1
    rows = -(-len(lines) // columns)
    grid = Table.grid(padding=(0, 1))
    for _ in range(columns):
        grid.add_column(width=28)
        grid.add_column(justify="right", width=6)
        grid.add_column(width=LEFT + RIGHT + 1, no_wrap=True)
    for row in range(rows):
        cells: list[Text] = []
        for name, value, drawn in lines[row::rows]:
            style = "dim" if not drawn else "green" if value >= 0 else "red"
            cells.append(styled(name, style="" if drawn else "dim"))
            cells += [styled(f"{value:+.2f}", style=style), styled(drawn, style=style)]
        grid.add_row(*cells)
    return grid


def bar(value: float, scale: float) -> str:
    """A value to the right of an axis, or to its left when it is against; `scale` is what one cell stands for."""
    halves = max(1, round(abs(value) / scale * 2)) if scale > 0 else 1
    full, half = divmod(halves, 2)
    if value < 0:
        return ("▐" * half + "█" * full).rjust(LEFT) + "│"
    return " " * LEFT + "│" + "█" * full + "▌" * half


def _scale(memories: Sequence[Recalled]) -> float:
    """What one cell stands for, so that the largest parts on both sides fit: the same for all memories."""
    values = [value for memory in memories for value in memory.why.parts.values()]
    return max((value / RIGHT if value > 0 else -value / LEFT for value in values), default=1.0)


def _account(found: Recall, width: int) -> Table:
    """What the channels found, what was dropped and why, and where the time went."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", width=8)
    grid.add_column(style="dim", overflow="fold")
    trace = found.trace
    channels = [f"{name} {count}" for name, count in trace["found"].items()]
    kept = [f"{trace['candidates']} candidates", f"{len(found)} kept", f"{found.tokens} tokens"]
    grid.add_row("found", listed([*channels, *kept], width))
    for place, reason in enumerate(_reasons(found.dropped)):
        grid.add_row("" if place else "dropped", reason)
    grid.add_row("time", listed(_timings(trace["stages_ms"]), width))
    return grid


def _reasons(dropped: Sequence[Dropped]) -> Iterable[str]:
    """Dropped memories by reason, the first few of each by name."""
    by_reason: dict[str, list[Dropped]] = defaultdict(list)
    for one in dropped:
        # "confidence 0.12" and "confidence 0.31" are one reason.
        by_reason[re.sub(r"\s[\d.]+$", " too low", one.reason)].append(one)
    for reason, several in by_reason.items():
        first = ", ".join(f"{printable(one.id)} {_share(one.score)}" for one in several[:NAMED])
        yield f"{len(several)} {reason}: {first}{', …' if len(several) > NAMED else ''}"


def _timings(stages: Mapping[str, float]) -> Iterable[str]:
    """Milliseconds and share of each stage; two channels may run at the same time, so the sum is of work."""
    whole = sum(stages.values()) or 1.0
    large = {name: ms for name, ms in stages.items() if ms / whole >= LEAST_SHARE}
    yield f"{whole:.1f} ms"
    for name, ms in large.items():
        yield f"{name} {ms:.1f} ({ms / whole:.0%})"
    if len(large) < len(stages):
        yield f"others {whole - sum(large.values()):.1f}"


def _share(score: float) -> str:
    return f"{score:.2f}" if score >= 0.005 or score <= 0 else "<0.01"


def listed(items: Iterable[str], width: int) -> str:
    """Items on lines of at most a width, broken between items rather than within one."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 3 <= width:
            lines[-1] += f" · {item}"
        else:
            lines.append(item)
    return "\n".join(lines)
