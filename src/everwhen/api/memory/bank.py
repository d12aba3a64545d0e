"""One bank that is open: what the parts of `Memory` share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from everwhen.api.extraction_wait import patience, wait_once
from everwhen.api.operations.base import BothTimes
from everwhen.errors import ModelChanged
from everwhen.facts.interface import Facts
from everwhen.facts.redact import Masks, kinds_of
from everwhen.models.comparison import Reranker, open_reader, open_reranker
from everwhen.models.embedder import Embedder, shared_embedder
from everwhen.models.embedding_cache import CachedEmbedder
from everwhen.recall.pipeline import Accesses
from everwhen.settings import Settings
from everwhen.store.banks import open_banks
from everwhen.store.files.home import cache_path, home_folder
from everwhen.store.rows import AsOf
from everwhen.store.search import Filter, SearchQuery, Wanted
from everwhen.store.sql.store import Store
from everwhen.types import Between, Time, UnitRow
from everwhen.types.times import TimeReader
from everwhen.write.entities import KnownEntities
from everwhen.write.extract.base import BATCH_TURNS, open_extractor
from everwhen.write.worker import Worker
from everwhen_time import Interval

if TYPE_CHECKING:
    from everwhen.models.llm.base import LLM
    from everwhen.store.base import VectorModel
    from everwhen.store.rows import Work
    from everwhen.write.extract.base import Extraction

T = TypeVar("T")

MOST_ABOUT = 200
"""Units that are found about a topic at the most."""
_AGAIN = 3
"""How often a write is done again that was refused for another model than the one the bank has by then."""


class BankEmbedder:
    """The embedder of the model that the bank says it has. Above: whoever makes vectors. Below: the store's `info`.

    `reembed` of any thread or process gives the bank another model at any time. What is done through `read` has one
    model from its beginning to its end; what is done through `write` begins anew where the model changed.
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
        """Work that writes vectors. They are made before the transaction, and the store refuses those of a model that
        the bank has no longer: the work is then done again with the new one."""
        self._store.follow_model()
        for _ in range(_AGAIN):
            embedder, model = self._take()
            try:
                return work(embedder)
            except ModelChanged:
                self._store.refresh()  # it may have been another process
            except ValueError:  # two widths cannot be multiplied
                if self._store.info.model == model:
                    raise
        return work(self.current)

    def read(self, work: Callable[[Embedder], T]) -> T:
        """Work that compares a question with the bank's vectors. It gets the embedder without its cache: questions
        hardly ever repeat, and so reading writes nothing."""
        with self._store.reading():
            return work(plain(self.current))

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


def plain(embedder: Embedder) -> Embedder:
    """An embedder without its cache."""
    return embedder.inner if isinstance(embedder, CachedEmbedder) else embedder


def close_cache(embedder: Embedder) -> None:
    """Close the file that an embedder remembers in; the model itself is shared, and stays."""
    if isinstance(embedder, CachedEmbedder):
        embedder.close()


GLANCE = 0.05
"""Seconds in which a worker that cannot go on says so; nothing is waited for."""


@lru_cache(maxsize=4)
def shared_reranker(name: str, timeout: float | None = None) -> Reranker:
    """One reranker for all the banks of a process that use it."""
    return open_reranker(name, timeout=timeout)


def opened_embedder(model: str, home: Path, settings: Settings) -> Embedder:
    """An embedder that remembers its vectors in the home folder, unless that is switched off."""
    embedder = shared_embedder(model)
    if not settings.cache_entries:
        return embedder
    return CachedEmbedder(embedder, cache_path(home), settings.cache_entries)


