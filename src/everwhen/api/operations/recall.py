"""The memories that answer a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Annotated, Any

from everwhen.api.operations.arguments import (
    AsOfTime,
    Budget,
    Choice,
    Choices,
    Flag,
    Fraction,
    Help,
    KnownAtTime,
    Metadata,
    Moment,
    Recipes,
    Stretch,
    Text,
    Texts,
    Whole,
)  # fmt: skip
from everwhen.api.operations.base import Operation, Spec
from everwhen.api.operations.frozen import frozen
from everwhen.settings import CONTEXT_TOKENS, MAX_TOKENS
from everwhen.types import KINDS, NETWORKS, Accessed, Between, Context, Recall, Time
from everwhen.types.recipes import Recipe

ORDERS = ("relevance", "time", "level")


@frozen
class RecallMemories(Operation[Recall]):
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
    query: Annotated[str, Text(), Help("A question or what to look for.", "Where does Ana live?")]
    _: KW_ONLY
    seek: Annotated[
        str | None,
        Text("words to look for"),
        Help("Words that find the candidates; the query then only ranks them."),
    ] = None
    budget: Annotated[str | int, Budget(), Help("How widely to search: low is fast, high finds more.")] = (
        "mid"
    )
    max_tokens: Annotated[int, Whole(least=1, most=1_000_000), Help("What the answer may take.")] = MAX_TOKENS
    top_k: Annotated[int | None, Whole(least=1, most=10_000), Help("Memories at the most.")] = None
    at: Annotated[Time | None, Moment(), Help("The moment of asking.")] = None
    between: Annotated[Between | None, Stretch(), Help("When it was said.")] = None
    before: Annotated[Time | None, Moment()] = None
    after: Annotated[Time | None, Moment()] = None
    as_of: AsOfTime = None
    known_at: KnownAtTime = None
    kinds: Annotated[
        Sequence[str] | None,
        Choices(among=KINDS),
        Help(
            "turn: words as said; event: who did what, when; narrative: what a talk was about; fact: what is true; "
            "node: summary of a time. Default turn, fact."
        ),
    ] = None
    networks: Annotated[
        Sequence[str] | None,
        Choices(among=NETWORKS),
        Help(
            "world: people and things; experience: what the assistant did or said; opinion: what somebody believes. "
            "Default all."
        ),
    ] = None
    metadata: Annotated[Mapping[str, Any] | None, Metadata()] = None
    min_confidence: Annotated[float | None, Fraction(), Help("Of facts.")] = None
    order: Annotated[str, Choice(among=ORDERS)] = "relevance"
    recipe: Annotated[Recipe | None, Recipes("recipe")] = None
    fresh: Annotated[bool, Flag(), Help("Wait until all that was added is read.")] = False


@frozen
class PromptContext(Operation[Context]):
    """What a prompt gets of the memory: a stable part that does not depend on the query, and what is recalled for it.

    The stable part is what was known when the day began, in the bank's zone: it changes at most once a day, so that
    a provider's prompt cache keeps hitting. It has at most half of `max_tokens`.

    `stable_at` takes another moment. With that of the first answer in a conversation, the stable part stays the same
    for days; what has changed since then is told in the fresh part. Where that is too much, the stable part is made
    anew, and the answer's `stable_at` says so. `shown` are texts that the model sees anyway: what was said in these
    very words is not recalled.
    """

    spec = Spec("POST /context", runs="quick")
    query: Annotated[str, Text(), Help("What the user said last.", "Where shall we eat tonight?")]
    _: KW_ONLY
    max_tokens: Annotated[int, Whole(least=1, most=1_000_000), Help("What both parts may take.")] = (
        CONTEXT_TOKENS
    )
    at: Annotated[Time | None, Moment(), Help("The moment of asking.")] = None
    stable_at: Annotated[
        Time | None, Moment(), Help("What the stable part knows of [all before the day of asking].")
    ] = None
    shown: Annotated[Sequence[str], Texts(), Help("Texts that the model sees anyway.")] = ()
    budget: Annotated[str | int, Budget(), Help("How widely to search: low is fast, high finds more.")] = (
        "mid"
    )


@frozen
class MostAccessed(Operation[list[Accessed]]):
    """The memories that recall gave back most often, in all processes, those first."""

    spec = Spec("GET /accessed", runs="quick")
    limit: Annotated[int, Whole(least=1, most=1000)] = 20
