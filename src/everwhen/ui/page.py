"""One page of the user interface: controls that stay, data that is loaded in a thread, and a drawing of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Protocol

from everwhen.ui.page_session import PageSession


class PageFrame(Protocol):
    """What a page may ask of the frame around it."""

    async def refresh(self) -> None:
        """Load and draw again."""
        ...

    async def doing(self, act: Callable[[], Awaitable[Any]], done: str = "", *, redraw: bool = True) -> None:
        """Do something that may fail: say it is done and show what it changed, or the one sentence why not."""
        ...

    async def turn_to(self, name: str) -> None: ...


class UIPage:
    """One of the seven pages."""

    name: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]
    hint: ClassVar[str]

    def __init__(self, session: PageSession, frame: PageFrame) -> None:
        self.session = session
        self.frame = frame

    def controls(self) -> None:
        """What stays while the drawing changes."""

    async def load(self) -> Any:
        """Everything that is drawn, read in one go."""

    def draw(self, data: Any) -> None:
        """What was loaded, as elements."""
        raise NotImplementedError
