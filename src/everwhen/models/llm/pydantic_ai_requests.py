"""What asks a model: requests that are sent again, structured answers, dialogues, and what each failure is called.

Imports pydantic-ai. Small models, and servers that do not know a model's own marks, write calls of tools out as words:
these are read too.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, cast
from uuid import uuid4

from pydantic import TypeAdapter
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput, capture_run_messages
from pydantic_ai import exceptions as failed
from pydantic_ai.direct import model_request
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage, RunUsage
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from everwhen.models.llm.base import (
    AssistantMessage,
    Hear,
    Line,
    LLMError,
    Problem,
    Reply,
    Tool,
    ToolCall,
    ToolResults,
    UserMessage,
)
from everwhen.types import Usage

T = TypeVar("T")

LONGEST_PAUSE = 30.0
CONNECTING = 2
"""Attempts when nobody listens: a server that is down stays down for longer than a pause."""
SHORTLY = (408, 409, 425)
"""Client errors that pass."""
SHOWN = 200
"""Characters of a provider's message that an error repeats."""
OPENAI_MODEL = re.compile(r"(?:openai/)?(?:gpt-|o\d)")


def provider_model(provider: str, model: str, url: str | None, key: str | None) -> Model:
    """pydantic-ai's model of a provider; imports the provider's package, no other."""
    match provider:
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return AnthropicModel(model, provider=AnthropicProvider(api_key=key or "none", base_url=url))
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            return GoogleModel(model, provider=GoogleProvider(api_key=key or "none", base_url=url))
        case "ollama":
            from pydantic_ai.models.ollama import OllamaModel
            from pydantic_ai.providers.ollama import OllamaProvider

            return OllamaModel(model, provider=OllamaProvider(base_url=url, api_key=key))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if url is None:
        return OpenAIChatModel(model, provider=OpenAIProvider(api_key=key))
    compatible = OpenAICompatibleProvider("openai-compatible", base_url=url, api_key=key)
    if OPENAI_MODEL.match(model):
        return OpenAIChatModel(model, provider=compatible)
    # The older name of the limit is the one that every other server knows.
    older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    return OpenAIChatModel(model, provider=compatible, profile=older)


class CutOff(failed.UnexpectedModelBehavior):
    """A structured answer longer than the limit: asking for a repair would only be cut off again."""

    def __init__(self, response: ModelResponse) -> None:
        super().__init__("the answer was cut off")
        self.response = response


