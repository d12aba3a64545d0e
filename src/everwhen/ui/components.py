"""The small things that pages are made of: blocks, buttons, choices, empty states, the turns behind a memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from nicegui import context, ui
from nicegui.element import Element
from nicegui.elements.dialog import Dialog
from nicegui.elements.html import Html
from nicegui.elements.select import Select
from nicegui.events import GenericEventArguments

from everwhen.api.memory import Memory
from everwhen.errors import NotFound, UsageError
from everwhen.types import Receipt, Turn
from everwhen.ui.auth import MOUNT
from everwhen.ui.session import PageSession
from everwhen_time import Grain, Interval
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from everwhen.ui.layout import Layout

Act = Callable[[], Awaitable[None] | None]
PICK = "(event) => { const it = event.target.closest('[data-pick]'); if (it) emit(it.dataset.pick); }"


def block(tag: str = "div", classes: str = "", props: str = "") -> Element:
    return ui.element(tag).classes(classes).props(props)


def markup(text: str, classes: str = "", tag: str = "div") -> Html:
    """HTML that we wrote ourselves: whatever was remembered is escaped where it is put in."""
    return ui.html(text, sanitize=False, tag=tag).classes(classes)


def said(text: str, classes: str = "", tag: str = "p") -> Html:
    """Plain words."""
    return markup(escape(text), classes, tag)


def press(label: str, act: Act, kind: str = "", *, icon: str = "", hint: str = "") -> Element:
    """A button."""
    button = block("button", f"press {kind}", "type=button")
    if hint:
        button.props["aria-label"] = button.props["title"] = hint
    with button:
        if icon:
            ui.icon(icon).props("aria-hidden=true")
        if label:
            said(label, tag="span")
    return button.on("click", lambda _: act())


def choice(label: str, options: Mapping[str, str], chosen: str, act: Callable[[str], Any]) -> Element:
    """One of a few, side by side."""
    group = block("div", "choice", "role=group")
    group.props["aria-label"] = label
    buttons: dict[str, Element] = {}

    def choose(name: str) -> Any:
        for key, button in buttons.items():
            button.props["aria-pressed"] = "true" if key == name else "false"
            button.update()
        return act(name)

    with group:
        for name, words in options.items():
            button = block("button", "", "type=button")
            button.props["aria-pressed"] = "true" if name == chosen else "false"
            with button:
                said(words, tag="span")
            buttons[name] = button.on("click", lambda name=name: choose(name))
    return group


def picked(element: Element, act: Callable[[str], Any]) -> Element:
    """Hear of clicks on anything inside that has a `data-pick`."""

    async def heard(event: GenericEventArguments) -> None:
        done = act(str(event.args))
        if done is not None:
            await done

    return element.on("click", heard, js_handler=PICK)


def pick(it: object) -> str:
    """The attributes of what can be picked, by mouse or by key."""
    return f'data-pick="{escape(str(it))}" tabindex="0" role="button"'


def row(it: object, at: str, what: str, beside: str = "", kind: str = "") -> str:
    """A line of a list, to be picked: when, what, and what stands beside that, all as HTML."""
    return (
        f'<div class="row-line {kind}" {pick(it)}><span class="at">{at}</span>'
        f'<span class="what">{what}</span>{beside}</div>'
    )


def legend(hues: Mapping[str, str]) -> Html:
    """What colours stand for, each by its name in the style sheet."""
    return markup(
        "".join(f'<span style="--of: var({hue})">{escape(name)}</span>' for name, hue in hues.items()),
        "legend",
    )


def empty(title: str, hint: str, icon: str) -> Element:
    """A sheet with what stands where there is nothing yet."""
    with block("div", "sheet") as sheet, block("div", "empty"):
        ui.icon(icon).props("aria-hidden=true")
        said(title, tag="h2")
        said(hint)
    return sheet


def heading(title: str, hint: str, session: PageSession) -> None:
    """A page's first line; says so when it shows the past."""
    with block("div", "head"):
        said(title, tag="h1")
        said(hint)
        if session.as_of is not None:
            said(f"as of {day(session.local(session.as_of), before=True)}", "then", "span")


