"""What the models of an answer bench are told: one text file for each prompt, beside this one."""

from __future__ import annotations

from pathlib import Path


def load(name: str) -> str:
    """The prompt called `name`, without the newline at its end."""
    return (Path(__file__).parent / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")
