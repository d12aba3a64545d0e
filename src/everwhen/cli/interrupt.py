"""Ctrl-C: at any moment one line and exit code 130. Nothing is lost, since what was committed is on disk.

Python's own way, an exception wherever the program happens to be, turns into a stack trace when it strikes an
import or a model that computes in another thread. So the process ends at once, after what it registered.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

INTERRUPTED = 130
_before: list[Callable[[], object]] = []
_said = "interrupted"


def end_at_once_on_ctrl_c() -> None:
    """From now on Ctrl-C ends the process."""
    signal.signal(signal.SIGINT, _end)


def before_the_end(clean_up: Callable[[], object]) -> None:
    """Something to do when Ctrl-C comes, such as removing a temporary folder."""
    _before.append(clean_up)


def say(sentence: str) -> None:
    """What Ctrl-C says, for a command that can be taken up again."""
    global _said  # noqa: PLW0603
    _said = sentence


def _end(_signal: int, _frame: FrameType | None) -> None:
    for clean_up in _before:
        clean_up()
    show_cursor = "\x1b[?25h" if sys.stderr and sys.stderr.isatty() else ""  # a progress bar hides it
    os.write(2, f"{show_cursor}everwhen: {_said}\n".encode())
    os._exit(INTERRUPTED)