class OpenBank:
    """The store of one bank, the models that it is read with, and the worker that extracts from it."""

    def __init__(
        self, store: Store, embedder: Embedder, settings: Settings, reranker: Reranker | None = None
    ) -> None:
        self.store = store
        self.settings = settings
        self.own_reranker = reranker
        self.reader = open_reader(settings.reader)
        self.folder = home_folder(settings.home)
        self.banks = open_banks(self.folder, settings.busy_seconds, store=settings.store)
        self.accesses = Accesses(store)
        self.masks = Masks(kinds_of(store.keep.rule("redaction") or settings.redact), store.keep.pseudonym)
        self.worker = Worker(store.jobs.extraction, self._extract)
        self.model = BankEmbedder(store, embedder, self.opened)
        self._entities = KnownEntities()
        self.times_zone: str | None = None
        """The zone in which the times of calls are read, where it is not the bank's."""

    def close(self) -> None:
        """Close the files. A batch that is being extracted is finished first."""
        self.worker.close()
        self.accesses.write()
        self.store.close()
        self.model.close()

    @property
    def name(self) -> str:
        return self.store.info.name

    @property
    def zone(self) -> str:
        return self.store.info.zone

    @property
    def facts(self) -> Facts:
        return Facts(
            self.store.facts,
            self.model.write,
            self.settings,
            self.settle,
            self.masks,
            self.zone,
            self.times_zone,
        )

    # Times

    def clock(self, at: Time | None = None) -> TimeReader:
        """Reads the times of one call, in the bank's zone."""
        return TimeReader(self.times_zone or self.zone, at)

    def window(self, between: Between | None) -> Interval | None:
        """A stretch of time in a call that has no other moment than now."""
        return self.clock().window(between)

    def as_of(self, asked: BothTimes, clock: TimeReader | None = None) -> AsOf:
        """The two times that a reader is asked to look from."""
        return AsOf(**asked.read_times(clock or self.clock()))

    def seen_units(self, units: Sequence[int], as_of: AsOf) -> dict[int, UnitRow]:
        """Those of some units whose turns had all been said and recorded."""
        rows = self.store.units(units)
        if as_of.is_now:
            return rows
        sources = {seq: row.turns or (row.id,) for seq, row in rows.items()}
        turns = self.store.turns(ids=list({one for several in sources.values() for one in several}))
        seen = {turn.id for turn in turns if as_of.sees(turn)}
        return {seq: row for seq, row in rows.items() if seen.issuperset(sources[seq])}

    def about(self, topic: str, only: Filter) -> list[int]:
        """The units that words or meaning connect with a topic."""
        wanted = Wanted(MOST_ABOUT, self.settings.about_similarity)

        def search(embedder: Embedder) -> list[int]:
            vector = embedder.embed([embedder.pieces(topic)[0]])[0]
            found = self.store.search(SearchQuery(vector, topic, only)).candidates(wanted)
            return [unit for ranking in (*found.words, *found.meaning) for unit, _ in ranking]

        return self.model.read(search)

    # Models

    def opened(self, model: str) -> Embedder:
        """An embedder by its name, with the cache of this home."""
        return opened_embedder(model, self.folder, self.settings)

    @property
    def embedder(self) -> Embedder:
        return self.model.current

    @property
    def plain_embedder(self) -> Embedder:
        """The embedder without its cache: questions hardly ever repeat."""
        return plain(self.model.current)

    @property
    def reranker(self) -> Reranker:
        return self.own_reranker or shared_reranker(self.settings.reranker, self.settings.rerank_timeout)

    def llm(self, name: str | None) -> LLM | None:
        """The language model of a setting such as `llm:openai:gpt-5-mini`; None where none is set."""
        if name is None or name in ("none", "rules"):
            return None
        from everwhen.models.llm.pydantic_ai import llm_of

        return llm_of(self.settings, name.removeprefix("llm:"))

    @contextmanager
    def with_cache(self, embedder: Embedder) -> Iterator[Embedder]:
        """An embedder with the cache of the home folder, even where this bank was opened without it."""
        path = cache_path(self.folder)
        if isinstance(embedder, CachedEmbedder) or not path.exists():
            yield embedder
            return
        with closing(CachedEmbedder(embedder, path)) as remembering:
            yield remembering

    def write_uncached(self, work: Callable[[Embedder], T]) -> T:
        """Work that takes vectors out of the bank and out of the cache."""

        def done(embedder: Embedder) -> T:
            with self.with_cache(embedder) as remembering:
                return work(remembering)

        return self.model.write(done)

    # Extraction

    @property
    def extracts(self) -> bool:
        return self.settings.extract != "none"

    def wake(self) -> None:
        """Turns were added: extraction follows in the background."""
        if self.extracts:
            self.worker.wake()

    def settle(self, most: int | None = None) -> int:
        """Wait for the extraction of what was added before this call, but not for ever, and hardly at all where more
        than `most` turns wait; how many still do.

        Turns that come later are not waited for, so that a reader ends however much is being written.
        """
        if not self.extracts:
            return 0
        return wait_once(self, lambda: self._waited(most))

    def _waited(self, most: int | None) -> int:
        jobs = self.store.jobs.extraction
        pending = jobs.pending()
        seconds = self.settings.wait_seconds * (patience() if pending <= BATCH_TURNS else 1)
        is_long = most is not None and pending > most
        return self.worker.wait(jobs.watermark(), GLANCE if is_long else seconds)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """No turn is being extracted inside the block; what then waits is taken up behind it."""
        try:
            with self.worker.paused():
                yield
        finally:
            if self.store.jobs.extraction.waits():
                self.wake()

    def _extract(self, work: Work) -> Extraction:
        from everwhen.write.pipeline import process

        extractor = open_extractor(self.settings)
        assert extractor is not None
        return self.model.write(
            lambda embedder: process(
                self.store,
                embedder,
                extractor,
                work,
                self._judge(),
                entities=self._entities,
                dated=self.settings.date_in_embedding,
                reader=self.reader,
                link_similarity=self.settings.link_similarity,
            )
        )

    def _judge(self) -> LLM | None:
        """The model that extracts, where one does: it also decides about names that may be one."""
        return self.llm(self.settings.extract) if self.settings.extract.startswith("llm:") else None
