"""The small things that pages are made of: blocks, buttons, choices, empty states, the turns behind a memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from html import escape
from typing import Any
from urllib.parse import quote, urlencode

from nicegui import context, ui
from nicegui.element import Element
from nicegui.elements.dialog import Dialog
from nicegui.elements.html import Html
from nicegui.elements.select import Select
from nicegui.events import GenericEventArguments

from everwhen.api.memory import Memory
from everwhen.errors import NotFound
from everwhen.types import Turn
from everwhen.ui.page_auth import MOUNT
from everwhen.ui.page_session import PageSession
from everwhen_time import Interval
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

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
