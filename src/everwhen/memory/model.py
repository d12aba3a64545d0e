"""The part of `Memory` that knows which embedder the bank has, also after a thread or a process gave it another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from everwhen.errors import ModelChanged
from everwhen.models.embed.cache import CachedEmbedder

if TYPE_CHECKING:
    from everwhen.models.embed import Embedder
    from everwhen.store import Store, VectorModel

T = TypeVar("T")


_AGAIN = 3
"""How often work is tried again that was refused for another model than the one the bank has by then: it had that
other model for a moment only."""


class BankEmbedder:
    """The embedder of the model that the bank says it has. Above: whoever makes vectors. Below: the store's `info`.

    `reembed` of any thread or process gives the bank another model at any time. So work that makes vectors is done
    through `write` or `read`, and again from the start where the model changed while it was under way.
    """

    def __init__(self, store: Store, embedder: Embedder, opened: Callable[[str], Embedder]) -> None:
        self._store = store
        self._opened = opened
        self._lock = threading.Lock()
        self._embedder = embedder
        self._model = store.info.model

    @property
    def current(self) -> Embedder:
        return self._take()[0]

    def write(self, work: Callable[[Embedder], T]) -> T:
        """Work that writes vectors: the store refuses those of a model that the bank has no longer."""
        return self._done(work, reads=False)

    def read(self, work: Callable[[Embedder], T]) -> T:
        """Work that compares a question with the bank's vectors. It gets the embedder without its cache: questions
        hardly ever repeat, and so reading writes nothing."""
        return self._done(lambda embedder: work(plain(embedder)), reads=True)

    def _done(self, work: Callable[[Embedder], T], *, reads: bool) -> T:
        """Nobody refuses what was read of a bank with another model: that is looked for afterwards."""
        same = 0
        while True:
            embedder, model = self._take()
            try:
                found = work(embedder)
            except (ModelChanged, ValueError) as error:  # two widths cannot be multiplied
                if not self._has_changed(model, error):
                    same += 1
                    if same > _AGAIN or not isinstance(error, ModelChanged):
                        raise
            else:
                if not (reads and self._has_changed(model)):
                    return found

    def close(self) -> None:
        close_cache(self._embedder)

    def _take(self) -> tuple[Embedder, VectorModel]:
        model = self._store.info.model
        with self._lock:
            if model != self._model:
                before, self._embedder = self._embedder, self._opened(model.embedder)
                self._model = model
                close_cache(before)
            return self._embedder, model

    def _has_changed(self, model: VectorModel, error: Exception | None = None) -> bool:
        if isinstance(error, ModelChanged):
            self._store.refresh()  # it may have been another process
        return self._store.info.model != model


def plain(embedder: Embedder) -> Embedder:
    """An embedder without its cache."""
    return embedder.inner if isinstance(embedder, CachedEmbedder) else embedder


def close_cache(embedder: Embedder) -> None:
    """Close the file that an embedder remembers in; the model itself is shared, and stays."""
    if isinstance(embedder, CachedEmbedder):
        embedder.close()