class RetryingModel(WrapperModel):
    """Sends at most `concurrency` requests at a time, each at most `attempts` times, none longer than `timeout`.

    Pauses double from `first_pause` up to half a minute, unless the provider says how long to wait. One loop only: the
    slots belong to it. `name`, `where` and `key_variables` are what errors call the model, its server and its key.
    """

    def __init__(
        self,
        wrapped: Model,
        *,
        name: str,
        where: str,
        key_variables: str,
        attempts: int,
        timeout: float,
        first_pause: float,
        concurrency: int,
    ) -> None:
        super().__init__(wrapped)
        self.name = name
        self.where = where
        self.key_variables = key_variables
        self.attempts = attempts
        self.seconds = timeout
        self.slots = asyncio.Semaphore(concurrency)
        self.backoff = wait_exponential_jitter(first_pause, LONGEST_PAUSE, jitter=first_pause / 4)
        self.agents: dict[tuple[type, str], Agent[object, Any]] = {}

    def settings_for(
        self, temperature: float, most: int, max_tokens: int | None, within: float | None
    ) -> ModelSettings:
        """The settings of one question; `within` bounds the seconds of all its attempts."""
        settings = ModelSettings(temperature=temperature, max_tokens=min(most, max_tokens or most))
        if within is not None:
            settings["request_timeout"] = within
        return settings

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        async def send(settings: ModelSettings) -> ModelResponse:
            return await self.wrapped.request(messages, settings, model_request_parameters)

        response = await self.sent_again(send, model_settings)
        if response.finish_reason == "length" and model_request_parameters.output_mode != "text":
            raise CutOff(response)
        return response

    async def streamed(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings,
        model_request_parameters: ModelRequestParameters,
        hear: Hear,
    ) -> ModelResponse:
        """The same, with `hear` called for all that has come, as it comes. Tried again only until then."""
        heard = False

        async def send(settings: ModelSettings) -> ModelResponse:
            nonlocal heard
            async with self.wrapped.request_stream(messages, settings, model_request_parameters) as stream:
                async for _ in stream:
                    parts = stream.get().parts
                    heard = heard or bool(parts)
                    for part in parts:
                        if isinstance(part, ToolCallPart):
                            hear(part.tool_name, _written_arguments(part))
                    if words := _words(parts):
                        hear("", words)
                return stream.get()

        async with asyncio.timeout(model_settings.get("request_timeout")):
            return await self.sent_again(send, model_settings, lambda: heard)

    async def sent_again(
        self,
        send: Callable[[ModelSettings], Awaitable[ModelResponse]],
        model_settings: ModelSettings | None,
        is_final: Callable[[], bool] = lambda: False,
    ) -> ModelResponse:
        """Sends until there is an answer, the problem will not pass, or it is final."""
        settings = ModelSettings(**(model_settings or {}), timeout=self.seconds, max_retries=0)

        async def attempt() -> ModelResponse:
            try:
                # The client's own timeout counts from byte to byte; an answer that drips needs a clock.
                async with self.slots, asyncio.timeout(self.seconds):
                    return await send(settings)
            except TimeoutError:
                raise failed.ModelRequestTimeout(self.model_name, self.seconds) from None

        def was_last(state: RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome else None
            return state.attempt_number >= min(
                self.attempts, CONNECTING if _nobody_there(error) else self.attempts
            )

        def pause(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked: float | None = getattr(error, "retry_after", None)
            return self.backoff(state) if asked is None else min(LONGEST_PAUSE, asked)

        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: not is_final() and _may_pass(error)),
            stop=was_last,
            wait=pause,
            reraise=True,
        )
        return await retrying(attempt)

    def error(self, error: Exception, usage: Usage, text: str = "") -> LLMError:
        """What went wrong, in one sentence; `text` is the answer as far as it came."""
        problem, sentence = _problem(error, self.name, self.where, self.key_variables, bool(usage.requests))
        return LLMError(problem, sentence, usage=usage, text=text if problem in ("cut off", "schema") else "")


def _may_pass(error: BaseException) -> bool:
    """Whether the same request may succeed a little later."""
    match error:
        case failed.ModelHTTPError() if _refuses_form(error):
            return False
        case failed.ModelConnectionError() | failed.ModelRequestTimeout() | failed.ModelRateLimitError():
            return True
        case failed.ModelHTTPError():
            return error.status_code in SHORTLY or error.status_code >= 500
        case failed.ModelUnavailableError() | failed.ModelServerError() | failed.UnexpectedModelBehavior():
            return True  # the last is an answer that is not of the protocol
    return type(error) is failed.ModelAPIError  # a body that is not JSON


def _refuses_form(error: failed.ModelHTTPError) -> bool:
    """Whether a server error is a refusal of the way of asking: llama-cpp-python says 500 to a wrong request."""
    words = str(error.body)
    return error.status_code >= 500 and ("response_format" in words or "validation error" in words)


def _nobody_there(error: BaseException | None) -> bool:
    """Whether the connection could not even be opened."""
    if not isinstance(error, failed.ModelConnectionError) or isinstance(error, failed.ModelTimeoutError):
        return False
    if error.phase is not None:
        return error.phase == "connect"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError) or type(cause).__name__ == "ConnectError":
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _problem(error: Exception, name: str, where: str, key: str, answered: bool) -> tuple[Problem, str]:
    """Its kind and a sentence; `answered` is whether the server answered any request at all."""
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
        case failed.ModelTimeoutError() | failed.ModelRequestTimeout() | TimeoutError():
            return "timeout", f"{where} did not answer in time; raise EVERWHEN_LLM_TIMEOUT"
        case failed.ModelConnectionError():
            return "unreachable", f"{where} cannot be reached; is the server running?"
        case failed.ModelHTTPError(status_code=status) if _may_pass(error) or status == 429:
            return "busy", f"{where} kept answering with status {status}; try again later"
        case failed.ModelHTTPError(status_code=status):
            inner = error.body.get("error", error.body) if isinstance(error.body, dict) else error.body
            message = inner.get("message", inner) if isinstance(inner, dict) else inner
            return "rejected", f"{where} refused the request (status {status}): {_short(str(message))}"
        case CutOff() | failed.IncompleteToolCall():
            cure = "raise EVERWHEN_LLM_MAX_TOKENS or use smaller batches"
            return "cut off", f"{name} did not finish its answer; {cure}"
        case failed.UnexpectedModelBehavior() if answered:
            return (
                "schema",
                f"{name} did not answer in the asked form, even when asked again; try another model",
            )
        case failed.ModelAPIError() | failed.UnexpectedModelBehavior():
            return "unreachable", f"{where} does not answer as a model server; check the address"
    what = f"{type(error).__name__}: {_short(str(error))}"
    return "unreachable", f"asking {name} failed ({what}); try again later"


