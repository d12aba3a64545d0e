"""The part of `Memory` that keeps and forgets: forgetting, retention, export, backup, repair."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from everwhen import checked
from everwhen.errors import NotFound, UsageError
from everwhen.home import cache_path
from everwhen.memory.graph import GraphMemory
from everwhen.models.embed.cache import CachedEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from everwhen.checked import Between
    from everwhen.models.embed import Embedder
    from everwhen.types import Entity, Receipt


class KeepMemory(GraphMemory):
    """What `Memory` inherits."""

    _folder: Path

    def forget(
        self,
        *,
        turns: str | Sequence[str] | None = None,
        session: str | None = None,
        entity: str | None = None,
        between: Between | None = None,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Receipt:
        """Forget turns, a session, everything about somebody, what was said in a while, or all: for good.

        What was made of the turns goes with them: events, narratives, facts in every version (`known_at` finds them no
        longer), entities, summaries, links, vectors and cached vectors. What also has other sources is made again from
        those. The same turn does not come back by importing it again. With `dry_run` nothing happens, and the receipt
        says what would.
        """
        from everwhen.keep.forget import Wanted, forget

        listed = (turns,) if isinstance(turns, str) else tuple(turns or ())
        if not (listed or session or entity or between or everything):
            raise UsageError(
                "forget what? give turns=, session=, entity=, between= or everything=True (dry_run=True only looks)"
            )
        window = checked.between(between, None, None)
        self._stop()  # a batch that is being read may have the forgotten words in its hands
        try:
            wanted = Wanted(
                listed,
                checked.label(session, "session"),
                self._whom(entity) if entity is not None else None,
                window,
                everything,
            )
            return forget(
                self._store, self._with_cache(), self._settings, wanted, datetime.now(UTC), dry_run=dry_run
            )
        finally:
            if self._store.graph.pending():
                self._wake()

    def _whom(self, name: str) -> Entity:
        """An entity by its name; a turn that waits for extraction may name it first."""
        try:
            return self.entity(name)
        except NotFound:
            raise NotFound(
                f"nobody and nothing is called '{name}' here, so there is nothing to forget; "
                "`everwhen entities` lists the names, `everwhen grep` finds words"
            ) from None
        finally:
            self._stop()

    def _with_cache(self) -> Embedder:
        """The embedder with the cache of the home folder, even where this bank was opened without it."""
        if isinstance(self._embedder, CachedEmbedder):
            return self._embedder
        path = cache_path(self._folder)
        return CachedEmbedder(self._embedder, path, 1) if path.exists() else self._embedder
