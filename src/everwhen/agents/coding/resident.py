"""The process that answers the hooks of coding agents: it keeps banks open, so that a prompt waits for a recall only.

It is started by the first hook that finds none, and ends by itself when nobody has needed it for a while. Hooks speak
to it over a socket in the home folder that only its owner may use: the length of what follows, a line `ask TOOL BANK`
and the event as JSON; the answer is a line `ok LENGTH` and the words. A hook that got them says so; what came too late
for a prompt comes with the session's next one. What is to be kept lies in files, which it takes up in their order, so
that nothing is lost while it is not there.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

from everwhen.agents.coding import hook
from everwhen.agents.coding.attending import Answer, Attendant
from everwhen.agents.coding.tools import TOOLS
from everwhen.api.memory import Memory
from everwhen.errors import EverwhenError, NotFound, Unavailable, UsageError
from everwhen.store.files.private import private_folder

log = logging.getLogger("everwhen.resident")

IDLE = 1800.0
"""Seconds without an event after which the process ends."""
SETTLE = 0.3
"""Seconds that a tool has to finish its transcript: some tell of an end before they have written it down."""
LONGEST_EVENT = 16_000_000
PATIENCE = 10.0
"""Seconds that somebody who connects has to say what they want."""
WARM_UP = "What did we decide about this, and when?"


class Resident:
    """The banks of one home folder, at the service of hooks."""

    def __init__(self, home: Path, bank: str, store: str | None = None, idle: float = IDLE) -> None:
        self.home, self.store, self.idle = home, store, idle
        self.folder = private_folder(home / hook.FOLDER)
        self._first = bank
        self._open: dict[str, Attendant] = {}
        self._lock = threading.Lock()
        self._used = time.monotonic()
        self._busy = 0
        self.ending = threading.Event()
        self._poked = threading.Event()
        self._taking = threading.Lock()

    def run(self) -> None:
        """Answer until nobody has asked for a while, or somebody says stop."""
        self._warm_up()
        os.chdir(self.folder)  # as in the hook: a socket's name must be short
        Path(hook.SOCKET).unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listening:
            mask = os.umask(0o177)
            try:
                listening.bind(hook.SOCKET)
            finally:
                os.umask(mask)
            listening.listen(64)
            listening.settimeout(min(1.0, self.idle))
            keeping = threading.Thread(target=self._keep_all, name="keep")
            keeping.start()
            log.info("ready")
            while not self.ending.is_set():
                self._accept(listening)
                if not self._busy and time.monotonic() - self._used > self.idle:
                    self.ending.set()
            Path(hook.SOCKET).unlink(missing_ok=True)
        self._poked.set()
        keeping.join()
        for one in self._open.values():
            one.memory.close()
        log.info("ended")

    def _warm_up(self) -> None:
        """Load what the first prompt would wait for."""
        try:
            self._attendant(self._first).memory.context(WARM_UP)
        except EverwhenError as error:
            log.warning("bank %s cannot be opened: %s", self._first, error)

    def _attendant(self, bank: str) -> Attendant:
        with self._lock:
            if bank not in self._open:
                # What an agent is told is what is there by now: it does not wait for what is being read.
                memory = Memory.open(self.home, bank, store=self.store, wait_seconds=0)
                self._open[bank] = Attendant(memory)
            return self._open[bank]

    def _accept(self, listening: socket.socket) -> None:
        try:
            one, _ = listening.accept()
        except TimeoutError:
            return
        self._used = time.monotonic()
        threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one: socket.socket) -> None:
        answer = Answer()
        with one:
            try:
                one.settimeout(PATIENCE)
                answer = self._answer(_received(one))
                words = answer.words.encode()
                one.sendall(b"ok %d\n%s" % (len(words), words))
                answer.taken = one.recv(1) == hook.TAKEN
            except OSError:
                pass  # the hook did not wait so long
            except Exception as error:
                log.warning("an event was not answered: %s: %s", type(error).__name__, error)
        answer.settle()

    def _answer(self, request: bytes) -> Answer:
        header, _, body = request.partition(b"\n")
        what, *words = header.decode("utf-8").split(" ")
        if what == "ask" and len(words) == 2:
            tool, bank = words
            return self._attendant(bank).answer(TOOLS[tool], _event(body))
        if what == "poke":
            self._poked.set()
        elif what == "settle":  # for people and tests who want to see what was kept
            self._take_up()
            for one in list(self._open.values()):
                one.memory.flush()
        elif what == "stop":
            self.ending.set()
        else:
            raise UsageError(f"no such request: {header[:64]!r}")
        return Answer()

    def _keep_all(self) -> None:
        """Take up what hooks have left, until the end, and once more then."""
        while True:
            ending = self.ending.is_set()
            self._take_up()
            if ending:
                return
            self._poked.wait(timeout=5.0)
            self._poked.clear()
            self.ending.wait(SETTLE)

    def _take_up(self) -> None:
        with self._taking:
            for file in sorted((self.folder / hook.SPOOL).glob("*.event")):
                self._busy += 1
                try:
                    self._keep(file)
                finally:
                    self._busy -= 1
                    self._used = time.monotonic()

    def _keep(self, file: Path) -> None:
        try:
            header, _, body = file.read_bytes().partition(b"\n")
            _, tool, bank = header.decode("utf-8").split(" ")
            new = self._attendant(bank).keep(TOOLS[tool], _event(body))
            log.info("%s: %d new turns in bank %s", tool, new, bank)
        except Unavailable as error:
            log.warning("%s is taken up later: %s", file.name, error)
            return
        except Exception as error:
            log.warning("%s cannot be kept: %s: %s", file.name, type(error).__name__, error)
            file.rename(file.with_suffix(".bad"))
            return
        file.unlink()


def run(home: Path, bank: str, store: str | None = None, lock: int | None = None, idle: float = IDLE) -> None:
    """Be the resident process of a home folder; with `lock`, a file that is already locked for it."""
    import fcntl

    folder = private_folder(home / hook.FOLDER)
    if lock is None:
        lock = os.open(folder / hook.LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(
                f"there is one already for {home}; `everwhen server resident --stop` ends it"
            ) from None
    os.set_inheritable(lock, False)
    os.ftruncate(lock, 0)
    os.pwrite(lock, b"%d\n" % os.getpid(), 0)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    _shorten(folder / "resident.log")
    one = Resident(home, bank, store, idle)
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, lambda *_: one.ending.set())
    one.run()


def request(home: Path, words: str, body: bytes = b"", wait: float = 60.0) -> bytes:
    """Ask the resident process of a home folder something; NotFound where there is none."""
    here = Path.cwd()
    try:
        os.chdir(home / hook.FOLDER)
        answer = hook.speak(words.encode() + b"\n" + body, wait)
    except FileNotFoundError:
        answer = None
    finally:
        os.chdir(here)
    if answer is None:
        raise NotFound(f"there is no resident process for {home}")
    return answer


def _received(one: socket.socket) -> bytes:
    """A request: its length in a line, and as many bytes."""
    with one.makefile("rb") as file:
        length = int(file.readline(16))
        if not 0 <= length <= LONGEST_EVENT:
            raise UsageError("the event is too long")
        return file.read(length)


def _event(body: bytes) -> dict[str, Any]:
    event = json.loads(body)
    if not isinstance(event, dict):
        raise UsageError("an event is a JSON object")
    return event


def _shorten(file: Path) -> None:
    if file.exists() and file.stat().st_size > hook.LONGEST_LOG:
        os.truncate(file, 0)
