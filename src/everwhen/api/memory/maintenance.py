"""Looking after a bank: extraction, forgetting, retention, moving, repair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from everwhen.api.memory.bank import OpenBank, close_cache
from everwhen.api.memory.derived import EventCalendar, MemoryTree
from everwhen.api.operations import maintenance as ops
from everwhen.api.operations.base import does
from everwhen.api.operations.conversation import Consolidate, OneEntity
from everwhen.errors import EverwhenError, NotFound, Refused, Unavailable, UsageError
from everwhen.models.embedder import shared_embedder
from everwhen.store.files.home import check_folder
from everwhen.types import Finding, Receipt, Stats

if TYPE_CHECKING:
    from everwhen.models.embedder import Embedder
    from everwhen.settings import Settings
    from everwhen.store.banks import Banks
    from everwhen.store.files.export import ExportHeader
    from everwhen.store.sql.store import ForgetAgain, Store
    from everwhen.types import Entity


@dataclass(frozen=True, slots=True)
class Extraction:
    """The to-do list of one bank: turns that nobody has read yet."""

    _bank: OpenBank

    @does(ops.Flush)
    def flush(self, asked: ops.Flush) -> None:
        self.process(ops.Process(timeout=asked.timeout))
        self._bank.accesses.write()

    @does(ops.Process)
    def process(self, asked: ops.Process) -> int:
        bank = self._bank
        if not bank.extracts:
            return 0
        newest = bank.store.jobs.extraction.watermark()
        waiting = bank.store.jobs.extraction.pending(newest)
        left = bank.worker.wait(newest, asked.timeout, asked.progress) if waiting else 0
        if left:
            raise Unavailable(
                f"{left} turns still wait for extraction after {asked.timeout:g} s; what was added is safe, "
                "and `everwhen bank process` goes on with it"
            )
        if bank.worker.behind is not None:
            bank.worker.rest(asked.timeout)
        if bank.store.jobs.indexing.waits():
            bank.store.jobs.indexing.run()
        return waiting

    @does(ops.Reextract)
    def reextract(self, asked: ops.Reextract) -> int:
        if not self._bank.extracts:
            raise UsageError(
                "extraction is switched off (extract='none'); open the bank with extract='rules'"
            )
        count = self._bank.store.jobs.extraction.enqueue(asked.turns)
        self.process(ops.Process(progress=asked.progress))
        return count

    @does(ops.Reembed)
    def reembed(self, asked: ops.Reembed) -> None:
        from everwhen.write.remember import reembed

        bank = self._bank
        embedder = bank.opened(asked.model)
        try:
            with bank.worker.paused():  # a batch that is being extracted has vectors of the old model
                reembed(bank.store, embedder, asked.model, bank.settings, asked.progress)
        finally:
            close_cache(embedder)
        bank.wake()


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Forgetting, retention, moving and repair of one bank."""

    _bank: OpenBank
    _extraction: Extraction
    _events: EventCalendar
    _tree: MemoryTree

    @does(ops.Forget)
    def forget(self, asked: ops.Forget) -> Receipt:
        from everwhen.upkeep.forget import ForgetRequest, forget

        bank = self._bank
        wanted = ForgetRequest(
            tuple(asked.turns or ()),
            asked.session,
            self._whom(asked.entity) if asked.entity is not None else None,
            bank.window(asked.between),
            asked.everything,
        )
        if not (wanted.turns or wanted.session or wanted.entity or wanted.between or wanted.everything):
            raise UsageError(ops.FORGET_WHAT)  # a stretch of time that is open on both sides names nothing
        with bank.resting():  # a batch that is being read may have the forgotten words in its hands
            now = datetime.now(UTC)
            receipt, until = bank.write_uncached(
                lambda embedder: forget(
                    bank.store, embedder, bank.settings, wanted, now, dry_run=asked.dry_run
                )
            )
        return receipt if until is None else self._regrown(receipt, until)

    def _whom(self, name: str) -> Entity:
        """An entity by its name; a turn that waits for extraction may name it first."""
        try:
            return self._events.entity(OneEntity(name))
        except NotFound:
            raise NotFound(
                f"nobody and nothing is called '{name}' here, so there is nothing to forget; "
                "`everwhen show entities` lists the names, `everwhen show grep` finds words"
            ) from None

    def _regrown(self, receipt: Receipt, until: datetime) -> Receipt:
        """Build the summaries again that were taken out, from what is left; where that fails, `consolidate` does it."""
        try:
            self._tree.consolidate(Consolidate(max(until, self._bank.store.jobs.tree.watermark() or until)))
        except EverwhenError as error:
            note = f"the summaries above it are not built again yet ({error}); `everwhen bank consolidate` does it"
            return replace(receipt, notes=(*receipt.notes, note))
        return receipt

    @does(ops.SetRetention)
    def set_retention(self, asked: ops.SetRetention) -> str:
        from everwhen.upkeep.retention import describe, parse

        understood = describe(parse(asked.rule))
        self._bank.store.keep.set_rule("retention", understood)
        return understood

    @does(ops.Retain)
    def retain(self, asked: ops.Retain) -> Receipt:
        from everwhen.upkeep.retention import retain

        bank = self._bank
        instant = bank.clock().first(asked.now, "now") or datetime.now(UTC)
        rule = asked.rule
        if rule is None:
            rule = bank.store.keep.rule("retention")
        elif not asked.dry_run:
            self.set_retention(ops.SetRetention(rule))
        self._extraction.process(ops.Process())
        with bank.resting():
            return bank.write_uncached(
                lambda embedder: retain(
                    bank.store, embedder, bank.settings, rule, instant, dry_run=asked.dry_run
                )
            )

    # Moving

    @does(ops.Export)
    def export(self, asked: ops.Export) -> int:
        from everwhen.upkeep.transfer import export

        self._bank.accesses.write()
        return export(self._bank.store, Path(asked.path), vectors=asked.vectors, progress=asked.progress)

    @does(ops.Import)
    def import_(self, asked: ops.Import) -> int:
        from everwhen.upkeep.transfer import import_bank

        bank = self._bank
        if bank.masks:
            raise Refused(
                f"bank '{bank.name}' masks what it stores ({', '.join(bank.masks.kinds)}), and an export "
                "is taken over as it is, vectors included; if that is meant, open the bank with redact='none' "
                "(EVERWHEN_REDACT=none)"
            )
        with bank.worker.paused():
            header = import_bank(bank.store, Path(asked.path), asked.progress)
            self._complete(header)
            bank.store.keep.take_over()
            bank.store.refresh()
        bank.wake()
        return sum(header.counts.values())

    def _complete(self, header: ExportHeader) -> None:
        """Give the bank that was loaded, and waits beside this one, the vectors that its export left out; and take from
        it what this bank has forgotten."""
        from everwhen.write.remember import reembed

        bank = self._bank
        forget = forgetting(bank.embedder, bank.settings)
        with bank.banks.loaded(bank.name, header.embedder, forget) as loaded:
            if not header.vectors:
                reembed(loaded, bank.embedder, bank.store.info.embedder, bank.settings)

    @does(ops.Backup)
    def backup(self, asked: ops.Backup) -> Path:
        target = Path(asked.path)
        if target.is_dir():
            target /= f"{self._bank.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.db"
        check_folder(target)
        if target.exists() and not asked.overwrite:
            raise Refused(f"{target} exists; name another file, or allow it to be replaced (--overwrite)")
        self._bank.accesses.write()
        self._bank.banks.back_up(self._bank.name, target)
        return target

    # Repair

    @does(ops.BankStats)
    def stats(self, asked: ops.BankStats) -> Stats:
        held = self._bank.store.stats()
        return replace(held, recalls=held.recalls + self._bank.accesses.pending)

    @does(ops.Doctor)
    def doctor(self, asked: ops.Doctor) -> list[Finding]:
        from everwhen.upkeep.doctor import examine, repair

        bank = self._bank
        if not asked.fix:
            return bank.model.write(lambda embedder: examine(bank.store, embedder, bank.settings))
        return bank.model.write(
            lambda embedder: repair(bank.store, embedder, bank.settings, self._rebuilding)
        )

    def _rebuilding(self) -> Callable[[Sequence[str], bool], None]:
        """What reads turns again and builds the tree, as far as it is built now."""
        reached = self._tree.reaches_open()

        def rebuild(turns: Sequence[str], tree: bool) -> None:
            if turns:
                self._bank.store.jobs.extraction.enqueue(turns)
                self._extraction.process(ops.Process())
            if tree:
                self._tree.rebuild(reached)

        return rebuild


