"""The part of `Memory` that keeps and forgets: forgetting, retention, export, backup, repair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everwhen import checked
from everwhen.errors import EverwhenError, NotFound, Refused, UsageError
from everwhen.home import bank_path, check_folder, home_folder
from everwhen.memory.tree import TreeMemory
from everwhen.times import Clock
from everwhen.types import Finding

if TYPE_CHECKING:
    from everwhen.files.export import Header
    from everwhen.models.embed import Embedder
    from everwhen.recall.accesses import Accesses
    from everwhen.settings import Settings
    from everwhen.store import Store
    from everwhen.types import Between, Entity, Receipt, Time


class KeepMemory(TreeMemory):
    """What `Memory` inherits."""

    _accesses: Accesses

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
        from everwhen.keep.forget import Outcome, Wanted, forget

        given = (turns,) if isinstance(turns, str) else tuple(turns or ())
        listed = tuple(checked.words(one, "turn's id") for one in given)
        window = self._window(between)  # open on both sides, it says nothing
        if not (listed or session or entity or window or everything):
            raise UsageError(
                "forget what? give turns, session, entity, between or everything (with dry_run it only looks)"
            )
        wanted = Wanted(
            listed,
            checked.label(session, "session"),
            self._whom(entity) if entity is not None else None,
            window,
            everything,
        )
        with self._resting():  # a batch that is being read may have the forgotten words in its hands
            now = datetime.now(UTC)

            def forgotten(embedder: Embedder) -> Outcome:
                with self._with_cache(embedder) as cached:
                    return forget(self._store, cached, self._settings, wanted, now, dry_run=dry_run)

            receipt, until = self._model.write(forgotten)
        return receipt if until is None else self._regrown(receipt, until)

    def _regrown(self, receipt: Receipt, until: datetime) -> Receipt:
        """Build the summaries again that were taken out, from what is left; where that fails, `consolidate` does it."""
        try:
            self.consolidate(now=max(until, self._store.tree.watermark() or until))
        except EverwhenError as error:
            note = f"the summaries above it are not built again yet ({error}); `everwhen consolidate` does it"
            return replace(receipt, notes=(*receipt.notes, note))
        return receipt

    # Retention

    @property
    def retention(self) -> str:
        """How long the bank keeps what, as a sentence; empty for ever."""
        return self._store.keep.retention

    def set_retention(self, rule: str) -> str:
        """Say how long what is kept: "keep raw turns 90 days, summaries for ever". An empty rule keeps everything.

        Nothing goes until `retain` is called. The rule as it was understood.
        """
        from everwhen.keep.retain import describe, parse

        understood = describe(parse(checked.words(rule, "rule")))
        self._store.keep.set_retention(understood)
        return understood

    def retain(self, now: Time | None = None, *, dry_run: bool = False) -> Receipt:
        """Apply the bank's rule of retention as of `now`; what went, or with `dry_run` would go.

        The words of an old turn go, and its place stays for what was made of it. Turns are read before they lose their
        words, so that nothing is lost unread.
        """
        from everwhen.keep.retain import retain

        instant = Clock(self._store.info.zone).first(now, "now") or datetime.now(UTC)
        self.process()

        def retained(embedder: Embedder) -> Receipt:
            with self._with_cache(embedder) as cached:
                return retain(self._store, cached, self._settings, instant, dry_run=dry_run)

        with self._resting():
            return self._model.write(retained)

    @contextmanager
    def _resting(self) -> Iterator[None]:
        """No turn is being extracted inside the block; what then waits is taken up behind it."""
        try:
            with self._worker.paused():
                yield
        finally:
            if self._store.graph.waits():
                self._wake()

    # Moving

    def export(
        self, path: str | Path, *, vectors: bool = True, progress: Callable[[int], None] | None = None
    ) -> int:
        """Write the whole bank as JSON lines, provenance and transaction times included; how many rows.

        Without `vectors` the file is a fraction of the size, and importing it embeds everything again.
        """
        from everwhen.keep.export import export

        self._accesses.write()
        return export(self._store, Path(path), vectors=vectors, progress=progress)

    def import_(self, path: str | Path, *, progress: Callable[[int], None] | None = None) -> int:
        """Fill this bank, which must be empty, with an export; how many rows. Interrupted, the same call goes on."""
        from everwhen.keep.transfer import import_bank

        if self._masks:
            raise Refused(
                f"bank '{self._store.info.name}' masks what it stores ({', '.join(self._masks.kinds)}), and an export "
                "is taken over as it is, vectors included; if that is meant, open the bank with redact='none' "
                "(EVERWHEN_REDACT=none)"
            )
        with self._worker.paused():
            header = import_bank(self._store, Path(path), progress)
            self._complete(header)
            self._store.keep.take_over()
            self._store.refresh()
        self._wake()
        return sum(header.rows.values())

    def _complete(self, header: Header) -> None:
        """Give the bank that was loaded, and waits beside this one, the vectors that its export left out; and take from
        it what this bank has forgotten."""
        from everwhen.ingest.reembed import reembed
        from everwhen.store.sqlite import SqliteStore
        from everwhen.store.sqlite.restoring import carry_over
        from everwhen.store.sqlite.transfer import part_of

        bank = bank_path(self._folder, self._store.info.name)
        loaded = SqliteStore.open(
            part_of(bank), embedder=header.embedder, dimension=0, zone="UTC", create=False
        )
        try:
            if not header.vectors:
                reembed(loaded, self._embedder, self._store.info.embedder, self._settings)
            carry_over(bank, loaded, _forgetting(self._embedder, self._settings))
        finally:
            loaded.close()

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Copy the bank into one file while it is in use; the file is there when it has been verified.

        A folder gets a file named after the bank and the time. `Memory.restore` brings it back.
        """
        target = Path(path)
        if target.is_dir():
            target /= f"{self._store.info.name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.db"
        check_folder(target)
        if target.exists() and not overwrite:
            raise Refused(f"{target} exists; name another file, or allow it to be replaced (--overwrite)")
        self._accesses.write()
        self._store.keep.copy_to(target)
        return target

    @classmethod
    def restore(
        cls,
        path: str | Path,
        home: str | Path | None = None,
        bank: str = "default",
        *,
        overwrite: bool = False,
        **settings: Any,
    ) -> int:
        """Bring a bank back from a backup; how many turns it holds. A bank that exists needs `overwrite`.

        What was forgotten since the backup stays forgotten.
        """
        from everwhen.settings import load as load_settings
        from everwhen.store.sqlite.restoring import restore

        chosen = load_settings(home=home, **settings)
        folder = home_folder(chosen.home)

        return restore(
            Path(path),
            bank_path(folder, bank),
            replace=overwrite,
            forget=_forgetting(None, chosen),
            busy_seconds=chosen.busy_seconds,
        )

    # Repair

    def doctor(self, fix: bool = False) -> list[Finding]:
        """What is wrong with the bank, one sentence each; `fix` rebuilds what is derived, never what was said.

        Where what was said is damaged itself, `fix` raises `Damaged` and changes nothing: see `Memory.salvage`.
        """
        from everwhen.keep.mend import examine, mend

        if not fix:
            return self._model.write(lambda embedder: examine(self._store, embedder, self._settings))
        return self._model.write(
            lambda embedder: mend(self._store, embedder, self._settings, self._rebuilding)
        )

    def _rebuilding(self) -> Callable[[Sequence[str], bool], None]:
        """What reads turns again and builds the tree, as far as it is built now."""
        reached = self._reaches_open()

        def rebuild(turns: Sequence[str], tree: bool) -> None:
            if turns:
                self._store.graph.restart(turns)
                self.process()
            if tree:
                self._mend_tree([Finding("tree", "to be built again")], reached)

        return rebuild

    @staticmethod
    def salvage(path: str | Path, home: str | Path | None = None, bank: str = "default") -> int:
        """Write the turns that can be read in a damaged bank as JSON lines that `import` takes; how many.

        The bank's file is only read, and need not be one that can be opened.
        """
        import json

        from everwhen.files.export import writing
        from everwhen.store.sqlite.salvage import salvage

        file = bank_path(home_folder(home), bank)
        if not file.is_file():
            raise NotFound(f"there is no bank '{bank}'; `everwhen banks` lists those that exist")
        count = 0
        with writing(Path(path)) as stream:
            for message in salvage(file):
                stream.write((json.dumps(message, ensure_ascii=False) + "\n").encode())
                count += 1
        return count

    def _whom(self, name: str) -> Entity:
        """An entity by its name; a turn that waits for extraction may name it first."""
        try:
            return self.entity(name)
        except NotFound:
            raise NotFound(
                f"nobody and nothing is called '{name}' here, so there is nothing to forget; "
                "`everwhen entities` lists the names, `everwhen grep` finds words"
            ) from None


def drop_cached(memory: KeepMemory) -> list[str]:
    """Take the vectors of a bank's texts out of the home's cache, before its file is deleted; what stood in the way."""
    from everwhen.keep.forget import uncache

    with memory._worker.paused(), memory._with_cache(memory._embedder) as cached:
        return uncache(
            memory._store, cached, memory._settings
        )  # a batch that is being read would put some back


def _forgetting(
    embedder: Embedder | None, settings: Settings
) -> Callable[[Store, Sequence[str], Sequence[str]], None]:
    """Forgets some turns and facts of another store, with an embedder or the store's own."""

    def again(store: Store, turns: Sequence[str], facts: Sequence[str]) -> None:
        from everwhen.keep.forget import Wanted, forget
        from everwhen.memory.front import shared_embedder

        chosen = embedder or shared_embedder(store.info.embedder)
        forget(store, chosen, settings, Wanted(turns=tuple(turns), facts=tuple(facts)), datetime.now(UTC))

    return again
