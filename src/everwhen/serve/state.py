"""What a running server holds, and the order in which it starts and stops."""

from __future__ import annotations

import asyncio
import logging
import threading

from everwhen.serve.auth import Authenticator, RateLimits
from everwhen.serve.background import Background
from everwhen.serve.banks import Banks
from everwhen.serve.discovery import running
from everwhen.serve.idempotency import FolderAnswers, IdempotencyKeys
from everwhen.serve.keys import KeyStore
from everwhen.serve.logs import Audit, say
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.telemetry import Metrics
from everwhen.serve.transfer_files import TransferFiles
from everwhen.settings import load
from everwhen.store.opening import open_shared


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
        from everwhen.api.memory.front import DEFAULT_EMBEDDER
        from everwhen.models.embed import shared_embedder

        try:
            shared_embedder(self.settings.embedder or DEFAULT_EMBEDDER).embed(["ready"])
        except Exception as error:
            self.problem = str(error)
            say("the model cannot be loaded", logging.ERROR, error=str(error))
            return
        self.ready.set()
        say("ready", home=str(self.serving.home))
