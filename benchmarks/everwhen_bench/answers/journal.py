"""Every context, answer and judgement of a run, one JSON line each, written as it comes: a run that stopped goes on.

Prompts and completions are parted, so that they can be made apart: `missing` prompts go to a file, any program that
has a model writes `{"key": …, "text": …}` for each, and the run reads them as if it had asked itself.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias

from everwhen.errors import UsageError
from everwhen.types import Usage

Phase: TypeAlias = Literal["answer", "judge"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model. Its key is made of all that could change the completion."""

    phase: Phase
    model: str
    instructions: str
    text: str
    max_tokens: int
    run: int = 0

    @property
    def key(self) -> str:
        whole = json.dumps([self.phase, self.model, self.instructions, self.text, self.max_tokens, self.run])
        return sha256(whole.encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model said, and what that took."""

    text: str
    usage: Usage = field(default_factory=Usage)
    problem: str | None = None


class Journal:
    """Contexts by question and system, completions by prompt; in memory, and in a file where one is named."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.contexts: dict[tuple[str, str], dict[str, Any]] = {}
        self.completions: dict[str, Completion] = {}
        if path is None:
            return
        if path.exists():
            self._load(path, settings)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write({"settings": dict(settings)})

    def keep_context(self, question: str, system: str, value: Mapping[str, Any]) -> None:
        """What a system gave a question: `{"text": …}`, or `{"answer": …, "usage": …}` of one that answers itself."""
        self.contexts[question, system] = dict(value)
        self._write({"question": question, "system": system, "value": dict(value)})

    def keep(self, key: str, completion: Completion) -> None:
        """A completion, as soon as it is there."""
        self.completions[key] = completion
        self._write({"key": key, **asdict(completion)})

    def read_completions(self, path: Path) -> int:
        """Completions that were made elsewhere; those of other prompts do no harm. How many were new."""
        new = 0
        for row in _rows(path):
            if not isinstance(row.get("key"), str) or not isinstance(row.get("text"), str):
                raise UsageError(f'{path}: every line needs "key" and "text"')
            if row["key"] not in self.completions:
                self.keep(row["key"], _completion(row))
                new += 1
        return new

    def _load(self, path: Path, settings: Mapping[str, Any]) -> None:
        for row in _rows(path):
            if "settings" in row:
                changed = sorted(key for key, value in settings.items() if row["settings"].get(key) != value)
                if changed:
                    raise UsageError(
                        f"{path} was begun with another {', '.join(changed)}; name another file, or delete it"
                    )
            elif "question" in row:
                self.contexts[row["question"], row["system"]] = row["value"]
            else:
                self.completions[row["key"]] = _completion(row)

    def _write(self, row: Mapping[str, Any]) -> None:
        if self._path is None:
            return
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_prompts(path: Path, prompts: Iterable[Prompt]) -> int:
    """Prompts for a model that is elsewhere, each once; how many."""
    unique = {prompt.key: prompt for prompt in prompts}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for key, prompt in unique.items():
            messages = [
                {"role": role, "content": text}
                for role, text in (("system", prompt.instructions), ("user", prompt.text))
                if text
            ]
            row = {"key": key, "phase": prompt.phase, "messages": messages, "max_tokens": prompt.max_tokens}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return len(unique)


def _completion(row: Mapping[str, Any]) -> Completion:
    usage = row.get("usage") or {}
    known = {key: usage[key] for key in Usage.__dataclass_fields__ if key in usage}
    made = Completion(str(row["text"]), Usage(**known) if known else Usage(), row.get("problem"))
    return made if made.usage.requests else replace(made, usage=replace(made.usage, requests=1))


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except ValueError:
            if number == len(lines):  # the line that was being written when the run stopped
                return
            raise UsageError(f"{path}, line {number} is not JSON") from None
        if not isinstance(row, dict):
            raise UsageError(f"{path}, line {number} is not an object")
        yield row
