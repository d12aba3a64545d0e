"""Overwriting what removed rows leave behind in a bank's file and its write-ahead log."""

from __future__ import annotations

from contextlib import closing
from typing import BinaryIO

from everwhen.errors import Unavailable
from everwhen.store.files.sqlite_wipe import can_be_wiped, log_is_empty, open_files, wipe_slack
from everwhen.store.sqlite.connection import SqliteConnection, SqliteSql, part_of, remove_file

ATTEMPTS = 20
"""How often the log is emptied again because another process has written into it."""
SCRUB_SECONDS = 5.0
"""How long another process that reads is waited for before the write-ahead log is left as it is."""


class SqliteScrubbing:
    """The `ScrubJob` of one bank file: asked for by the value `erasing`, in the transaction that removes rows."""

    def __init__(self, writer: SqliteConnection, reader: SqliteConnection) -> None:
        self._writer = writer
        self._reader = reader

    def waits(self) -> bool:
        with self._reader.use() as sql:
            return sql.run("kept_value", ("erasing",)).fetchone() is not None

    def run(self) -> bool:
        """`secure_delete` has overwritten the rows. What may be left of them is in old versions of pages in the
        write-ahead log, and in the slack of pages, by rows that were moved before they were deleted."""
        path = self._writer.path
        try:
            remove_file(part_of(path))  # what an interrupted restore left
            with self._writer.use() as sql:  # no other thread of ours writes meanwhile
                file = open_files.handle(self._writer.file, path)
                if not can_be_wiped(file) or _is_mostly_free(sql):
                    sql.raw.execute(
                        "VACUUM"
                    )  # where much is free it costs what was removed, not what is there
                for _ in range(ATTEMPTS):
                    if not truncate_log(self._writer):
                        return False
                    if self._wiped(file):
                        return True
        except (Unavailable, OSError):
            pass
        return False

    def _wiped(self, file: BinaryIO) -> bool:
        """Overwrite the slack of the file, and take away the mark that something is to be overwritten; False where
        somebody wrote meanwhile.

        By a connection of its own, which has no old page in its cache. When it commits, all others drop theirs.
        """
        fresh = SqliteConnection(self._writer.path, busy_seconds=SCRUB_SECONDS)
        with closing(fresh), fresh.transaction() as sql:
            if not log_is_empty(fresh.path):
                return False
            if can_be_wiped(file):
                wipe_slack(file)
            sql.run("put_kept_value", ("erasing", "1"))  # so that there is something to commit
            sql.run("drop_kept_value", ("erasing",))
            return True


def truncate_log(writer: SqliteConnection) -> bool:
    """Move the write-ahead log into the file and cut it to nothing; waits for readers."""
    with writer.hurried(SCRUB_SECONDS) as sql:
        busy = sql.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    return not busy


def _is_mostly_free(sql: SqliteSql) -> bool:
    pages, free = (
        sql.raw.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count")
    )
    return bool(2 * free > pages)
