"""Questions: memories, answers in words, and answers about time."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from everwhen.api.operations.base import (
    WHOLE,
    AnyMetadata,
    AskedAt,
    AtMost,
    BothTimes,
    Budget,
    CommandLine,
    Fraction,
    Kinds,
    Label,
    Limit,
    Model,
    Moment,
    Networks,
    OneOf,
    Operation,
    RecipeField,
    Spec,
    Stretch,
    Text,
    Texts,
    Tokens,
    operation,
)
from everwhen.settings import CONTEXT_TOKENS, MAX_TOKENS
from everwhen.types import (
    Accessed,
    Answer,
    Comparison,
    Context,
    Entry,
    ListWithPending,
    Recall,
    TimeAnswer,
    Usage,
)
from everwhen.types.answers import AgentRecipe
from everwhen.types.recall import Recipe
from everwhen_time import Grain

ORDERS = ("relevance", "time", "level")


@operation
class RecallMemories(BothTimes, Operation[Recall]):
    """The memories that answer a question, inside `max_tokens`, each with the reason for it.

    Only messages that fit come back: `between`, `before`, `after` and `as_of` say when they were said, `known_at`
    by when they were added. To see what could be known on a day, take `known_at` in a live conversation, and
    `as_of` in imported history. Facts are shown as they hold at `at`, at `as_of` (with what was said later about
    that day), or anywhere in `between`; `known_at` shows them as they were believed then. `min_confidence` leaves
    out those that have faded, and `metadata={"domain": …}` chooses some of them, `{"valid_to": None}` the current.
    `budget` (low, mid, high or a number) is how many candidates each channel brings; a `recipe` says that
    and all else itself. `top_k` is how many memories come back at the most, the best ones. `seek` looks for the
    candidates with words of its own; the query then only ranks them.
    """

    spec = Spec("POST /recall", runs="quick")
    query: Annotated[
        Text, Field(description="A question or what to look for.", examples=["Where does Ana live?"])
    ]
    _: KW_ONLY
    seek: Annotated[
        Text | None, Field(description="Words that find the candidates; the query then only ranks them.")
    ] = None
    budget: Annotated[Budget, Field(description="How widely to search: low is fast, high finds more.")] = (
        "mid"
    )
    max_tokens: Annotated[Tokens, Field(description="What the answer may take.")] = MAX_TOKENS
    top_k: Annotated[
        Annotated[int, Ge(1), AtMost(10_000), WHOLE] | None,
        Field(description="Memories at the most, the best ones."),
        CommandLine("--limit", "--top-k", "-n"),
    ] = None
    at: AskedAt = None
    between: Annotated[Stretch | None, Field(description="When it was said.")] = None
    before: Annotated[Moment | None, Field(description="Only what was said before.")] = None
    after: Annotated[Moment | None, Field(description="Only what was said at or after.")] = None
    kinds: Annotated[
        Kinds | None,
        Field(
            description="turn: words as said; event: who did what, when; narrative: what a talk was about; "
            "fact: what is true; node: summary of a time. Default turn, fact."
        ),
    ] = None
    networks: Annotated[
        Networks | None,
        Field(
            description="world: people and things; experience: what the assistant did or said; "
            "opinion: what somebody believes. Default all."
        ),
    ] = None
    metadata: Annotated[AnyMetadata | None, Field(description="Only what has these entries.")] = None
    min_confidence: Annotated[Fraction | None, Field(description="Of facts.")] = None
    order: Annotated[str, OneOf(ORDERS), Field(description="The order of the memories.")] = "relevance"
    recipe: Annotated[Recipe | None, RecipeField("recall"), Field(description="In place of a budget.")] = None
    fresh: Annotated[bool, Field(description="Wait until all that was added is read.")] = False


@operation
class PromptContext(BothTimes, Operation[Context]):
    """What a prompt gets of the memory: a stable part that does not depend on the query, and what is recalled for it.

    The stable part is what was known when the day began, in the bank's zone: it changes at most once a day, so that
    a provider's prompt cache keeps hitting. It has at most half of `max_tokens`.

    `stable_at` takes another moment. With that of the first answer in a conversation, the stable part stays the same
    for days; what has changed since then stands in the fresh part. Where that is too much, the stable part is made
    anew, and the answer's `stable_at` says so. `shown` are texts that the model sees anyway: what was said in these
    very words is not recalled.
    """

    spec = Spec("POST /context", runs="quick")
    query: Annotated[
        Text, Field(description="What the user said last.", examples=["Where shall we eat tonight?"])
    ]
    _: KW_ONLY
    max_tokens: Annotated[Tokens, Field(description="What both parts may take.")] = CONTEXT_TOKENS
    at: AskedAt = None
    stable_at: Annotated[
        Moment | None, Field(description="What the stable part knows of [all before the day of asking].")
    ] = None
    shown: Annotated[Texts, Field(description="Texts that the model sees anyway.")] = ()
    budget: Annotated[Budget, Field(description="How widely to search: low is fast, high finds more.")] = (
        "mid"
    )


@operation
class MostAccessed(Operation[list[Accessed]]):
    """The memories that recall gave back most often, in all processes, those first."""

    spec = Spec("GET /accessed", runs="quick")
    limit: Limit = 20


@operation
class Ask(BothTimes, Operation[Answer]):
    """The answer to a question with the turns that bear it out, or an honest "I don't know".

    `at` is the moment of asking (now), `as_of` bounds what had been said by then. `model` (such as
    `openai:gpt-5-mini`) answers with tools over this bank; without one, and without the setting `llm`, the answer
    is extractive: words, dates and counts of the memory itself. `model="none"` is extractive whatever is set.
    `recipe` leaves out stages of a model's answer; `session` is the conversation that the question belongs to,
    the last turns of which a model is shown.
    """

    spec = Spec("POST /ask")
    question: Annotated[Text, Field(description="The question.", examples=["When did Ana move to Porto?"])]
    _: KW_ONLY
    at: AskedAt = None
    model: Annotated[
        Model | None,
        Field(
            description="openai:…, anthropic:…, google:…, ollama:… or `none`. Left out: the setting `llm`.",
            examples=["none"],
        ),
    ] = None
    recipe: Annotated[
        AgentRecipe | None, RecipeField("answer"), Field(description="Stages of a model's answer.")
    ] = None
    session: Annotated[Label | None, Field(description="The conversation that the question belongs to.")] = (
        None
    )


@operation
class ModelUsage(Operation[Usage]):
    """What language models took in this bank so far, extraction included; of money, what is known."""

    spec = Spec("GET /usage", runs="quick")


GRAINS: tuple[Grain, ...] = ("day", "week", "month", "year")


@operation
class When(BothTimes, Operation[TimeAnswer | None]):
    """When something happened, holds or is planned: the interval that the memory's words mean, how sure it is
    and the sentences that say so. None where the memory does not tell.

    `query` is a question ("when did Ana move") or names the event ("Ana's move to Porto"). It may ask for the
    first or last time, for a unit ("in which month"), since when, or lean on another event ("the week after my
    vacation"). `between` keeps answers that may lie in it; `as_of` leaves out what was said later, `known_at` what
    was recorded later. A duration asked for ("how long after …") is what `compare` computes.
    """

    spec = Spec("POST /when")
    query: Annotated[
        Text, Field(description="A question, or the event itself.", examples=["When did Ana move to Porto?"])
    ]
    _: KW_ONLY
    at: AskedAt = None
    between: Stretch | None = None


@operation
class Compare(BothTimes, Operation[Comparison]):
    """Which of two events came first and how many days lie between them, as exactly as their dates allow.

    `as_of` leaves out what was said later, `known_at` what was recorded later.
    """

    spec = Spec("POST /compare")
    a: Annotated[Text, Field(description="One event.", examples=["Ana's move to Porto"])]
    b: Annotated[Text, Field(description="The other one.", examples=["Ana's new job"])]
    _: KW_ONLY
    at: AskedAt = None


@operation
class Timeline(BothTimes, Operation[ListWithPending[Entry]]):
    """What happened, what began or ended to be true, and the conversations, in the order of time.

    An event that was mentioned twice comes once. `about` keeps what words or meaning connect with it, `between` what
    may lie in it; `grain` (day, week, month or year) puts entries under units of time. What was planned or only
    supposed says so; what did not happen is left out, unless `negated` asks for it. With `as_of`, only what had been
    said by then, with `known_at`, only what the memory held then; of plans and facts that changed, the version of then.
    """

    spec = Spec("POST /timeline", paged=True)
    about: Annotated[Text | None, Field(description="Only what is about this.", examples=["Porto"])] = None
    between: Stretch | None = None
    grain: Annotated[
        Annotated[Grain, OneOf(GRAINS)] | None,
        Field(description="Headings for units of time."),
        CommandLine(positional=False),
    ] = None
    _: KW_ONLY
    negated: Annotated[bool, Field(description="Also what did not happen.")] = False
