"""One page of the user interface: controls that stay, data that is loaded in a thread, and a drawing of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar

from everwhen.ui.page_session import PageSession

T = TypeVar("T")


class PageFrame(Protocol):
    """What a page may ask of the frame around it."""

    async def refresh(self) -> None:
        """Load and draw again."""
        ...

    async def doing(self, act: Callable[[], Awaitable[Any]], done: str = "", *, redraw: bool = True) -> None:
        """Do something that may fail: say it is done and show what it changed, or the one sentence why not."""
        ...

    async def turn_to(self, name: str, /, **asked: str) -> None:
        """Show a page, with what its address asks for."""
        ...

    def leave(self) -> None:
        """Show another bank: this one is gone."""
        ...

    async def change(self, **asked: str) -> None:
        """The same page, with something else in its address; an empty value takes it out."""
        ...


class UIPage:
    """One of the pages. What it shows follows from its address: `asked`, and the day that the slider is at."""

    name: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]
    hint: ClassVar[str]

    def __init__(self, session: PageSession, frame: PageFrame, asked: Mapping[str, str]) -> None:
        self.session = session
        self.frame = frame
        self.asked = dict(asked)
        self._kept: dict[str, Any] = {}

    def controls(self) -> None:
        """What stays while the drawing changes."""

    async def load(self) -> Any:
        """Everything that is drawn, read in one go."""

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

    @property
    def number(self) -> int:
        """The page of a list that is asked for, from 1."""
        given = self.asked.get("page", "")
        return max(int(given), 1) if given.isdecimal() and len(given) < 7 else 1

    @property
    def may_change(self) -> bool:
        """Whether to offer changes: the key may write, and the page shows the present."""
        return self.session.as_of is None and self.session.may("write")
