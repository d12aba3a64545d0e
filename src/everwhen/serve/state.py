"""What a running server holds, the order in which it starts and stops, and the work behind the requests.

`Memory` extracts by itself what it was given. What a crash, a failure or a closed bank left undone stays on the list;
here it is tried again, with pauses that double, for as long as the server runs. Where turns came or went since the last
time, and nothing waits for extraction, the tree is built behind them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from everwhen.api.memory import Memory
from everwhen.errors import EverwhenError, ModelError, NotFound, Unavailable
from everwhen.serve.auth import Authenticator, KeyStore, RateLimits
from everwhen.serve.banks import Banks
from everwhen.serve.idempotency import FolderAnswers, IdempotencyKeys
from everwhen.serve.server_settings import ServerSettings, running
from everwhen.serve.telemetry import Audit, Metrics, say
from everwhen.serve.transfer_files import TransferFiles
from everwhen.settings import load
from everwhen.store.banks import open_shared

AT_A_TIME = 30.0
"""Seconds that one bank may take before it is the next one's turn."""


@dataclass
class PendingBank:
    """A bank with work left: how much, how often it failed, when it is tried next.

    `condensed` is how many turns the bank had when its tree was built last, `open_nodes` how many nodes wait for their
    windows to close, `rest` the moment before which the tree is left alone; `stale` and `scan`: facts to verify.
    """

    pending: int = 0
    condensed: int = 0
    open_nodes: int = 0
    rest: float = 0.0
    stale: int = 0
    scan: float = 0.0
    failures: int = 0
    due: float = 0.0


class Background:
    """One thread that goes round the banks which were used since the server started."""

    def __init__(self, banks: Banks, metrics: Metrics, serving: ServerSettings) -> None:
        self._banks = banks
        self._metrics = metrics
        self._every = serving.background_seconds
        self._longest = serving.retry_seconds
        self._between_trees = serving.consolidate_seconds
        self._between_scans = load().stale_scan_seconds
        self._extracts = load().extract != "none"
        self._stop = threading.Event()
        self._known: dict[str, PendingBank] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="everwhen-background", daemon=True)
        waiting = "Turns that wait for extraction in banks used since the start."
        self._gauge("pending_turns", waiting, lambda debt: debt.pending)
        nodes = "Nodes of memory trees whose windows are still open."
        self._gauge("open_nodes", nodes, lambda debt: debt.open_nodes)
        stale = "Facts to verify: faded, contradicted, or told of what has changed."
        self._gauge("stale_facts", stale, lambda debt: debt.stale)
        failing = "Banks whose background work failed and is tried again."
        self._gauge("failing_banks", failing, lambda debt: debt.failures > 0)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _gauge(self, name: str, text: str, count: Callable[[PendingBank], int]) -> None:
        def read() -> int:
            with self._lock:
                return sum(count(debt) for debt in self._known.values())

        self._metrics.gauge(name, text, read)

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            with self._lock:
                for bank in self._banks.opened():
                    self._known.setdefault(bank, PendingBank())
                round_ = list(self._known.items())
            for bank, debt in round_:
                if self._stop.is_set():
                    return
                if time.monotonic() >= debt.due:
                    self._look_at(bank, debt)

    def _look_at(self, bank: str, debt: PendingBank) -> None:
        """See what waits; when nothing has moved since the last round, take it up ourselves."""
        try:
            with self._banks.lease(bank) as memory:
                stats = memory.stats()
                before, debt.pending = debt.pending, stats.pending
                if not self._extracts:
                    debt.pending = 0  # the turns wait for another server, or for `everwhen bank process`
                if debt.pending and (debt.failures or debt.pending == before):
                    self._take_up(memory, debt)
                if not debt.pending:
                    self._condense(memory, debt, stats.turns)
                    self._scan(memory, debt)
            debt.failures = 0
        except NotFound:  # the bank was deleted
            with self._lock:
                self._known.pop(bank, None)
        except Exception as error:
            self._failed(bank, debt, error)
        else:
            if debt.pending == 0 and bank not in self._banks.opened():
                with self._lock:
                    self._known.pop(bank, None)

    def _take_up(self, memory: Memory, debt: PendingBank) -> None:
        """Wait until the to-do list is empty or half a minute is over; errors of the extraction are raised."""
        end = time.monotonic() + AT_A_TIME
        while debt.pending and time.monotonic() < end and not self._stop.is_set():
            try:
                memory.process(timeout=1.0)
            except ModelError:
                raise
            except Unavailable:
                if not memory.stats().pending:  # not slow, but something else
                    raise
            before, debt.pending = debt.pending, memory.stats().pending
            if debt.pending >= before:
                return  # nothing moves: asking at once again would only take time from the requests

    def _condense(self, memory: Memory, debt: PendingBank, turns: int) -> None:
        """Build what is closed of the memory tree, where turns came or went since the last time."""
        if not self._between_trees or turns == debt.condensed or time.monotonic() < debt.rest:
            return
        done = memory.consolidate()
        debt.condensed, debt.open_nodes = turns, done.waiting
        debt.rest = time.monotonic() + self._between_trees
        self._metrics.tree_nodes_built.inc(done.built + done.rebuilt)

    def _scan(self, memory: Memory, debt: PendingBank) -> None:
        """Count the facts that are to be verified, and say so where there are more than before."""
        if not self._between_scans or time.monotonic() < debt.scan:
            return
        before, debt.stale = debt.stale, len(memory.facts.stale())
        debt.scan = time.monotonic() + self._between_scans
        if debt.stale > before:
            say("facts to verify", logging.INFO, bank=memory.bank, facts=debt.stale)

    def _failed(self, bank: str, debt: PendingBank, error: Exception) -> None:
        debt.failures += 1
        pause = min(self._every * 2**debt.failures, self._longest)
        debt.due = time.monotonic() + pause
        self._metrics.background_failures.inc()
        said = str(error) if isinstance(error, EverwhenError) else type(error).__name__
        say(
            "background work failed, and is tried again",
            logging.WARNING,
            bank=bank,
            error=said,
            failures=debt.failures,
            in_seconds=pause,
        )


