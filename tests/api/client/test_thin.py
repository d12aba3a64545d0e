"""A client is thin: importing it loads nothing of the engine."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "asyncio",
    "httpx",
    "numpy",
    "sqlite3",
    "everwhen.answer",
    "everwhen.facts",
    "everwhen.write",
    "everwhen.upkeep",
    "everwhen.api.memory",
    "everwhen.models",
    "everwhen.recall",
    "everwhen.store.base",
    "everwhen.tree",
    "everwhen_time.resolver",
)


def loaded_by(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_client_loads_no_engine_no_numpy_and_no_sqlite() -> None:
    assert not loaded_by("from everwhen import AsyncClient, Client").intersection(HEAVY)


def test_importing_the_operations_loads_no_engine_no_numpy_and_no_sqlite() -> None:
    assert not loaded_by("import everwhen.api.operations").intersection(HEAVY)


def test_using_a_client_loads_no_engine_no_numpy_and_no_sqlite() -> None:
    statement = (
        "from everwhen import Client, Unavailable\n"
        "try:\n"
        "    Client('http://127.0.0.1:9').recall('x', at='last Friday')\n"
        "except Unavailable:\n"
        "    pass"
    )
    allowed = {"asyncio", "httpx", "pydantic"}
    assert not loaded_by(statement).intersection(set(HEAVY) - allowed)