def day(instant: datetime, *, before: bool = False) -> str:
    """A date for the eye; with `before`, the last day that lies wholly before the instant."""
    shown = instant - timedelta(microseconds=1) if before else instant
    return f"{shown.day} {shown:%b %Y}"


def spoken(interval: Interval | None, zone: str) -> str:
    """An interval as people say it."""
    if interval is None:
        return "no date"
    short = interval.length is None or interval.length < timedelta(days=1)
    if interval.start is not None and short and interval.grain in ("second", "minute", "hour"):
        start = interval.start.astimezone(zone_of(zone))
        return f"{'since ' if interval.end is None else ''}{day(start)}, {start:%H:%M}"
    return in_plain_words(interval, zone)


def spaced(predicate: str) -> str:
    """A predicate as people read it: "lives in"."""
    return predicate.replace("_", " ")


def badge(text: str, kind: str = "") -> str:
    return f'<span class="badge {kind}">{escape(text)}</span>'


@contextmanager
def dialog(title: str, note: str = "", id_: str = "") -> Iterator[Dialog]:
    """A window over the page: a title, what the block puts in, and a way out. It opens when the block ends.

    It belongs to the page, not to what was pressed: that may be in another dialog, which goes when it closes.
    """
    here = context.client.content
    with here, ui.dialog() as opened, block("div", "dialog stack", "role=dialog aria-modal=true"):
        inside = opened.default_slot.children[0]
        inside.props["aria-label"] = title[:120]
        if id_:
            inside.props["id"] = id_
        said(title, "wrap", "h2")
        if note:
            said(note, "soft small")
        yield opened
        press("Close", opened.close, "plain")
    opened.on("hide", opened.delete)
    opened.open()


def search_field(label: str, value: str, act: Callable[[str], Awaitable[None]]) -> Element:
    """Words to look for; they are taken when Enter is pressed or the field is emptied."""
    field = ui.input(label, value=value).props("outlined dense clearable type=search autocomplete=off")
    field.on("keydown.enter", lambda: act(str(field.value or "").strip()))
    field.on("clear", lambda: act(""))
    return field.classes("find")


def chooser(label: str, options: Mapping[str, str], value: str, act: Callable[[str], Any]) -> Select:
    """One of many, from a menu."""
    every = _with(options, value)
    chosen = ui.select(every, value=value, label=label, on_change=lambda event: act(str(event.value or "")))
    chosen.props("outlined dense options-dense behavior=menu").classes("menu")
    return chosen


def offer(chosen: Select, options: Mapping[str, str]) -> None:
    """Give a menu other choices, where they are others: drawing it again takes the browser a while."""
    every = _with(options, str(chosen.value or ""))
    if every != chosen.options:
        chosen.set_options(every)


def _with(options: Mapping[str, str], value: str) -> dict[str, str]:
    return {value: value, **options} if value not in options else dict(options)


async def show_turns(session: PageSession, title: str, ids: Sequence[str], note: str = "") -> None:
    """What was said, word for word, in a dialog."""
    turns = await session.read(
        lambda memory: [turn for id_ in ids[:50] for turn in _around(memory, id_)], fresh=False
    )
    seen: dict[str, Turn] = {turn.id: turn for turn in turns}
    listed = sorted(seen.values(), key=lambda turn: (turn.said_at, turn.seq))
    with dialog(title, note):
        lines = "".join(turn_line(session, turn, turn.id in ids) for turn in listed)
        markup(lines or "<p class='soft'>No turn.</p>")
        for turn in [turn for turn in listed if turn.id in ids][:1]:
            query = urlencode({"session": turn.session, "turn": turn.id})
            address = f"{MOUNT}/{quote(session.bank)}/conversations?{query}"
            markup(f'<a class="small" href="{escape(address)}">Read the conversation</a>')


def _around(memory: Memory, id_: str) -> list[Turn]:
    try:
        return list(memory.turns_around(id_, 1))
    except NotFound:  # forgotten since
        return []


