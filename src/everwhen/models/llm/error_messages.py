"""pydantic-ai's exceptions as one sentence each, with what to do. Imports pydantic-ai."""

from __future__ import annotations

import re

from pydantic_ai.exceptions import (
    ContentFilterError,
    IncompleteToolCall,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)

from everwhen.models.llm.base import LLMError, Problem
from everwhen.models.llm.retrying import SHORTLY, CutOff, refused
from everwhen.types import Usage

SHOWN = 200
LATER = (*SHORTLY, 429)


def explain(error: Exception, *, name: str, where: str, key: str, usage: Usage, text: str = "") -> LLMError:
    """What went wrong with the model `name` served at `where`, as an `LLMError`."""
    problem, sentence = _problem(error, name, where, key, bool(usage.requests))
    begun = text if problem in ("cut off", "schema") else ""
    return LLMError(problem, sentence, usage=usage, text=begun)


def _problem(error: Exception, name: str, where: str, key: str, asked: bool) -> tuple[Problem, str]:
    """Its kind and a sentence; `asked` is whether the server answered any request at all."""
    match error:
        case ContentFilterError():
            said = re.search(r"Refusal: (['\"])(.*?)\1", str(error))
            words = f": {_short(said[2])}" if said else ""
            return "refusal", f"{name} refused to answer{words}; try another model"
        case ModelContextWindowExceededError():
            return "too long", f"the text is longer than {name} can read; use smaller batches"
        case ModelAuthenticationError():
            return "key", f"{where} refused the key; check {key}"
        case ModelNotFoundError():
            return "model", f"{where} has no model {name.partition(':')[2]!r}; check the name and the address"
        case ModelQuotaExceededError():
            return "quota", f"the quota for {name} is used up; check the plan and billing"
        case ModelTimeoutError() | ModelRequestTimeout():
            return "timeout", f"{where} did not answer in time; raise EVERWHEN_LLM_TIMEOUT"
        case ModelConnectionError():
            return "unreachable", f"{where} cannot be reached; is the server running?"
        case ModelHTTPError(status_code=status) if not refused(error) and (status in LATER or status >= 500):
            return "busy", f"{where} kept answering with status {status}; try again later"
        case ModelHTTPError(status_code=status):
            return "rejected", f"{where} refused the request (status {status}): {_short(_message(error))}"
        case CutOff() | IncompleteToolCall():
            cure = "raise EVERWHEN_LLM_MAX_TOKENS or use smaller batches"
            return "cut off", f"{name} did not finish its answer; {cure}"
        case UnexpectedModelBehavior() if asked:
            return "schema", f"{name} did not answer in the asked form, even when told; try another model"
        case ModelAPIError() | UnexpectedModelBehavior():
            return "unreachable", f"{where} does not answer as a model server; check the address"
    what = f"{type(error).__name__}: {_short(str(error))}"
    return "unreachable", f"asking {name} failed ({what}); try again later"


def _message(error: ModelHTTPError) -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        words = inner.get("message", inner) if isinstance(inner, dict) else inner
        return str(words)
    return str(body)


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"
