"""The part of `Memory` about the memory tree: what was said, condensed by exchange, session, day, week and month."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from everwhen.errors import UsageError
from everwhen.memory.times import TimeMemory
from everwhen.times import Clock
from everwhen.types import Listed
from everwhen.when import Interval

if TYPE_CHECKING:
    from everwhen.tree import Consolidator, Levels
    from everwhen.tree.consolidate import Now
    from everwhen.tree.schedule import Runner
    from everwhen.types import Consolidated, Finding, Node, Statement, Time


class TreeMemory(TimeMemory):
    """What `Memory` inherits. All of it waits for pending extraction."""

    _runner: Runner | None = None

    def consolidate(
        self,
        now: Time | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Consolidated:
        """Build the nodes of the tree whose windows are closed, and build again those that late turns changed.

        A window is closed when the newest turn of the bank lies behind it; `now` says another moment, and "end" takes
        the open ones too. `progress` hears how many nodes are written and how many are on the list.
        """
        from everwhen.tree import consolidate

        moment: Now = "end" if now == "end" else Clock(self._store.info.zone).last(now, "now")
        self.process()
        levels, consolidator = self._levels(), self._consolidator()
        return self._model.write(
            lambda embedder: consolidate(
                self._store,
                embedder,
                levels,
                consolidator,
                moment,
                progress,
                dated=self._settings.date_in_embedding,
            )
        )

    def tree(self, level: int | None = None, at: Time | Interval | None = None) -> Listed[Node]:
        """The nodes of the memory tree, by level and time.

        `at` keeps those whose interval contains an instant, or overlaps a day, an expression or an interval. Level 1
        is always there; the levels above are what `consolidate` has built.
        """
        from everwhen.tree.reading import nodes

        levels = self._levels()
        if level is not None and not (isinstance(level, int) and 1 <= level <= levels.top):
            named = ", ".join(f"{one} {levels.name(one)}" for one in range(1, levels.top + 1))
            raise UsageError(f"there is no level {level!r} in the memory tree; there are: {named}")
        pending = self._settle()
        return Listed(nodes(self._store, levels, level, self._moment(at)), pending)

    def profile(self) -> Listed[Statement]:
        """What the tree's top level says, over all of time: statements with support, dates and turns."""
        from everwhen.tree.reading import profile

        pending = self._settle()
        return Listed(profile(self._store, self._levels()), pending)

    def keep_consolidated(self, every: float = 60.0) -> Runner:
        """Consolidate in the background from now on, every so many seconds, until `stop()` or `close()`."""
        from everwhen.tree.schedule import Runner

        self._stop_consolidating()
        self._runner = Runner(self.consolidate, every)
        return self._runner

    def _stop_consolidating(self) -> None:
        if self._runner is not None:
            self._runner.stop()
            self._runner = None

    def _reaches_open(self) -> bool:
        from everwhen.tree.checking import reaches_open

        return reaches_open(self._store, self._levels())

    def _mend_tree(self, findings: list[Finding], open_too: bool | None = None) -> list[Finding]:
        from everwhen.tree.checking import mend

        return mend(
            self._store,
            self._levels(),
            findings,
            lambda reached: self.consolidate("end" if reached else None),
            open_too,
        )

    def _moment(self, at: Time | Interval | None) -> Interval | None:
        """What is asked for; an instant as the shortest interval that holds it."""
        if at is None or isinstance(at, Interval):
            return at
        asked = Clock(self._store.info.zone).interval(at, "at")
        if asked.start is None or asked.start != asked.end:
            return asked
        return Interval(asked.start, asked.start + timedelta(microseconds=1), "second")

    def _levels(self) -> Levels:
        from everwhen.tree import read_levels

        chosen = self._settings
        return read_levels(
            self._store.tree.levels(), chosen.tree_windows, chosen.tree_exchanges, self._store.info.zone
        )

    def _consolidator(self) -> Consolidator:
        from everwhen.tree.opening import open_consolidator

        return open_consolidator(self._settings)


def check_tree(consolidator: str, windows: str | None, zone: str) -> None:
    """Refuse settings that no tree can be built by, before there is one."""
    if consolidator == "extractive" and windows is None:
        return  # the usual case needs nothing loaded
    from everwhen.tree import parse_levels
    from everwhen.tree.opening import check_consolidator

    check_consolidator(consolidator)
    if windows is not None:
        parse_levels(windows, zone)