def salvage(path: Path, banks: Banks, bank: str) -> int:
    """Write the turns that can be read in a damaged bank as JSON lines; how many."""
    import json

    from everwhen.store.files.export import writing

    count = 0
    with writing(path) as stream:
        for message in banks.salvage(bank):
            stream.write((json.dumps(message, ensure_ascii=False) + "\n").encode())
            count += 1
    return count


def drop_cached(bank: OpenBank) -> list[str]:
    """Take the vectors of a bank's texts out of the home's cache, before its file is deleted; what stood in the way."""
    from everwhen.upkeep.forget import clear_cache

    # Paused: a batch that is being read would put some back.
    with bank.worker.paused(), bank.with_cache(bank.embedder) as cached:
        return clear_cache(bank.store, cached, bank.settings)


def forgetting(embedder: Embedder | None, settings: Settings) -> ForgetAgain:
    """Forgets some turns and facts of another store, with an embedder or the store's own."""

    def again(store: Store, turns: Sequence[str], facts: Sequence[str]) -> None:
        from everwhen.upkeep.forget import ForgetRequest, forget

        chosen = embedder or shared_embedder(store.info.embedder)
        forget(
            store, chosen, settings, ForgetRequest(turns=tuple(turns), facts=tuple(facts)), datetime.now(UTC)
        )

    return again