def _short(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"


async def structured_answer(
    model: RetryingModel,
    prompt: str,
    schema: type[T],
    instructions: str,
    output: str,
    settings: ModelSettings,
) -> Reply[T]:
    """The answer as an instance of `schema`, held to it in one way; one that does not fit is sent back once."""
    if output == "json":  # some servers insist on the word
        instructions = f"{instructions}\n\nAnswer with one JSON object.".lstrip()
        shape = {"type": "json_object", "schema": TypeAdapter(schema).json_schema()}
        settings["extra_body"] = {"response_format": shape}
    spent, started = RunUsage(), time.perf_counter()
    with capture_run_messages() as messages:
        try:
            result = await _agent(model, schema, output).run(
                prompt,
                instructions=instructions or None,
                usage=spent,
                infer_name=False,
                model_settings=settings,
            )
        except Exception as error:  # whatever it is, it must not stop the caller's work
            if isinstance(error, CutOff):
                spent.requests += 1
                spent.incr(error.response.usage)
                messages.append(error.response)
            answers = [one for one in messages if isinstance(one, ModelResponse)]
            raise model.error(error, _spent(spent, started), _answered(answers[-1:])) from error
    usage = _spent(spent, started)
    return Reply(cast(T, result.output), usage, repaired=usage.requests > 1)


def _agent(model: RetryingModel, schema: type, output: str) -> Agent[object, Any]:
    if (schema, output) not in model.agents:
        wanted: Any = schema
        if schema is not str:
            match output:
                case "native":
                    wanted = NativeOutput(schema)
                case "tool":
                    wanted = ToolOutput(schema)
                case _:  # with `json` the server has the schema: a small model reads better without it
                    wanted = PromptedOutput(schema, template=False if output == "json" else None)
        model.agents[schema, output] = Agent(model, output_type=wanted, retries={"output": 1})
    return model.agents[schema, output]


def _spent(spent: RunUsage, started: float) -> Usage:
    cost = None if spent.cost is None else float(spent.cost)
    return Usage(spent.requests, spent.input_tokens, spent.output_tokens, cost, time.perf_counter() - started)


async def next_message(
    model: RetryingModel,
    dialogue: Sequence[Line],
    tools: Sequence[Tool],
    instructions: str,
    settings: ModelSettings,
    hear: Hear | None,
) -> AssistantMessage:
    """What a model says after all that was said so far."""
    started = time.perf_counter()
    definitions = [
        ToolDefinition(
            name=one.name, description=one.description, parameters_json_schema=dict(one.parameters)
        )
        for one in tools
    ]
    parameters = ModelRequestParameters(function_tools=definitions)
    messages = _messages(dialogue, instructions)
    responses: list[ModelResponse] = []
    try:
        if hear is None:
            asked = model_request(
                model, messages, model_settings=settings, model_request_parameters=parameters
            )
        else:
            asked = model.streamed(messages, settings, parameters, hear)
        responses.append(response := await asked)
        if response.finish_reason == "content_filter":
            said = (response.provider_details or {}).get("refusal", "")
            raise failed.ContentFilterError(f"Content filter triggered. Refusal: {str(said)!r}")
        if response.finish_reason == "length":
            raise CutOff(response)
        if response.state in ("incomplete", "interrupted"):
            raise LLMError("unreachable", "the connection broke off in the middle of an answer; ask again")
    except LLMError:
        raise
    except Exception as error:  # whatever it is, it must not stop the caller's work
        responses = [error.response] if isinstance(error, CutOff) else responses
        spent = _usage(responses[0], started) if responses else Usage()
        raise model.error(error, spent, _answered(responses)) from error
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    usage, words = _usage(response, started), _words(response.parts)
    if not calls and (written := written_calls(words, tools)):
        return AssistantMessage("", written, usage)  # the next request has them as the calls that they are
    return AssistantMessage(words, calls, usage, response)


def _messages(dialogue: Sequence[Line], instructions: str) -> list[ModelMessage]:
    found: list[ModelMessage] = []
    for line in dialogue:
        match line:
            case UserMessage():
                prompt = UserPromptPart(content=line.text)
                found.append(ModelRequest(parts=[prompt], instructions=instructions or None))
            case ToolResults():
                results = [
                    ToolReturnPart(tool_name=one.call.name, content=one.content, tool_call_id=one.call.id)
                    for one in line.results
                ]
                found.append(ModelRequest(parts=results, instructions=instructions or None))
            case AssistantMessage(raw=ModelResponse() as response):
                found.append(response)
            case AssistantMessage():
                parts: list[ModelResponsePart] = [TextPart(content=line.text)] if line.text else []
                parts += [ToolCallPart(call.name, call.arguments, call.id) for call in line.calls]
                found.append(ModelResponse(parts=parts))
    return found


def _words(parts: Sequence[ModelResponsePart]) -> str:
    return "".join(part.content for part in parts if isinstance(part, TextPart))


def _written_arguments(part: ToolCallPart) -> str:
    """As they came: `args_as_json_str` mends what is no JSON."""
    return part.args if isinstance(part.args, str) else part.args_as_json_str()


def _answered(responses: Sequence[ModelResponse]) -> str:
    """The words of an answer, else the arguments of its last call, as far as they came."""
    parts = responses[0].parts if responses else ()
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    return _words(parts) or (_written_arguments(calls[-1]) if calls else "")


def price(model: Model, input_tokens: int, output_tokens: int) -> float | None:
    """Dollars that so many tokens cost; None where nobody has a price."""
    supposed = ModelResponse(
        parts=[],
        usage=RequestUsage(input_tokens=input_tokens, output_tokens=output_tokens),
        model_name=model.model_name,
        provider_name=model.system,
        provider_url=model.base_url,
    )
    return _cost(supposed)


def _usage(response: ModelResponse, started: float) -> Usage:
    used = response.usage
    return Usage(1, used.input_tokens, used.output_tokens, _cost(response), time.perf_counter() - started)


def _cost(response: ModelResponse) -> float | None:
    if response.usage.cost is not None:
        return float(response.usage.cost)
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None


_AROUND_CALLS = re.compile(
    r"```(?:json|tool_call|xml)?|</?(?:tool_calls?|function_calls?|tools)>|[\s,\[\]]+", re.IGNORECASE
)
"""What may stand before, between and behind the calls: fences, tags, the marks of a list."""


def written_calls(text: str, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """The calls of a text that is nothing but calls of these tools; none for any other text, which is then what the
    model said. A call is an object with the tool's name and its arguments, or arguments that fit one tool alone."""
    calls: list[ToolCall] = []
    decoder = json.JSONDecoder()
    place = 0
    while True:
        while around := _AROUND_CALLS.match(text, place):
            place = around.end()
        if place == len(text):
            return tuple(calls)
        try:
            value, place = decoder.raw_decode(text, place)
            call = _written_call(value, tools)
        except (ValueError, RecursionError):
            return ()
        if call is None:
            return ()
        calls.append(call)


def _written_call(value: Any, tools: Sequence[Tool]) -> ToolCall | None:
    if not isinstance(value, Mapping):
        return None
    if isinstance(inner := value.get("function"), Mapping):  # as OpenAI has it in a message
        value = inner
    arguments = value.get("arguments", value.get("parameters"))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = None
    names = [tool.name for tool in tools if tool.name == value.get("name")]
    if not names or not isinstance(arguments, Mapping):
        arguments, names = value, [tool.name for tool in tools if _fits(value, tool)]
        if len(names) != 1:
            return None
    return ToolCall(f"written_{uuid4().hex[:16]}", names[0], json.dumps(arguments))


def _fits(value: Mapping[str, Any], tool: Tool) -> bool:
    possible = set(tool.parameters.get("properties", ()))
    needed = set(tool.parameters.get("required", ()))
    return bool(needed) and needed <= set(value) <= possible
