"""What happened and what was true, along time: the timeline, and facts as bars."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from html import escape
from typing import Any, cast

from nicegui import ui

from everwhen.api.memory import Memory
from everwhen.types import NETWORKS, Conflict, Entity, Entry, Fact, Proposal, StaleFact
from everwhen.types.facts import event_title, old_in_words
from everwhen.ui.components import (
    WINDOWS,
    Act,
    Axis,
    badge,
    block,
    choice,
    day,
    dialog,
    empty,
    fitting,
    floor,
    markup,
    offer,
    pick,
    picked,
    press,
    row,
    said,
    search_field,
    shift,
    spaced,
    spoken,
)
from everwhen.ui.page import MOST_MENTIONS, UIPage
from everwhen_time import Grain

# Timeline


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
        as_of = self.session.as_of
        window = self._window(None)
        entries = memory.timeline(between=(window.start, window.end), as_of=as_of)
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
        lines = "".join(self._line(one, undated=True) for one in data.undated[:MOST_ENTRIES])
        return (
            f'<details id="undated"><summary>Told without a date {badge(str(len(data.undated)))}</summary>'
            f'<div class="rows">{lines}</div>{_more(len(data.undated))}</details>'
        )

    def _line(self, one: Entry, undated: bool = False) -> str:
        marks = badge(one.status) if one.status not in ("", "happened") else ""
        marks += badge(one.kind, "on") if one.kind.startswith("fact") else ""
        at = ("told " if undated else "") + escape(spoken(one.interval, one.zone))
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


# Facts


MOST_FACTS = 50
"""Facts on one page of them."""
MOST_QUEUED = 50
"""Stale facts that are shown at a time."""
STATES = {"holds": "Hold", "over": "Over", "all": "All"}
DECISIONS = {"confirm": "Still so", "correct": "Correct", "retract": "Never so"}
SIGNALS = {
    "age": "old",
    "contradiction": "contradicted",
    "context_mismatch": "does not fit",
    "user_correction": "corrected before",
    "external_change": "changed outside",
}


@dataclass(frozen=True, slots=True)
class FactsView:
    """What is believed, at the moment that the page looks from."""

    facts: list[Fact]
    holding: frozenset[str]
    confidence: dict[str, float]
    review: list[Conflict | Proposal]
    stale: list[StaleFact]
    count: int
    subjects: list[str]
    predicates: list[str]


class FactBars(UIPage):
    name, title, icon = "facts", "Facts", "fact_check"
    hint = "What is so, from when to when."

    @property
    def known(self) -> str:
        """With the slider in the past: as known then, or what is known of that day now."""
        return self.one_of("known", ("now",), "then")

    @property
    def state(self) -> str:
        return self.one_of("state", STATES, "holds")

    def controls(self) -> None:
        asked, change = self.asked, self.frame.change
        with block("div", "tools"):
            choice("Which facts", STATES, self.state, lambda state: change(state=state, page=""))
            self._subject = self.menu("About", "subject", {"": "Anybody"})
            self._predicate = self.menu("What", "predicate", {"": "Anything"})
            search_field("Words", asked.get("find", ""), lambda words: change(find=words, page=""))
            self._knowing = choice(
                "What was known",
                {"then": "As known then", "now": "As known now"},
                self.known,
                lambda known: change(known="" if known == "then" else known),
            )

    def draw(self, data: FactsView) -> None:
        self.facts = {fact.id: fact for fact in data.facts}
        may = self.may_change
        if data.review and not self.asked:
            self._review(data.review, may)
        offer(self._subject, {"": "Anybody", **{name: name for name in data.subjects}})
        offer(self._predicate, {"": "Anything", **{name: spaced(name) for name in data.predicates}})
        self._knowing.set_visibility(self.session.as_of is not None)
        if not data.facts and self.asked:
            empty("No fact is like that.", "Choose other filters, or all facts.", "search_off")
            return
        if not data.facts:
            hint = "What holds from one day to another, such as where somebody lives, is drawn here as a bar."
            past = "On that day nothing of the kind was known; move the slider to the right."
            empty("No facts are known yet.", hint if self.session.as_of is None else past, "fact_check")
            return
        picked(markup(self._bars(data), "sheet").props("id=bars"), self._open)
        self.pager(data.count, MOST_FACTS)
        if data.stale and not self.asked:
            self._stale(data.stale, may)

    # Reading

    def _read(self, memory: Memory) -> FactsView:
        as_of, moment = self.session.as_of, self.session.moment
        known = as_of if self.known == "then" else None
        facts = [fact for fact in memory.facts.versions() if _is_believed(fact, known)]
        held = memory.facts.current() if as_of is None else memory.facts.as_of(as_of, known_at=known)
        facts = [fact for fact in facts if fact.valid_from <= moment or as_of is None]
        holding = frozenset(fact.id for fact in held)
        subjects = sorted({fact.subject for fact in facts}, key=str.lower)
        predicates = sorted({fact.predicate for fact in facts})
        facts = [fact for fact in facts if self._wanted(fact, holding)]
        often = Counter(fact.subject for fact in facts)
        facts.sort(
            key=lambda fact: (-often[fact.subject], fact.subject.lower(), fact.predicate, fact.valid_from)
        )
        shown = self.page_of(facts, MOST_FACTS)
        review = memory.facts.review() if as_of is None else []
        stale = memory.facts.stale(now=moment, limit=MOST_QUEUED) if as_of is None else []
        asked = {side.id for one in review if isinstance(one, Conflict) for side in one.sides}
        return FactsView(
            shown,
            holding,
            {fact.id: memory.facts.confidence_at(fact, moment) for fact in shown if fact.id in holding},
            review,
            [one for one in stale if one.fact.id not in asked],  # those are decided above
            len(facts),
            subjects,
            predicates,
        )

    def _wanted(self, fact: Fact, holding: frozenset[str]) -> bool:
        """Whether the filters keep a fact."""
        subject, predicate, words = (self.asked.get(name, "") for name in ("subject", "predicate", "find"))
        holds = fact.id in holding
        return (
            (self.state == "all" or (holds or fact.status == "disputed") == (self.state == "holds"))
            and subject.lower() in ("", fact.subject.lower())
            and predicate in ("", fact.predicate)
            and all(word in fact.text.lower() for word in words.lower().split())
        )

    # Drawing

    def _bars(self, data: FactsView) -> str:
        as_of, moment, stats = self.session.as_of, self.session.moment, self.session.stats
        sides = [side for fact in data.facts for side in (fact.valid_from, fact.valid_to) if side is not None]
        start = min(fact.valid_from for fact in data.facts)
        end = max(filter(None, ((stats and stats.last) or moment, as_of, *sides)))
        if as_of is None and moment - end < timedelta(days=30):
            end = moment
        room = max((end - start) / 40, timedelta(days=1))
        axis = Axis(start - room, end + room, self.session.zone)
        ticks = axis.drawn_ticks(fitting(axis.start, axis.end), 22, as_of)
        out = [f'<div class="fact-axis"><span></span><svg class="chart" height="22">{ticks}</svg></div>']
        subject = None
        for fact in data.facts:
            if fact.subject != subject:
                subject = fact.subject
                out.append(f'<div class="group"><h2>{escape(subject)}</h2></div>')
            out.append(self._bar(fact, axis, data))
        return "".join(out)

    def _bar(self, fact: Fact, axis: Axis, data: FactsView) -> str:
        holds = fact.id in data.holding
        left = axis.place(fact.valid_from)
        width = max((axis.place(fact.valid_to) if fact.valid_to else 100.0) - left, 0.6)
        look = "disputed" if fact.status == "disputed" else "held" if holds else "over"
        sure = data.confidence.get(fact.id, fact.confidence)
        as_of = self.session.as_of
        line = axis.as_of_line(as_of, 26, ' stroke="var(--accent)" stroke-dasharray="3 3"') if as_of else ""
        until = f"until {day(self.session.local(fact.valid_to, fact.zone))}" if fact.valid_to else "still"
        since = day(self.session.local(fact.valid_from, fact.zone))
        title = escape(f"{fact.text}: since {since}, {until}")
        fade = 0.35 + 0.65 * sure if look == "held" else 1.0
        old = old_in_words(fact, sure, self.session.moment) if holds else ""
        marks = badge("disputed", "warn") if fact.status == "disputed" else ""
        marks += badge("you said so", "on") if fact.origin == "user" else ""
        marks += badge(old, "warn") if old else ""
        return (
            f'<div class="fact-row{"" if holds else " past"}" {pick(fact.id)} data-holds="{str(holds).lower()}" '
            f'data-fact="{title}"><span class="says">{escape(fact.text)} {marks}<br>'
            f'<span class="faint small num">{since} – {escape(until.removeprefix("until "))}</span></span>'
            f'<svg class="bar" aria-hidden="true"><title>{title}</title>'
            f'<rect class="ground" x="0" y="9" width="100%" height="8" rx="4"/>'
            f'<rect class="{look}" x="{left:.2f}%" y="7" width="{width:.2f}%" height="12" rx="4" opacity="{fade:.2f}"/>'
            f"{line}</svg></div>"
        )

    def _review(self, waiting: Sequence[Conflict | Proposal], may: bool) -> None:
        with block("section", "sheet pad stack", "id=review"):
            said(f"To decide: {len(waiting)}", tag="h2")
            for one in waiting:
                sides = one.sides if isinstance(one, Conflict) else (one.changes, one.fact)
                with block("div", "stack", f"data-conflict={one.id}"):
                    about = f"{sides[1].subject}, {spaced(sides[1].predicate)}"
                    said(f"{about}: {one.why}", "soft small")
                    marks = badge("Believed now", "on"), badge("Says otherwise", "warn")
                    with block("div", "two"):
                        for fact, mark in zip(sides, marks, strict=True):
                            if fact is not None:
                                self._side(one, fact, mark, may)
                    if may and isinstance(one, Conflict):
                        press("Neither is so", self._deciding("resolve", one.id, "neither"), "plain")
                    elif may:
                        press("It is so", self._deciding("confirm", one.id), "strong")
                        press("It is not so", self._deciding("reject", one.id), "plain")

    def _side(self, waiting: Conflict | Proposal, fact: Fact, mark: str, may: bool) -> None:
        often = "told once" if fact.support == 1 else f"told {fact.support} times"
        until = f" until {day(self.session.local(fact.valid_to, fact.zone))}" if fact.valid_to else ""
        with block("div", "side"):
            markup(mark, tag="span")
            said(fact.object, "wrap", "b")
            said(
                f"since {day(self.session.local(fact.valid_from, fact.zone))}{until} · {often} · {fact.origin}",
                "faint small",
            )
            if may and isinstance(waiting, Conflict):
                press(f"Keep “{fact.object}”", self._deciding("resolve", waiting.id, fact.id), "strong")

    def _stale(self, stale: Sequence[StaleFact], may: bool) -> None:
        with block("section", "sheet", "id=stale"):
            with block("div", "pad").style("padding-bottom: .3rem"):
                said(f"To check: {len(stale)}", tag="h2")
            # One piece of markup: fifty rows of buttons of their own take the browser half a second.
            rows = markup("".join(_stale_row(one, may) for one in stale))
        by_id = {one.fact.id: one.fact for one in stale}

        async def decide(picked_: str) -> None:
            what, _, id_ = picked_.partition(" ")
            done = self._decisions(by_id[id_])[what]()
            if done is not None:
                await done

        if may:
            picked(rows, decide)

    # Acting

    def _decisions(self, fact: Fact) -> dict[str, Act]:
        """What can be done about a fact, as `DECISIONS` calls it."""
        return {
            "confirm": partial(self._write, "confirm", lambda it: it.facts.confirm(fact.id), "Confirmed."),
            "correct": partial(self._correct, fact),
            "retract": partial(self._retract, fact),
        }

    async def _write(self, what: str, act: Callable[[Memory], Any], done: str) -> None:
        await self.frame.doing(lambda: self.session.write(f"facts/{what}", act), done)

    def _deciding(self, what: str, *of: str) -> Act:
        done = "Decided and written down."
        return partial(self._write, what, lambda it: getattr(it.facts, what)(*of), done)

    def _correct(self, fact: Fact) -> None:
        with dialog(f"What is right? {fact.subject} {spaced(fact.predicate)} …") as opened:
            right = ui.input(value=fact.object).props('outlined dense autofocus aria-label="What is right"')

            async def correct() -> None:
                words = str(right.value or "")
                opened.close()
                about = fact.subject, fact.predicate
                await self._write("correct", lambda it: it.facts.correct(*about, words), "Corrected.")

            press("Correct it", correct, "strong")

    def _retract(self, fact: Fact) -> None:
        note = "It stays in the history as taken back. If it only stopped being so, correct it instead."
        with dialog(f"{fact.text}: was this never so?", note) as opened:
            reason = ui.input("Why", value="wrong").props("outlined dense autofocus")

            async def retract() -> None:
                words = str(reason.value or "")
                opened.close()
                await self._write(
                    "retract", lambda it: it.facts.retract(fact.id, reason=words), "Taken back."
                )

            press("Take it back", retract, "strong")

    async def _open(self, id_: str) -> None:
        fact = self.facts.get(id_)
        if fact is not None:
            await self.frame.doing(lambda: self._history(fact), redraw=False)

    async def _history(self, fact: Fact) -> None:
        versions = await self.session.read(
            lambda memory: memory.facts.history(fact.subject, fact.predicate, versions=True)
        )
        known = self.session.as_of if self.known == "then" else None
        shown = [one for one in versions if known is None or one.recorded_at < known]
        title = f"{fact.subject} {spaced(fact.predicate)}"
        with dialog(title, "Every version that was ever believed, oldest first.", "history") as opened:
            markup("".join(self._version(one) for one in sorted(shown, key=lambda one: one.recorded_at)))
            with block("div", "actions"):
                if fact.sources:
                    press("What was said", partial(self.show_turns, fact.text, fact.sources))
                if self.may_change and fact.superseded_at is None:
                    with block("span", "actions").on("click", opened.close):
                        for what, act in self._decisions(fact).items():
                            press(DECISIONS[what], act, "bad" if what == "retract" else "")

    def _version(self, one: Fact) -> str:
        local = self.session.local
        until = day(local(one.valid_to, one.zone)) if one.valid_to else "…"
        believed = f"believed from {day(local(one.recorded_at))}"
        if one.superseded_at is not None:
            believed += f" to {day(local(one.superseded_at))}"
        kind = {"believed": "on", "disputed": "warn", "retracted": "bad"}.get(one.status, "")
        reason = f" · {escape(one.reason)}" if one.reason else ""
        return (
            f'<div class="turn"><b>{escape(one.object)}</b> {badge(one.status, kind)}<div class="meta num">'
            f"{day(local(one.valid_from, one.zone))} – {until} · {believed} · confidence {one.confidence:.2f} · "
            f"{escape(one.origin)}{reason}</div></div>"
        )


def _is_believed(fact: Fact, known_at: datetime | None) -> bool:
    """Whether this version is what is, or at that instant was, believed; overruled and retracted ones never were."""
    if fact.status in ("overruled", "proposed"):
        return False
    if known_at is None:
        return fact.superseded_at is None and fact.status in ("believed", "disputed")
    return fact.recorded_at <= known_at and (fact.superseded_at is None or fact.superseded_at > known_at)


def _stale_row(one: StaleFact, may: bool) -> str:
    """A fact that may not be so any more, and what can be done about it."""
    buttons = "".join(
        f'<button type="button" class="press{" bad" if what == "retract" else ""}" '
        f'data-pick="{what} {escape(one.fact.id)}">{words}</button>'
        for what, words in (DECISIONS if may else {}).items()
    )
    return (
        f'<div class="row-line" data-stale="{escape(one.fact.id)}"><span class="at num">'
        f"{badge(SIGNALS.get(one.signal, one.signal), 'warn')}</span>"
        f'<span class="what"><b>{escape(one.fact.text)}</b><br><span class="small soft">{escape(one.action)}</span>'
        f'</span><span class="actions">{buttons}</span></div>'
    )
