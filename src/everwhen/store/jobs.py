"""The protocols of jobs: the work of a bank that is done later, on lists in its database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from everwhen.store.tree import BuildMark, NodePlace, SessionSpan
from everwhen.types import Turn


@dataclass(frozen=True, slots=True)
class Work:
    """Turns of one session that nobody has extracted, claimed for the caller, and those before them."""

    session: str
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]


class Seen(NamedTuple):
    """How far the list of what is to be built goes: the last turn, and the last time that a fact was taken back."""

    turn: int
    taken_back: str


class ExtractionJobs(Protocol):
    """Turns that nothing has been made of yet. `Store.append` puts them on the list.

    A claim is a lease: it ends by itself unless it is renewed, and at once when its process is known to have ended.
    """

    def enqueue(self, turns: Sequence[str] | None = None) -> int:
        """Remove what was derived from turns (all by default) and put them on the list; how many."""
        ...

    def watermark(self) -> int:
        """The place (`seq`) of the turn that was added last; 0 where there is none."""
        ...

    def pending(self, upto: int | None = None) -> int:
        """How many turns, up to a place, are on the list, claimed ones included."""
        ...

    def waits(self, upto: int | None = None) -> bool:
        """Whether any of them does. Costs the same however many there are."""
        ...

    def claim(self, owner: str, turns: int, overlap: int, seconds: float) -> Work | None:
        """Take the next piece of the list; None when there is none that nobody else is working on."""
        ...

    def heartbeat(self, owner: str, seconds: float) -> None:
        """Renew all claims of the owner, from now on."""
        ...

    def release(self, owner: str) -> None:
        """Give back what the owner has claimed and not done."""
        ...


class ExtractionResult(Protocol):
    """Said in the transaction that writes what was extracted (`GraphStore.writing`)."""

    def done(self, turns: Sequence[str], extractor: str, version: str) -> None:
        """Take turns off the list."""
        ...

    def failed(self, turns: Sequence[str], reason: str) -> None:
        """Note for `check` why nothing, or not all, was made of turns; whether they are done is said by `done`."""
        ...


class TreeJobs(Protocol):
    """Nodes of the tree that are to be built (again). Nobody claims them: `TreeStore.put`, which takes a mark off the
    list, writes nothing where somebody else built or marked the node meanwhile."""

    def enqueue(self, places: Sequence[NodePlace], seen: Seen | None = None) -> None:
        """Put nodes on the list; `seen` is how far the turns are on it then."""
        ...

    def unseen(self) -> tuple[Seen, list[SessionSpan]]:
        """The sessions that turns were added to since the last `enqueue`, or that told facts which people corrected or
        retracted since, and how far that list goes."""
        ...

    def watermark(self) -> datetime | None:
        """When the newest turn was said: windows that end before it are closed."""
        ...

    def pending(self) -> int: ...

    def marks(self, level: int) -> list[BuildMark]:
        """What is to be built of a level, in the order of time."""
        ...


class ScrubJob(Protocol):
    """Removed rows whose bytes may still be in the files. The transaction that removes them asks for it."""

    def waits(self) -> bool: ...

    def run(self) -> bool:
        """Overwrite what is left of them; False while another process stands in the way."""
        ...


class IndexJob(Protocol):
    """The index by which a large bank is searched, where a database makes one that is not there yet."""

    def waits(self) -> bool: ...

    def run(self) -> bool:
        """Make it, while others go on reading and writing; False where none is wanted, or another process is at it."""
        ...


@dataclass(frozen=True, slots=True)
class Jobs:
    """Above: the worker, the tree, keep, and whoever asks how much is to do. Below: the same database as the turns."""

    extraction: ExtractionJobs
    tree: TreeJobs
    scrubbing: ScrubJob
    indexing: IndexJob
