"""A model that is asked again while its provider is busy or silent; and what its errors say. Imports pydantic-ai."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Sequence

from pydantic_ai import exceptions as failed
from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from everwhen.models.llm.base import LLMError, Problem
from everwhen.types import Usage

LONGEST_PAUSE = 30.0
CONNECTING = 2
"""Attempts when nobody listens: a server that is down stays down for longer than a pause."""
SHORTLY = (408, 409, 425)


class CutOff(failed.UnexpectedModelBehavior):
    """A structured answer longer than the limit: asking for a repair would only be cut off again."""

    def __init__(self, response: ModelResponse) -> None:
        super().__init__("the answer was cut off")
        self.response = response


class RetryingModel(WrapperModel):
    """Sends at most `concurrency` requests at a time, each at most `attempts` times, none longer than `timeout`.

    Pauses double from `first_pause` up to half a minute, give or take a quarter, unless the provider says how
    long to wait. One loop only: the slots belong to it.
    """

    def __init__(
        self, wrapped: Model, *, attempts: int, timeout: float, first_pause: float, concurrency: int
    ) -> None:
        super().__init__(wrapped)
        self.attempts = attempts
        self.seconds = timeout
        self.first_pause = first_pause
        self.slots = asyncio.Semaphore(concurrency)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        async def send(settings: ModelSettings) -> ModelResponse:
            return await self.wrapped.request(messages, settings, model_request_parameters)

        response = await self._persistently(send, model_settings)
        if response.finish_reason == "length" and model_request_parameters.output_mode != "text":
            raise CutOff(response)
        return response

    async def streamed(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        hear: Callable[[Sequence[ModelResponsePart]], None],
    ) -> ModelResponse:
        """The same, with `hear` called for all that has come, as it comes. Tried again only until then."""
        heard = False

        async def send(settings: ModelSettings) -> ModelResponse:
            nonlocal heard
            async with self.wrapped.request_stream(messages, settings, model_request_parameters) as stream:
                async for _ in stream:
                    parts = stream.get().parts
                    heard = heard or bool(parts)
                    hear(parts)
                return stream.get()

        return await self._persistently(send, model_settings, lambda: heard)

    async def _persistently(
        self,
        send: Callable[[ModelSettings], Awaitable[ModelResponse]],
        model_settings: ModelSettings | None,
        final: Callable[[], bool] = lambda: False,
    ) -> ModelResponse:
        """Sends until there is an answer, the problem is not worth another attempt, or it is `final`."""
        settings = ModelSettings(**(model_settings or {}), timeout=self.seconds, max_retries=0)
        attempt = 0
        while True:
            attempt += 1
            try:
                async with self.slots:
                    # The client's own timeout counts from byte to byte; an answer that drips needs a clock.
                    async with asyncio.timeout(self.seconds):
                        return await send(settings)
            except TimeoutError:
                problem: Exception = failed.ModelRequestTimeout(self.model_name, self.seconds)
            except (failed.ModelAPIError, failed.UnexpectedModelBehavior) as error:
                problem = error
            if final() or attempt >= _worth(problem, self.attempts):
                raise problem
            await asyncio.sleep(self._pause(problem, attempt))

    def _pause(self, problem: Exception, attempt: int) -> float:
        asked = getattr(problem, "retry_after", None)
        backoff = self.first_pause * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)
        return float(min(LONGEST_PAUSE, backoff if asked is None else asked))


def _worth(problem: Exception, attempts: int) -> int:
    match problem:
        case failed.ModelHTTPError() if refused(problem):
            return 1
        case failed.ModelTimeoutError():
            return attempts
        case failed.ModelConnectionError() if _nobody_there(problem):
            return min(CONNECTING, attempts)
        case failed.ModelConnectionError() | failed.ModelRequestTimeout():
            return attempts
        case failed.ModelRateLimitError() | failed.ModelUnavailableError() | failed.ModelServerError():
            return attempts
        case failed.ModelHTTPError():
            return attempts if problem.status_code in SHORTLY or problem.status_code >= 500 else 1
        case failed.ModelAPIError():
            return 1 if type(problem) is not failed.ModelAPIError else attempts  # a body that is not JSON
        case _:
            return attempts  # an answer that is not of the protocol


def refused(problem: failed.ModelHTTPError) -> bool:
    """Whether a server error is a refusal of the way of asking: llama-cpp-python says 500 to a wrong request."""
    words = str(problem.body)
    return problem.status_code >= 500 and ("response_format" in words or "validation error" in words)


def _nobody_there(problem: failed.ModelConnectionError) -> bool:
    """Whether the connection could not even be opened."""
    if problem.phase is not None:
        return problem.phase == "connect"
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError) or type(cause).__name__ == "ConnectError":
            return True
        cause = cause.__cause__ or cause.__context__
    return False


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
        case failed.ContentFilterError():
            said = re.search(r"Refusal: (['\"])(.*?)\1", str(error))
            words = f": {_short(said[2])}" if said else ""
            return "refusal", f"{name} refused to answer{words}; try another model"
        case failed.ModelContextWindowExceededError():
            return "too long", f"the text is longer than {name} can read; use smaller batches"
        case failed.ModelAuthenticationError():
            return "key", f"{where} refused the key; check {key}"
        case failed.ModelNotFoundError():
            return "model", f"{where} has no model {name.partition(':')[2]!r}; check the name and the address"
        case failed.ModelQuotaExceededError():
            return "quota", f"the quota for {name} is used up; check the plan and billing"
        case failed.ModelTimeoutError() | failed.ModelRequestTimeout():
            return "timeout", f"{where} did not answer in time; raise EVERWHEN_LLM_TIMEOUT"
        case failed.ModelConnectionError():
            return "unreachable", f"{where} cannot be reached; is the server running?"
        case failed.ModelHTTPError(status_code=status) if not refused(error) and (
            status in LATER or status >= 500
        ):
            return "busy", f"{where} kept answering with status {status}; try again later"
        case failed.ModelHTTPError(status_code=status):
            return "rejected", f"{where} refused the request (status {status}): {_short(_message(error))}"
        case CutOff() | failed.IncompleteToolCall():
            cure = "raise EVERWHEN_LLM_MAX_TOKENS or use smaller batches"
            return "cut off", f"{name} did not finish its answer; {cure}"
        case failed.UnexpectedModelBehavior() if asked:
            return "schema", f"{name} did not answer in the asked form, even when told; try another model"
        case failed.ModelAPIError() | failed.UnexpectedModelBehavior():
            return "unreachable", f"{where} does not answer as a model server; check the address"
    what = f"{type(error).__name__}: {_short(str(error))}"
    return "unreachable", f"asking {name} failed ({what}); try again later"


def _message(error: failed.ModelHTTPError) -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        words = inner.get("message", inner) if isinstance(inner, dict) else inner
        return str(words)
    return str(body)


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"
