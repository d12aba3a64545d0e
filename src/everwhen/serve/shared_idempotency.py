"""Idempotency keys of several servers over one database: the same write sent to two of them is done once. And how many
servers there are."""

from __future__ import annotations

import hashlib
import logging
import threading
import uuid
from contextlib import suppress

from everwhen.errors import EverwhenError, Unavailable
from everwhen.serve.idempotency import EVERY, LEASE, MOST, another_request, still_answered
from everwhen.serve.logs import say
from everwhen.store.answers import Answers, StoredAnswer


class SharedIdempotencyStore:
    """As `IdempotencyStore`, where the servers' store keeps the answers."""

    def __init__(self, answers: Answers, most: int = MOST, lease: float = LEASE) -> None:
        self._answers = answers
        self._most = most
        self._lease = lease
        self._lock = threading.Lock()
        self._claims: dict[str, str] = {}
        self._unkept: dict[str, tuple[str, StoredAnswer]] = {}
        self._finished = 0
        self._name = uuid.uuid4().hex
        self.servers = 1
        """Server processes over the same database, this one included."""
        self._closing = threading.Event()
        threading.Thread(target=self._renew, name="everwhen-claims", daemon=True).start()

    def begin(self, asked: str, body: bytes) -> StoredAnswer | None:
        claim = uuid.uuid4().hex
        found = self._answers.claim(asked, hashlib.sha256(body).digest(), claim, self._lease)
        if found == "other":
            raise another_request()
        if found == "busy":
            raise still_answered()
        if isinstance(found, StoredAnswer):
            return found
        with self._lock:
            self._claims[asked] = claim
        return None

    def finish(self, asked: str, answer: StoredAnswer) -> None:
        """Keep the answer. Where the database is away the write is answered all the same, and kept when it is back."""
        with self._lock:
            claim = self._claims.pop(asked, None)
            self._finished += 1
            trims = self._finished % EVERY == 1
            if claim is not None:
                self._unkept[asked] = (claim, answer)
        try:
            self._keep(asked)
            if trims:
                self._answers.trim(self._most)
        except Unavailable as error:
            say("an answer could not be kept yet", logging.WARNING, error=str(error))

    def abandon(self, asked: str) -> None:
        with self._lock:
            claim = self._claims.pop(asked, None)
        if claim is not None:
            try:
                self._answers.release(asked, claim)
            except Unavailable as error:  # it ends by itself
                say("a claim could not be given up", logging.WARNING, error=str(error))

    def forget(self, bank: str) -> None:
        self._answers.forget(bank)

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            claims = dict(self._claims)
        for asked in claims:
            self.abandon(asked)
        with suppress(EverwhenError):  # it ends by itself
            self._answers.leave(self._name)

    def _keep(self, asked: str) -> None:
        with self._lock:
            waiting = self._unkept.get(asked)
        if waiting is not None:
            self._answers.keep(asked, *waiting)
            with self._lock:
                self._unkept.pop(asked, None)

    def _renew(self) -> None:
        """Keep the claims of this process good for as long as it lives, and the answers that could not be kept; and
        say that it lives."""
        pause = 0.0
        while not self._closing.wait(pause):
            pause = self._lease / 3
            with self._lock:
                unkept = list(self._unkept)
                claims = [*self._claims.values(), *(claim for claim, _ in self._unkept.values())]
            try:
                self.servers = self._answers.present(self._name, self._lease)
                if claims:
                    self._answers.renew(claims, self._lease)
                for asked in unkept:
                    self._keep(asked)
            except EverwhenError:  # the next round may do it
                continue
