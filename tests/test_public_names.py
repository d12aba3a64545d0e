"""The list of public names is a promise: a test holds it."""

from __future__ import annotations

import subprocess
import sys

import everwhen

PUBLIC = {
    "Added", "Answer", "AsyncMemory", "Citation", "Comparison", "Conflict", "Damaged", "Entity", "Entry", "Event",
    "EverwhenError", "Evidence", "Fact", "Finding", "Hit",
    "Interval", "Memory",
    "Message", "ModelError", "NotFound", "Recall", "Recalled", "Recipe", "Refused", "Session", "Settings",
    "StaleFact", "Stats", "TimeAnswer", "Turn", "Unavailable", "UsageError",
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
    code = (
        "import sys; from everwhen import Memory; m = Memory.open(bank='x'); m.recall('hello');"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
