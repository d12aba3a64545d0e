"""The list of public names is a promise: a test holds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import everwhen

PUBLIC = {
    "Added", "Answer", "AsyncClient", "AsyncMemory", "Citation", "Client", "Comparison", "Conflict",
    "Consolidated", "Context", "Damaged",
    "Entity", "Entry", "Event",
    "EverwhenError", "Evidence", "Fact", "Finding", "Hit",
    "Interval", "Memory",
    "Message", "ModelError", "Node", "NotFound", "Proposal",
    "Recall", "Recalled", "Receipt", "Recipe", "Refused", "Session",
    "Settings", "StaleFact", "Statement", "Stats", "TimeAnswer", "Turn", "Unavailable", "UsageError", "wrap",
}  # fmt: skip


def test_exactly_these_names_are_public() -> None:
    assert set(everwhen.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(everwhen, name).__name__ == name


def test_importing_everwhen_loads_nothing_heavy() -> None:
    heavy = (
        "numpy",
        "onnxruntime",
        "spacy",
        "pydantic",
        "typer",
        "rich",
        "tiktoken",
        "dateparser",
        "holidays",
    )
    code = f"import everwhen, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_reading_needs_no_spacy_and_no_tokenizer_tables() -> None:
    heavy = ("spacy", "tiktoken", "dateparser", "pydantic_settings")
    plain = {name: value for name, value in os.environ.items() if name != "EVERWHEN_WAIT_SECONDS"}
    code = (
        "import sys; from everwhen import Memory; m = Memory.open(bank='x'); m.recall('hello');"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=plain)
    assert done.stdout.strip() == "[]"


def test_onnxruntime_keeps_no_id_of_the_machine_and_reports_nothing(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    for variable in ("HOME", "XDG_CACHE_HOME"):
        environment[variable] = str(tmp_path)
    subprocess.run([sys.executable, "-c", "import everwhen, onnxruntime"], check=True, env=environment)
    assert list(tmp_path.iterdir()) == []
