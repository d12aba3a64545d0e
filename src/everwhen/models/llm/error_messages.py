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

from everwhen.models.llm.base import LLMError
from everwhen.models.llm.retrying import SHORTLY, CutOff, refused
from everwhen.types import Usage

SHOWN = 200
LATER = (*SHORTLY, 429)


def explain(error: Exception, *, name: str, where: str, key: str, usage: Usage, text: str = "") -> LLMError:
    """What went wrong with the model `name` served at `where`, as an `LLMError`."""
    match error:
        case ContentFilterError():
            said = re.search(r"Refusal: (['\"])(.*?)\1", str(error))
            words = f": {_short(said[2])}" if said else ""
            return LLMError("refusal", f"{name} refused to answer{words}; try another model", usage=usage)
        case ModelContextWindowExceededError():
            return LLMError(
                "too long", f"the text is longer than {name} can read; use smaller batches", usage=usage
            )
        case ModelAuthenticationError():
            return LLMError("key", f"{where} refused the key; check {key}", usage=usage)
        case ModelNotFoundError():
            model = name.partition(":")[2]
            return LLMError(
                "model", f"{where} has no model {model!r}; check the name and the address", usage=usage
            )
        case ModelQuotaExceededError():
            return LLMError(
                "quota", f"the quota for {name} is used up; check the plan and billing", usage=usage
            )
        case ModelTimeoutError() | ModelRequestTimeout():
            return LLMError(
                "timeout", f"{where} did not answer in time; raise EVERWHEN_LLM_TIMEOUT", usage=usage
            )
        case ModelConnectionError():
            return LLMError("unreachable", f"{where} cannot be reached; is the server running?", usage=usage)
        case ModelHTTPError() if not refused(error) and (
            error.status_code in LATER or error.status_code >= 500
        ):
            return LLMError(
                "busy",
                f"{where} kept answering with status {error.status_code}; try again later",
                usage=usage,
            )
        case ModelHTTPError():
            return LLMError(
                "rejected",
                f"{where} refused the request (status {error.status_code}): {_short(_message(error))}",
                usage=usage,
            )
        case ModelAPIError():
            return LLMError(
                "unreachable", f"{where} does not answer as a model server; check the address", usage=usage
            )
        case CutOff() | IncompleteToolCall():
            return LLMError(
                "cut off",
                f"{name} did not finish its answer; raise EVERWHEN_LLM_MAX_TOKENS or use smaller batches",
                usage=usage,
                text=text,
            )
        case UnexpectedModelBehavior() if not usage.requests:
            return LLMError(
                "unreachable", f"{where} does not answer as a model server; check the address", usage=usage
            )
        case UnexpectedModelBehavior():
            pass
        case _:
            what = f"{type(error).__name__}: {_short(str(error))}"
            return LLMError("unreachable", f"asking {name} failed ({what}); try again later", usage=usage)
    return LLMError(
        "schema",
        f"{name} did not answer in the asked form, even when told; try another model",
        usage=usage,
        text=text,
    )


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
