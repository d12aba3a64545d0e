"""What happened, on a line: zoom by grain, pan, keep one entity, kind or network; what has no date stands apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from typing import cast

from nicegui import ui

from everwhen.memory import Memory
from everwhen.types import NETWORKS, Entry
from everwhen.ui.components import (
    badge,
    block,
    choice,
    empty,
    markup,
    pick,
    picked,
    press,
    show_turns,
    spoken,
)
from everwhen.ui.page import UIPage
from everwhen.ui.settings import MOST_ENTRIES, MOST_MENTIONS, MOST_ROWS
from everwhen.ui.time_axis import WINDOWS, Axis, floor, shift
from everwhen.when import Grain

KINDS = {"event": "Events", "fact": "Facts", "session": "Conversations"}
ROW, TOP = 24, 26
LEAST = 4
"""Units that one look shows at the least."""
LONG = 0.8
"""Per cent of the width from which an interval is drawn as a bar."""
LETTER = 0.64
"""Per cent of the width that one letter of a label takes, as a guess for packing rows."""


@dataclass(frozen=True, slots=True)
class TimelineView:
    """One look: what lies in the window, and what has no date of its own."""

    axis: Axis
    dated: list[Entry]
    undated: list[Entry]
    earlier: int
    later: int


class Timeline(UIPage):
    name, title, icon = "timeline", "Timeline", "timeline"
    hint = "What happened, and what is planned, in the order of time."

    def controls(self) -> None:
        self.grain: Grain = "month"
        self.entity = self.network = ""
        self.kinds = set(KINDS)
        self.entries: dict[str, Entry] = {}
        self.moved = 0
        with block("div", "tools"):
            choice("Zoom", {g: g.capitalize() for g in WINDOWS}, self.grain, self._zoom)
            press("", lambda: self._pan(-1), "icon", icon="chevron_left", hint="Earlier")
            press("", lambda: self._pan(1), "icon", icon="chevron_right", hint="Later")
            self._names = (
                ui.select(
                    {"": "Anybody"}, value="", label="Entity", on_change=lambda e: self._keep(entity=e.value)
                )
                .props("outlined dense options-dense behavior=menu")
                .style("min-width: 9rem")
            )
            ui.select(
                {"": "Any", **{n: n.capitalize() for n in NETWORKS}},
                value="",
                label="Network",
                on_change=lambda e: self._keep(network=e.value),
            ).props("outlined dense options-dense behavior=menu").style("min-width: 8rem")
            ui.select(
                KINDS,
                value=list(KINDS),
                multiple=True,
                label="Kinds",
                on_change=lambda e: self._keep(kinds=e.value),
            ).props("outlined dense options-dense behavior=menu").style("min-width: 11rem")

    async def load(self) -> TimelineView:
        names, seen = await self.session.read(self._read)
        self._names.set_options({"": "Anybody", **{name: name for name in names}})
        return seen

    def draw(self, data: TimelineView) -> None:
        self.entries = {str(number): one for number, one in enumerate((*data.dated, *data.undated))}
        if not self.entries and not data.earlier and not data.later:
            with block("div", "sheet"):
                empty(
                    "This bank has no events yet.",
                    "What people say they did, do or plan appears here, dated, as soon as it is read."
                    if self.session.as_of is None
                    else "Nothing was known yet on that day; move the slider to the right.",
                    "timeline",
                )
            return
        with block("div", "sheet pad"):
            chart = markup(self._chart(data))
            markup(
                '<span>events</span><span style="--of: var(--hue-1)">facts begin or end</span>'
                '<span style="--of: var(--faint)">conversations</span>',
                "legend",
            )
        listed = markup(self._list(data), "sheet")
        if not data.dated:
            with block("div", "sheet"):
                where = [f"{n} {side}" for n, side in ((data.earlier, "earlier"), (data.later, "later")) if n]
                empty(
                    "Nothing in this stretch of time.",
                    f"There is more: {', '.join(where) or 'none'}.",
                    "search_off",
                )
        apart = markup(self._apart(data), "sheet") if data.undated else None
        for part in (chart, listed, apart):
            if part is not None:
                picked(part, self._open)

    # Reading

    def _read(self, memory: Memory) -> tuple[list[str], TimelineView]:
        then = self.session.as_of
        names = [one.name for one in memory.entities() if then is None or (one.first and one.first < then)]
        events = {one.id: one for one in memory.events(as_of=then)}
        about: set[str] | None = None
        if self.entity:
            about = {unit.id for unit in memory.mentions(self.entity, MOST_MENTIONS)}
        kept = []
        for entry in memory.timeline(as_of=then):
            kind = "fact" if entry.kind.startswith("fact") else entry.kind
            if kind not in self.kinds:
                continue
            event = events.get(entry.ids[0]) if kind == "event" else None
            if then is not None and not _told_by(entry, event.said_at if event else None, then):
                continue
            network = event.network if event else "world"
            if self.network and (kind == "session" or network != self.network):
                continue
            if about is not None and not self._is_about(entry, about):
                continue
            kept.append(entry)
        return names[:200], self._seen(kept)

    def _is_about(self, entry: Entry, about: set[str]) -> bool:
        return not about.isdisjoint((*entry.ids, *entry.turns)) or self.entity.lower() in entry.text.lower()

    def _seen(self, entries: Sequence[Entry]) -> TimelineView:
        undated = [one for one in entries if one.inferred and one.kind == "event"]
        dated = [one for one in entries if not (one.inferred and one.kind == "event")]
        axis = self._axis([one for one in dated if one.kind != "session"] or dated)
        inside = [one for one in dated if _start(one) < axis.end and _end(one) > axis.start]
        return TimelineView(
            axis,
            inside,
            undated,
            sum(_end(one) <= axis.start for one in dated),
            sum(_start(one) >= axis.end for one in dated),
        )

    def _axis(self, entries: Sequence[Entry]) -> Axis:
        """The stretch that the grain shows, ending with the last thing known, moved as far as somebody panned."""
        stats = self.session.stats
        last = self.session.as_of or (stats.last if stats and stats.last else datetime.now(UTC))
        ahead = [_start(one) for one in entries if last < _start(one) < last + timedelta(days=60)]
        last = max(ahead, default=last)
        size = WINDOWS[self.grain]
        end = shift(floor(self.session.local(last), self.grain), self.grain, 1)
        end = shift(end, self.grain, self.moved * max(size // 2, 1))
        start = shift(end, self.grain, -size)
        if stats and stats.first and not self.moved:  # no empty half where the memory is young
            first = shift(floor(self.session.local(stats.first), self.grain), self.grain, -1)
            start = min(max(start, first), shift(end, self.grain, -LEAST))
        return Axis(start, end, self.session.zone)

    # Drawing

    def _chart(self, data: TimelineView) -> str:
        axis, rows, marks, hidden = data.axis, [0.0] * MOST_ROWS, [], 0
        numbered = {id(one): number for number, one in self.entries.items()}
        sessions = [axis.place(max(_start(one), axis.start)) for one in data.dated if one.kind == "session"]
        for one in data.dated:
            if one.kind == "session":
                continue
            x = axis.place(max(_start(one), axis.start))
            width = max(axis.place(min(_end(one), axis.end)) - x, 0.5)
            label = one.text if len(one.text) <= 44 else one.text[:43] + "…"
            words, after = 1.8 + LETTER * len(label), x + (width if width > LONG else 0.0)
            leftwards = after + words > 100 and x > words
            left = x - words if leftwards else x
            row = next((place for place, taken in enumerate(rows) if taken <= left), None)
            if row is None:
                hidden += 1
                continue
            rows[row] = (x + width if leftwards else max(x + width, after + words)) + 0.8
            marks.append(self._mark(one, numbered[id(one)], x, width, TOP + row * ROW, label, leftwards))
        lane = TOP + sum(taken > 0 for taken in rows) * ROW + 10
        height = lane + 14
        more = (
            f'<text x="100%" y="{height + 12}" text-anchor="end">{hidden} more: zoom in</text>'
            if hidden
            else ""
        )
        talked = "".join(
            f'<rect class="mark session" x="{x:.2f}%" width="3" height="9" y="{lane}" rx="1"/>'
            for x in sessions
        )
        return (
            f'<svg class="chart" height="{height + (18 if hidden else 4)}" role="group" '
            f'aria-label="Time axis, {len(data.dated)} entries">'
            f"{axis.drawn_ticks(self.grain, height, self.session.as_of)}{talked}{''.join(marks)}{more}</svg>"
        )

    @staticmethod
    def _mark(one: Entry, number: str, x: float, width: float, y: int, label: str, leftwards: bool) -> str:
        kind = "fact" if one.kind != "event" else escape(one.status)
        long = width > LONG
        shape = (
            f'<rect class="mark {kind}" x="{x:.2f}%" y="{y + 3}" width="{width:.2f}%" height="10" rx="5"/>'
            if long
            else f'<circle class="mark {kind}" cx="{x:.2f}%" cy="{y + 8}" r="4.5"/>'
        )
        at = x if leftwards or not long else x + width
        turned = 'dx="-9" text-anchor="end"' if leftwards else 'dx="9"'
        words = f'<text class="label wide-only" x="{at:.2f}%" y="{y + 12}" {turned}>{escape(label)}</text>'
        title = escape(f"{spoken(one.interval, one.zone)}: {one.text}")
        return f'<g {pick(number)} aria-label="{title}"><title>{title}</title>{shape}{words}</g>'

    def _list(self, data: TimelineView) -> str:
        numbered = {id(one): number for number, one in self.entries.items()}
        groups: dict[str, list[str]] = {}
        listed = [one for one in data.dated if one.kind != "session" or "event" not in self.kinds]
        for one in listed[:MOST_ENTRIES]:
            name = _unit(self.session.local(max(_start(one), data.axis.start)), self.grain)
            groups.setdefault(name, []).append(self._line(one, numbered[id(one)]))
        return "".join(
            f'<section class="group"><h3>{escape(name)}</h3><div class="rows">{"".join(lines)}</div></section>'
            for name, lines in groups.items()
        ) + _more(len(listed))

    def _apart(self, data: TimelineView) -> str:
        numbered = {id(one): number for number, one in self.entries.items()}
        lines = "".join(self._line(one, numbered[id(one)], told=True) for one in data.undated[:MOST_ENTRIES])
        return (
            f'<details id="undated"><summary>Told without a date {badge(str(len(data.undated)))}</summary>'
            f'<div class="rows">{lines}</div>{_more(len(data.undated))}</details>'
        )

    @staticmethod
    def _line(one: Entry, number: str, told: bool = False) -> str:
        marks = badge(one.status) if one.status not in ("", "happened") else ""
        marks += badge(one.kind, "on") if one.kind.startswith("fact") else ""
        at = spoken(one.interval, one.zone)
        return (
            f'<div class="row-line {escape(one.status)}" {pick(number)}>'
            f'<span class="at">{"told " if told else ""}{escape(at)}</span><span class="what">{escape(one.text)}</span>'
            f"<span>{marks}</span></div>"
        )

    # Acting

    async def _zoom(self, grain: str) -> None:
        self.grain, self.moved = cast(Grain, grain), 0
        await self.frame.refresh()

    async def _pan(self, step: int) -> None:
        self.moved += step
        await self.frame.refresh()

    async def _keep(
        self, entity: str | None = None, network: str | None = None, kinds: Sequence[str] | None = None
    ) -> None:
        self.entity = self.entity if entity is None else entity
        self.network = self.network if network is None else network
        self.kinds = self.kinds if kinds is None else set(kinds)
        await self.frame.refresh()

    async def _open(self, number: str) -> None:
        entry = self.entries.get(number)
        if entry is None:
            return
        note = f"{spoken(entry.interval, entry.zone)} · confidence {entry.confidence:.2f}"
        await self.frame.doing(lambda: show_turns(self.session, entry.text, entry.turns, note), redraw=False)


def _start(entry: Entry) -> datetime:
    return entry.interval.start or entry.interval.end or datetime.min.replace(tzinfo=UTC)


def _end(entry: Entry) -> datetime:
    if entry.interval.end is not None:
        return entry.interval.end
    return entry.interval.start or datetime.max.replace(tzinfo=UTC)


def _told_by(entry: Entry, said_at: datetime | None, then: datetime) -> bool:
    """Whether it was known by then: an event when it was told, all else when it began."""
    return (said_at or _start(entry)) < then


def _unit(local: datetime, grain: Grain) -> str:
    start = floor(local, grain)
    if grain == "year":
        return f"{start:%Y}"
    if grain == "month":
        return f"{start:%B %Y}"
    return f"{'Week of ' if grain == 'week' else f'{start:%A}, '}{start.day} {start:%B %Y}"


def _more(count: int) -> str:
    """A line that says how many entries are not listed."""
    rest = count - MOST_ENTRIES
    return f'<p class="faint">{rest:,} more: narrow the time or the entity</p>' if rest > 0 else ""
