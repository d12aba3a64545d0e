"""Files that only their owner may read: keys, answers, the audit log, the token of a running server."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from everwhen.store.files.home import make_private_folder

DatabaseBusy = sqlite3.OperationalError
"""A private database that cannot be written now: another process holds it, or the disk is full."""


def private_folder(folder: Path) -> Path:
    """The folder, made when it is new, closed to others."""
    make_private_folder(folder)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)
    return folder


def private_file(path: Path) -> Path:
    """The file, made empty when it is new, with mode 0600 from its first moment on."""
    private_folder(path.parent)
    make_empty(path)
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return path


def make_empty(path: Path) -> None:
    """Make a file where there is none. One that is there is not opened: it may be a database that this process uses,
    and POSIX drops the locks of a file when any handle of it is closed. Rows would then be lost to another process."""
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        if path.is_symlink():  # which may lead out of the folder
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


def write_private(path: Path, text: str) -> None:
    """Replace a file's words, all at once."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    private_file(new).write_text(text, encoding="utf-8")
    new.replace(path)


def private_database(path: Path, schema: str, *, durable: bool = True) -> sqlite3.Connection:
    """A small SQLite file that several processes and threads may use (the caller holds a lock).

    Without `durable`, what was written last may be lost when the machine (not the process) fails.
    """
    connection = sqlite3.connect(
        private_file(path), timeout=30.0, isolation_level=None, check_same_thread=False
    )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.executescript(schema)
    return connection
