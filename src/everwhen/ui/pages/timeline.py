"""What happened, on a line: zoom by grain, pan, keep one entity, kind or network; what has no date stands apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from typing import cast

from nicegui import ui

from everwhen.api.memory import Memory
from everwhen.types import NETWORKS, Entity, Entry
from everwhen.types.events_and_facts import event_title
from everwhen.ui.components import (
    badge,
    block,
    choice,
    empty,
    markup,
    offer,
    pick,
    picked,
    press,
    row,
    spoken,
)
from everwhen.ui.page import MOST_MENTIONS, UIPage
from everwhen.ui.time_axis import WINDOWS, Axis, floor, shift
from everwhen_time import Grain

MOST_ENTRIES = 100
"""Lines of a timeline's window on one page of its list, and of those without a date; the rest is counted."""
MOST_ROWS = 12
"""Rows of events that the time axis draws one above the other."""
MOST_NAMES = 200
"""Entities that the menu offers, those spoken of most."""
AHEAD = timedelta(days=60)
"""How far ahead of the last words a plan moves the end of the axis."""
EXTRA: dict[str, int] = {"day": 60, "week": 9, "month": 3, "year": 1}
"""As much, in units of each grain."""
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


class Timeline(UIPage):
    name, title, icon = "timeline", "Timeline", "timeline"
    hint = "What happened, and what is planned, in the order of time."

    @property
    def grain(self) -> Grain:
        return cast(Grain, self.one_of("zoom", WINDOWS, "month"))

    @property
    def kinds(self) -> set[str]:
        given = self.asked.get("kinds", "")
        return {kind for kind in KINDS if kind in given.split(",")} or set(KINDS)

    @property
    def moved(self) -> int:
        """Half windows that somebody panned by."""
        given = self.asked.get("moved", "0")
        return int(given) if re.fullmatch(r"-?\d{1,3}", given) else 0

    def controls(self) -> None:
        with block("div", "tools"):
            grains = {g: g.capitalize() for g in WINDOWS}
            choice("Zoom", grains, self.grain, lambda g: self.frame.change(zoom=g, moved="", page=""))
            press("", lambda: self._pan(-1), "icon", icon="chevron_left", hint="Earlier")
            press("", lambda: self._pan(1), "icon", icon="chevron_right", hint="Later")
            self._entity = self.menu("Entity", "entity", {"": "Anybody"})
            self.menu("Network", "network", {"": "Any", **{n: n.capitalize() for n in NETWORKS}})
            shown = self.kinds
            ui.select(
                KINDS,
                value=[kind for kind in KINDS if kind in shown],
                multiple=True,
                label="Kinds",
                on_change=lambda e: self.frame.change(
                    kinds=",".join(e.value) if len(e.value) < len(KINDS) else "", page=""
                ),
            ).props("outlined dense options-dense behavior=menu").style("min-width: 11rem")

    def draw(self, data: TimelineView) -> None:
        if "entities" in self._kept:
            self._offer_names(self._kept["entities"])
        else:  # the menu can wait until the rest is shown
            ui.timer(0.01, self._read_names, once=True)
        self.entries = {str(number): one for number, one in enumerate((*data.dated, *data.undated))}
        self.numbers = {id(one): number for number, one in self.entries.items()}
        if not self.entries and not self.asked:
            hint = "What people say they did, do or plan appears here, dated, as soon as it is read."
            past = "Nothing was known yet on that day; move the slider to the right."
            empty("This bank has no events yet.", hint if self.session.as_of is None else past, "timeline")
            return
        with block("div", "sheet pad"):
            # Right to left: what does not fit on a phone is the past, and the newest is seen first.
            with block("div", "sideways", 'tabindex=0 role=region dir=rtl aria-label="Time axis"'):
                chart = markup(self._chart(data)).props("dir=ltr")
            markup(
                '<span>events</span><span style="--of: var(--hue-1)">facts begin or end</span>'
                '<span style="--of: var(--faint)">conversations</span>',
                "legend",
            )
        several = [one for one in data.dated if one.kind != "session" or "event" not in self.kinds]
        # The newest are on the first page of the list, in the order of time like all of it.
        number = min(self.number, max(-(-len(several) // MOST_ENTRIES), 1))
        end = len(several) - (number - 1) * MOST_ENTRIES
        lines = several[max(end - MOST_ENTRIES, 0) : end]
        listed = markup(self._list(data, lines), "sheet") if lines else None
        self.pager(len(several), MOST_ENTRIES, number, ("Later", "Earlier"))
        if not data.dated:
            hint = "Look earlier or later, zoom out, or keep fewer filters."
            empty("Nothing in this stretch of time.", hint, "search_off")
        apart = markup(self._apart(data), "sheet") if data.undated else None
        for part in (chart, listed, apart):
            if part is not None:
                picked(part, self._open)

    # Reading

    async def _read_names(self) -> None:
        found = await self.session.read(lambda memory: self.kept("entities", memory.entities))
        self._offer_names(found)

    def _offer_names(self, entities: Sequence[Entity]) -> None:
        names = [one.name for one in entities if self.session.by_then(one.first)]
        offer(self._entity, {"": "Anybody", **{name: name for name in names[:MOST_NAMES]}})

    def _read(self, memory: Memory) -> TimelineView:
        then = self.session.as_of
        window = self._window(None)
        entries = memory.timeline(between=(window.start, window.end), as_of=then)
        entity, network = self.asked.get("entity", ""), self.asked.get("network", "")
        networks = self._networks(memory, entries, window) if network else {}
        about = {unit.id for unit in memory.mentions(entity, MOST_MENTIONS)} if entity else None
        kept = []
        for entry in entries:
            kind = "fact" if entry.kind.startswith("fact") else entry.kind
            if kind not in self.kinds or (kind != "event" and not self.session.by_then(_start(entry))):
                continue
            if network and (kind == "session" or networks.get(entry.ids[0], "world") != network):
                continue
            if about is not None and not _is_about(entry, entity, about):
                continue
            kept.append(entry)
        undated = [one for one in kept if one.inferred and one.kind == "event"]
        dated = [one for one in kept if not (one.inferred and one.kind == "event")]
        axis = self._window([one for one in dated if one.kind != "session"])
        return TimelineView(
            axis, [one for one in dated if _start(one) < axis.end and _end(one) > axis.start], undated
        )

    def _networks(self, memory: Memory, entries: Sequence[Entry], window: Axis) -> dict[str, str]:
        """The network of each event on the timeline. The calendar is read again only where the slider has come to an
        event that was not seen yet."""
        networks: dict[str, str] = self.kept("networks", dict)
        if any(one.kind == "event" and one.ids[0] not in networks for one in entries):
            for event in memory.events(between=(window.start, window.end), as_of=self.session.as_of):
                networks[event.id] = event.network
        return networks

    def _window(self, entries: Sequence[Entry] | None) -> Axis:
        """The stretch that the grain shows, moved as far as somebody panned. It ends with the last of the entries,
        or, while they are not known, as far ahead as any may lie that it would end with."""
        stats, size = self.session.stats, WINDOWS[self.grain]
        last = self.session.as_of or (stats.last if stats and stats.last else datetime.now(UTC))
        soon = last + AHEAD
        if entries is None:
            last = soon
        else:
            last = max((_start(one) for one in entries if last < _start(one) < soon), default=last)
        end = shift(floor(self.session.local(last), self.grain), self.grain, 1)
        end = shift(end, self.grain, self.moved * max(size // 2, 1))
        start = shift(end, self.grain, -size if entries is not None else -size - EXTRA[self.grain])
        # No empty half where it is young.
        if stats and stats.first and not self.moved and entries is not None:
            first = shift(floor(self.session.local(stats.first), self.grain), self.grain, -1)
            start = min(max(start, first), shift(end, self.grain, -LEAST))
        return Axis(start, end, self.session.zone)

    # Drawing

    def _chart(self, data: TimelineView) -> str:
        axis, marks, hidden = data.axis, [], 0
        rows: list[list[tuple[float, float]]] = [[] for _ in range(MOST_ROWS)]
        sessions = [axis.place(max(_start(one), axis.start)) for one in data.dated if one.kind == "session"]
        # Events have the first choice of room, then facts by how sure they are.
        drawn = [one for one in data.dated if one.kind != "session"]
        for one in sorted(drawn, key=lambda one: (one.kind != "event", -one.confidence)):
            x = axis.place(max(_start(one), axis.start))
            width = max(axis.place(min(_end(one), axis.end)) - x, 0.5)
            label = event_title(one.text)
            label = label if len(label) <= 44 else label[:43] + "…"
            words, after = 1.8 + LETTER * len(label), x + (width if width > LONG else 0.0)
            leftwards = after + words > 100 and x > words
            left, right = (x - words, x + width) if leftwards else (x, max(x + width, after + words))
            row = next(
                (n for n, taken in enumerate(rows) if all(right + 0.8 <= a or left >= b for a, b in taken)),
                None,
            )
            if row is None:
                hidden += 1
                continue
            rows[row].append((left, right + 0.8))
            marks.append((x, self._mark(one, x, width, TOP + row * ROW, label, leftwards)))
        lane = TOP + sum(bool(taken) for taken in rows) * ROW + 10
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
        drawn_marks = [mark for _, mark in sorted(marks)]
        return (
            f'<svg class="chart" height="{height + (18 if hidden else 4)}" role="group" '
            f'aria-label="Time axis, {len(data.dated)} entries">'
            f"{axis.drawn_ticks(self.grain, height, self.session.as_of)}{talked}{''.join(drawn_marks)}{more}</svg>"
        )

    def _mark(self, one: Entry, x: float, width: float, y: int, label: str, leftwards: bool) -> str:
        kind = "fact" if one.kind != "event" else escape(one.status)
        long = width > LONG
        shape = (
            f'<rect class="mark {kind}" x="{x:.2f}%" y="{y + 3}" width="{width:.2f}%" height="10" rx="5"/>'
            if long
            else f'<circle class="mark {kind}" cx="{x:.2f}%" cy="{y + 8}" r="4.5"/>'
        )
        at = x if leftwards or not long else x + width
        turned = 'dx="-9" text-anchor="end"' if leftwards else 'dx="9"'
        words = f'<text class="label" x="{at:.2f}%" y="{y + 12}" {turned}>{escape(label)}</text>'
        title = escape(f"{spoken(one.interval, one.zone)}: {event_title(one.text)}")
        return f"<g {pick(self.numbers[id(one)])}><title>{title}</title>{shape}{words}</g>"

    def _list(self, data: TimelineView, listed: Sequence[Entry]) -> str:
        groups: dict[str, list[str]] = {}
        for one in listed:
            name = _unit(self.session.local(max(_start(one), data.axis.start)), self.grain)
            groups.setdefault(name, []).append(self._line(one))
        return "".join(
            f'<section class="group"><h2>{escape(name)}</h2><div class="rows">{"".join(lines)}</div></section>'
            for name, lines in groups.items()
        )

    def _apart(self, data: TimelineView) -> str:
        lines = "".join(self._line(one, told=True) for one in data.undated[:MOST_ENTRIES])
        return (
            f'<details id="undated"><summary>Told without a date {badge(str(len(data.undated)))}</summary>'
            f'<div class="rows">{lines}</div>{_more(len(data.undated))}</details>'
        )

    def _line(self, one: Entry, told: bool = False) -> str:
        marks = badge(one.status) if one.status not in ("", "happened") else ""
        marks += badge(one.kind, "on") if one.kind.startswith("fact") else ""
        at = ("told " if told else "") + escape(spoken(one.interval, one.zone))
        return row(
            self.numbers[id(one)],
            at,
            escape(event_title(one.text)),
            f"<span>{marks}</span>",
            escape(one.status),
        )

    # Acting

    async def _pan(self, step: int) -> None:
        await self.frame.change(moved=str(self.moved + step) if self.moved + step else "", page="")

    async def _open(self, number: str) -> None:
        entry = self.entries.get(number)
        if entry is None:
            return
        note = f"{spoken(entry.interval, entry.zone)} · confidence {entry.confidence:.2f}"
        await self.show_turns(event_title(entry.text), entry.turns, note)


def _start(entry: Entry) -> datetime:
    return entry.interval.start or entry.interval.end or datetime.min.replace(tzinfo=UTC)


def _end(entry: Entry) -> datetime:
    if entry.interval.end is not None:
        return entry.interval.end
    return entry.interval.start or datetime.max.replace(tzinfo=UTC)


def _is_about(entry: Entry, name: str, units: set[str]) -> bool:
    return not units.isdisjoint((*entry.ids, *entry.turns)) or name.lower() in entry.text.lower()


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
