"""One page of the user interface: controls that stay, data that is loaded in a thread, and a drawing of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from nicegui.elements.select import Select

from everwhen.api.memory import Memory
from everwhen.ui.components import block, chooser, press, said, show_turns
from everwhen.ui.session import PageSession

if TYPE_CHECKING:
    from everwhen.ui.layout import Layout

T = TypeVar("T")
MOST_MENTIONS = 200
"""Memories of one entity that the graph counts, newest first."""


class UIPage:
    """One of the pages. What it shows follows from its address: `asked`, and the day that the slider is at."""

    name: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]
    hint: ClassVar[str]

    def __init__(self, session: PageSession, frame: Layout, asked: Mapping[str, str]) -> None:
        self.session = session
        self.frame = frame
        self.asked = dict(asked)
        self._kept: dict[str, Any] = {}

    def controls(self) -> None:
        """What stays while the drawing changes."""

    async def load(self) -> Any:
        """Everything that is drawn, read in one go."""
        return await self.session.read(self._read)

    def _read(self, memory: Memory) -> Any:
        """The same, in a thread; a page that reads in another way has a `load` of its own."""
        raise NotImplementedError

    def draw(self, data: Any) -> None:
        """What was loaded, as elements."""
        raise NotImplementedError

    def read_again(self) -> None:
        """Drop what was kept: the bank may have changed."""
        self._kept.clear()

    def kept(self, what: str, read: Callable[[], T]) -> T:
        """What does not depend on the slider, read once and kept while it moves."""
        if what not in self._kept:
            self._kept[what] = read()
        found: T = self._kept[what]
        return found

    async def show_turns(self, title: str, ids: Sequence[str], note: str = "") -> None:
        """What was said, word for word, in a dialog."""
        await self.frame.doing(lambda: show_turns(self.session, title, ids, note), redraw=False)

    def whole(self, name: str, default: int) -> int:
        """A whole number that the address asks for."""
        given = self.asked.get(name, "")
        return int(given) if given.isdecimal() and len(given) < 7 else default

    def one_of(self, name: str, among: Collection[str], default: str) -> str:
        """One of a few words that the address asks for."""
        given = self.asked.get(name, "")
        return given if given in among else default

    @property
    def number(self) -> int:
        """The page of a list that is asked for, from 1."""
        return max(self.whole("page", 1), 1)

    def menu(self, label: str, name: str, options: Mapping[str, str]) -> Select:
        """A menu for something that the address asks for."""
        change = self.frame.change
        return chooser(label, options, self.asked.get(name, ""), lambda it: change(**{name: it, "page": ""}))

    def page_of(self, items: list[T], size: int) -> list[T]:
        """The part of a list that is asked for."""
        start = (self.number - 1) * size
        return items[start : start + size]

    def pager(
        self, count: int, size: int, number: int = 0, words: tuple[str, str] = ("Back", "More")
    ) -> None:
        """Which of many rows are shown, and the way to the others."""
        number = number or self.number
        last = -(-count // size)
        if last <= 1:
            return

        async def turn(by: int) -> None:
            await self.frame.change(page=str(number + by))

        with block("nav", "tools pager", 'aria-label="Pages of the list"'):
            if number > 1:
                press(words[0], lambda: turn(-1), icon="chevron_left")
            shown = f"{(number - 1) * size + 1:,}–{min(number * size, count):,}"
            said(f"{shown} of {count:,}", "soft small num", "span")
            if number < last:
                press(words[1], lambda: turn(1), icon="chevron_right")

    @property
    def may_change(self) -> bool:
        """Whether to offer changes: the key may write, and the page shows the present."""
        return self.session.as_of is None and self.session.may("write")