class ServerState:
    """One for each server process."""

    def __init__(self, serving: ServerSettings) -> None:
        self.serving = serving
        self.settings = load()
        self.metrics = Metrics()
        self.banks = Banks(serving)
        hours = serving.remember_hours
        shared = open_shared(serving.store, hours)
        self.keys = KeyStore(serving.folder, shared)
        # Beside the banks where servers share a database, else in the server's own folder.
        self.answers = IdempotencyKeys(shared or FolderAnswers(serving.folder, hours))
        self.moving = TransferFiles(serving)
        self.audit = Audit(serving.folder, shared)
        # Those that share the load: the workers of this server, and those of others over the same database.
        self.buckets = RateLimits(
            serving.rate, serving.burst, processes=lambda: max(serving.workers, self.answers.servers)
        )
        self.auth = Authenticator(self.keys, auth=serving.auth, announced=running(serving.folder))
        self.background = Background(self.banks, self.metrics, serving)
        self.ready = threading.Event()
        self.problem: str | None = None
        self.metrics.gauge("open_banks", "Banks that are open.", lambda: len(self.banks.opened()))
        self.metrics.gauge("ready", "1 when the model is loaded.", lambda: float(self.ready.is_set()))

    async def open(self) -> None:
        """Load the model behind the back of the first requests, which hear 503 until then."""
        threading.Thread(target=self._warm, name="everwhen-warm", daemon=True).start()
        self.background.start()

    def forget(self, bank: str) -> None:
        """What the server itself keeps of a bank's words: answers by idempotency key, an import half come."""
        self.answers.forget(bank)
        self.moving.forget(bank)

    async def close(self) -> None:
        """After the last request: the work that is begun is finished, the rest stays on the to-do list."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self.background.stop()
        self.banks.close()
        self.answers.close()
        self.keys.close()
        self.audit.close()
        say("stopped")

    def _warm(self) -> None:
        from everwhen.api.memory import DEFAULT_EMBEDDER
        from everwhen.models.embedder import shared_embedder

        try:
            shared_embedder(self.settings.embedder or DEFAULT_EMBEDDER).embed(["ready"])
        except Exception as error:
            self.problem = str(error)
            say("the model cannot be loaded", logging.ERROR, error=str(error))
            return
        self.ready.set()
        say("ready", home=str(self.serving.home))
