"""`ask` with a model: the run of one question, at once or streamed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextvars import Context
from dataclasses import replace

from everwhen.answer.loop import Cancelled, Run
from everwhen.types import Answer

STEP = 0.5
"""Seconds between looks at whether the run is still alive."""


def answers(
    run: Callable[[Callable[[str], None], Callable[[], bool]], Run], context: Context, pending: int
) -> Iterator[str | Answer]:
    """Pieces of the text as they come, and at last the answer itself, whose text is the one that counts.

    The run works on a thread of its own, in the context of the call; it ends at its next step when nobody listens any
    more. `pending` turns were not read when it began.
    """
    pieces: queue.SimpleQueue[str | Answer | BaseException] = queue.SimpleQueue()
    gone = threading.Event()
    work = run(pieces.put, gone.is_set)

    def finish() -> None:
        try:
            pieces.put(replace(work.answer(), pending=pending))
        except Cancelled:
            pass
        except BaseException as error:
            pieces.put(error)

    thread = threading.Thread(target=context.run, args=(finish,), name="everwhen-ask", daemon=True)
    thread.start()
    try:
        while True:
            try:
                piece = pieces.get(timeout=STEP)
            except queue.Empty:
                continue
            if isinstance(piece, BaseException):
                raise piece
            if isinstance(piece, Answer):
                if rest := _rest(work.said, piece.text):
                    yield rest
                yield piece
                return
            yield piece
    finally:
        gone.set()


def _rest(said: str, text: str) -> str:
    """What of the answer was not streamed; all of it, on a new line, where what was streamed is not how it begins."""
    if text.startswith(said):
        return text[len(said) :]
    return f"\n{text}"