def turn_line(session: PageSession, turn: Turn, strong: bool = True, forget: bool = False) -> str:
    """One turn as it was said; with `forget`, a button that can be picked by the turn's id."""
    at = session.local(turn.said_at)
    weight = "" if strong else " faint"
    button = (
        f'<button type="button" class="press plain forget-turn" data-pick="{escape(turn.id)}" '
        f'aria-label="Forget this turn of {escape(turn.speaker)}">Forget</button>'
        if forget
        else ""
    )
    return (
        f'<div class="turn{weight}" data-turn="{escape(turn.id)}"><div class="meta">{escape(turn.speaker)} · '
        f"{day(at)}, {at:%H:%M}{button}</div><div class='wrap'>{escape(turn.text)}</div></div>"
    )


# Time as a line


WINDOWS: dict[str, int] = {"day": 14, "week": 12, "month": 12, "year": 6}
"""Units of each grain that one look shows."""
MOST_TICKS = 16


@dataclass(frozen=True, slots=True)
class Axis:
    """A stretch of time, drawn over the whole width."""

    start: datetime
    end: datetime
    zone: str

    def place(self, instant: datetime) -> float:
        """Per cent from the left, held inside."""
        whole = (self.end - self.start).total_seconds() or 1.0
        return min(max((instant - self.start).total_seconds() / whole * 100.0, 0.0), 100.0)

    def ticks(self, grain: Grain) -> Iterator[tuple[float, str]]:
        """Where units of a grain begin, and what each is called; thinned out where they are too many."""
        found: list[datetime] = []
        at = floor(self.start.astimezone(zone_of(self.zone)), grain)
        while at < self.end and len(found) < 400:
            if at >= self.start:
                found.append(at)
            at = shift(at, grain, 1)
        step = -(-len(found) // MOST_TICKS) or 1
        for instant in found[::step]:
            yield self.place(instant), _called(instant, grain)

    def drawn_ticks(self, grain: Grain, height: int, as_of: datetime | None) -> str:
        """The ticks as SVG, and a line for the moment that the page looks from."""
        out = [
            f'<line class="tick" x1="{x:.2f}%" x2="{x:.2f}%" y1="18" y2="{height}"/>'
            f'<text class="{"even" if place % 2 else ""}" x="{x:.2f}%" y="12" {_label_anchor(x)}>{escape(name)}</text>'
            for place, (x, name) in enumerate(self.ticks(grain))
        ]
        if as_of is not None and self.start <= as_of <= self.end:
            out.append(self.as_of_line(as_of, height))
        return "".join(out)

    def as_of_line(self, as_of: datetime, height: int, look: str = "") -> str:
        """A line for the moment that the page looks from."""
        x = self.place(as_of)
        return f'<line class="then-line" x1="{x:.2f}%" x2="{x:.2f}%" y1="0" y2="{height}"{look}/>'


def floor(local: datetime, grain: Grain) -> datetime:
    """The beginning of the unit that an instant lies in."""
    start = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if grain == "week":
        return start - timedelta(days=start.weekday())
    if grain == "month":
        return start.replace(day=1)
    return start.replace(month=1, day=1) if grain == "year" else start


def shift(local: datetime, grain: Grain, units: int) -> datetime:
    """So many units later; local midnights stay midnights."""
    if grain in ("day", "week"):
        return local + timedelta(days=units * (7 if grain == "week" else 1))
    months = local.year * 12 + local.month - 1 + units * (12 if grain == "year" else 1)
    year, month = divmod(months, 12)
    return local.replace(year=min(max(year, 1), 9998), month=month + 1, day=1)


def fitting(start: datetime, end: datetime) -> Grain:
    """The grain whose ticks suit a stretch of time."""
    days = (end - start).days
    return "day" if days <= 16 else "week" if days <= 110 else "month" if days <= 1100 else "year"


def _label_anchor(x: float) -> str:
    """The name stands to the right of its tick, but not out of the picture."""
    return 'dx="-3" text-anchor="end"' if x > 96 else 'dx="3"'


def _called(instant: datetime, grain: Grain) -> str:
    if grain == "year":
        return f"{instant:%Y}"
    if grain == "month":
        return f"{instant:%b %Y}" if instant.month == 1 else f"{instant:%b}"
    return f"{instant.day} {instant:%b}"


# Forgetting: first what would go, counted; then, pressed again, for good


COUNTED = {
    "turns": "turns",
    "sessions": "whole conversations",
    "events": "events",
    "facts": "facts, in every version",
    "entities": "names",
    "nodes": "summaries",
}
NOT_YET = "Nothing has been forgotten yet. This would go:"
FOR_GOOD = "It cannot be taken back, and it does not come back by importing the same again."


async def offer_forget(
    session: PageSession,
    frame: Layout,
    what: str,
    page: str,
    asked: Mapping[str, str] | None = None,
    /,
    **named: Any,
) -> None:
    """Say what would be forgotten with `what`; `named` are the arguments of `Memory.forget`. Then turn to `page`, with
    what its address asks for."""

    async def leave() -> None:
        await _forget(session, False, **named)
        await session.look()
        await frame.turn_to(page, **(asked or {}))

    async def look() -> None:
        _ask(frame, what, await _forget(session, True, **named), leave)

    await frame.doing(look, redraw=False)


def offer_stretch(session: PageSession, frame: Layout, page: str) -> None:
    """Ask for the first and the last day of a stretch of time, then say what would go with it."""
    note = "Everything that was said on these days; both are included."
    with dialog("Forget a stretch of time", note) as opened:
        with ui.element("div").classes("tools"):
            first, last = (
                ui.input(label).props("outlined dense stack-label type=date") for label in ("From", "Until")
            )

        async def count() -> None:
            try:
                days = [date.fromisoformat(str(field.value or "")) for field in (first, last)]
            except ValueError:
                said_ = "choose both days: the first and the last of what is to be forgotten"
                raise UsageError(said_) from None
            if days[1] < days[0]:
                raise UsageError("the last day lies before the first one")
            opened.close()
            named = " to ".join(dict.fromkeys(f"{one.day} {one:%b %Y}" for one in days))
            what, between = f"what was said on {named}", tuple(map(str, days))
            await offer_forget(session, frame, what, page, between=between)

        press("Count what would go", partial(frame.doing, count, redraw=False), "strong")


async def offer_delete_bank(session: PageSession, frame: Layout) -> None:
    """Say what a bank holds, and delete it once its name is typed; then show another one."""

    async def delete() -> None:
        await session.delete()
        frame.leave()

    async def look() -> None:
        would = await _forget(session, True, everything=True)
        _ask(frame, f"the whole bank “{session.bank}”", would, delete, typed=session.bank)

    await frame.doing(look, redraw=False)


def _ask(
    frame: Layout, what: str, would: Receipt, act: Callable[[], Awaitable[None]], typed: str = ""
) -> None:
    """The dialog: what would go, that it is for good, and the button; where a name is to be `typed`, only then."""
    counts = {words: len(getattr(would, name)) for name, words in COUNTED.items()}
    lines = "".join(
        f"<dt class='num'>{count:,}</dt><dd>{escape(words)}</dd>" for words, count in counts.items() if count
    )
    with dialog(f"Forget {what}?", NOT_YET, "forget") as opened:
        markup(f'<dl class="pairs">{lines or "<dt>0</dt><dd>nothing</dd>"}</dl>')
        if would.rebuilt:
            said(f"{len(would.rebuilt):,} turns that stay are read again without it.", "soft small")
        said("The bank goes with its settings. It cannot be taken back." if typed else FOR_GOOD, "soft small")
        name = ui.input(f"Type “{typed}” to go on") if typed else None
        if name is not None:
            name.props("outlined dense autocomplete=off")

        async def forget() -> None:
            if name is not None and str(name.value or "").strip() != typed:
                raise UsageError(f"the name is not “{typed}”; nothing was forgotten")
            opened.close()
            await act()

        go = partial(frame.doing, forget, f"Forgotten: {what}.", redraw=False)
        press("Forget for good", go, "strong danger", icon="delete_forever")


async def _forget(session: PageSession, dry_run: bool, /, **named: Any) -> Receipt:
    def act(memory: Memory) -> Receipt:
        receipt: Receipt = memory.forget(dry_run=dry_run, **named)
        if not dry_run:
            session.visitor.state.forget(session.bank)  # what the server itself keeps of it
        return receipt

    return await session.write(
        "forget dry run" if dry_run else "forget",
        act,
        scope="admin" if named.get("everything") else "write",
        operation="delete_memory",
        alone=False,
    )
