"""Files that only their owner may read, and databases among them that a process opens more than once."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from everwhen.store.files.private import make_empty, private_database, private_file
from everwhen.store.sqlite.connection import create_file

READ = (
    "import sqlite3, sys; print(len(sqlite3.connect(sys.argv[1]).execute('SELECT * FROM words').fetchall()))"
)


@pytest.mark.parametrize("again", [private_file, make_empty, create_file])
def test_making_a_database_that_is_open_here_loses_nothing(
    tmp_path: Path, again: Callable[[Path], object]
) -> None:
    path = tmp_path / "private" / "words.sqlite"
    connection = private_database(path, "CREATE TABLE words (word TEXT)")
    connection.execute("INSERT INTO words VALUES ('first')")
    again(path)
    assert _read_elsewhere(path) == 1  # and its end would take the log away if nobody else seemed to use it
    connection.execute("INSERT INTO words VALUES ('second')")
    assert _read_elsewhere(path) == 2
    connection.close()
    with sqlite3.connect(path) as reopened:
        assert len(reopened.execute("SELECT * FROM words").fetchall()) == 2
    reopened.close()


def test_a_new_file_is_private_and_a_link_is_refused(tmp_path: Path) -> None:
    made = private_file(tmp_path / "private" / "new")
    assert made.stat().st_mode & 0o777 == 0o600
    link = tmp_path / "private" / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        private_file(link)
    assert not (tmp_path / "elsewhere").exists()


def _read_elsewhere(path: Path) -> int:
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout)
