"""What requests look like: the arguments of `Memory`, checked. Answers are the library's own types.

Strict: a number is no text, an unknown field is a mistake that is named. What a schema cannot say (an interval that
ends before it starts, a zone that does not exist) the library says, with the same status.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
)

from everwhen.agent_recipe import TOOLS, AgentRecipe
from everwhen.operations.facts import MOST_SYNONYMS
from everwhen.recall import Recipe
from everwhen.recall.grep import LONGEST_PATTERN
from everwhen.settings import MAX_TOKENS
from everwhen.times import LONGEST_TIME, read
from everwhen.types import Between, HalfLives, Stats
from everwhen.when.interval import Grain

LONGEST_QUERY = 100_000
"""Characters of a question, a topic or an expression; the model reads the first few hundred words of one anyway."""
LONGEST_NAME = 512
MOST_MESSAGES = 10_000
"""Messages in one request, and ids of turns: each is embedded, or looked up, before the answer is given."""
MOST_NAMES = 1000
"""Names in a list."""


def _understood(given: str) -> str:
    """Refuse what is no time before anything is opened; the bank, whose zone counts, reads it."""
    read(given, datetime.now(UTC))
    return given


def _understood_or_end(given: str) -> str:
    return given if given == "end" else _understood(given)


def _said(given: str) -> str:
    if not given.strip():
        raise ValueError("this is empty; write something, or leave it out")
    return given


def _whole(given: Any) -> Any:
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _few(given: Any) -> Any:
    """Before any of them is looked at: a request has room for two million."""
    if isinstance(given, list) and len(given) > MOST_MESSAGES:
        raise ValueError(
            f"{len(given):,} messages are too many for one request; send at most {MOST_MESSAGES:,}"
        )
    return given


_TIME = {
    "type": "string",
    "format": "date-time-or-expression",
    "maxLength": LONGEST_TIME,
    "description": "ISO 8601 or an expression; without an offset it is local time of the bank's zone.",
    "examples": ["2025-03-14T09:26:00Z", "2025-03-14", "last Friday"],
}
Time = Annotated[str, AfterValidator(_understood), WithJsonSchema(_TIME)]
TimeOrEnd = Annotated[str, AfterValidator(_understood_or_end), WithJsonSchema(_TIME)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_QUERY), AfterValidator(_said)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME), AfterValidator(_said)]
Whole = Annotated[int, BeforeValidator(_whole)]
"""JSON has no whole numbers: 5.0 is 5."""
Thousand = Annotated[int, Field(ge=1, le=1000), BeforeValidator(_whole)]
"""For unions: bounds that are given outside of one are not in its description."""
Share = Annotated[float, Field(ge=0, le=1)]


class Body(BaseModel):
    """A request: nothing that is not asked for, nothing turned into something else."""

    model_config = ConfigDict(extra="forbid", strict=True)


class IntervalIn(Body):
    """A stretch of time; a side that is null is open. A day or an expression is included, an instant ends it."""

    start: Time | None = None
    end: Time | None = None
    grain: Grain = "second"


def _shape(given: Any) -> str | None:
    shapes: tuple[tuple[type, str], ...] = (
        (str, "time"),
        (list, "times"),
        (dict, "interval"),
        (IntervalIn, "interval"),
    )
    return next((name for kind, name in shapes if isinstance(given, kind)), None)


BetweenIn = Annotated[
    Annotated[Time, Tag("time")]
    | Annotated[list[Time | None], Field(min_length=1, max_length=2), Tag("times")]
    | Annotated[IntervalIn, Tag("interval")],
    Discriminator(
        _shape,
        custom_error_type="between",
        custom_error_message="a stretch of time is text ('last week'), a list of two times, or {start, end}",
    ),
]


def window(given: str | list[str | None] | IntervalIn | None) -> Between | None:
    return (given.start, given.end) if isinstance(given, IntervalIn) else given


class MessageIn(BaseModel):
    """One message. Fields of other systems may stand in it, and are left alone."""

    model_config = ConfigDict(extra="allow", strict=True)

    content: str | list[Any] | None = Field(None, examples=["I moved to Porto last week"])
    role: str | None = Field(None, examples=["user"])
    name: str | int | None = Field(None, examples=["Ana"])
    timestamp: str | int | float | None = Field(None, examples=["2025-03-10T09:30:00Z"])
    zone: str | None = Field(None, examples=["Europe/Lisbon", "+05:30"])
    id: str | int | None = None
    session: str | int | None = None
    metadata: dict[str, Any] | None = None
    media: Any = None

    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


Said = str | MessageIn


class TurnsIn(Body):
    messages: Annotated[Said | list[Said], BeforeValidator(_few)] = Field(
        examples=[[{"role": "user", "name": "Ana", "content": "I moved to Porto last week"}]]
    )
    session: Name | None = None
    at: Time | None = None
    zone: Name | None = None
    metadata: dict[str, Any] | None = None

    def listed(self) -> list[str | dict[str, Any]]:
        several = self.messages if isinstance(self.messages, list) else [self.messages]
        return [one if isinstance(one, str) else one.given() for one in several]


Channel = Literal["semantic", "keyword", "graph", "temporal"]


class RecipeIn(Body):
    """How a recall is put together; what is left out is as in the default recipe."""

    name: Annotated[str, StringConstraints(max_length=100)] = "mid"
    candidates: Whole = Field(100, ge=1, le=1000)
    channels: list[Channel] = Field(["semantic", "keyword", "temporal"], max_length=4)
    min_similarity: float = Field(0.2, ge=-1, le=1)
    fusion: Literal["linear", "rrf", "lambda"] = "linear"
    rrf_k: Whole = Field(10, ge=0, le=1000)
    rerank: bool = True
    rerank_weight: float = Field(1.0, ge=0, le=100)
    read: Whole = Field(4, ge=0, le=100)
    context: bool = True
    speaker: bool = True
    latest: bool = True
    satf: bool = False
    satf_anchors: Whole = Field(30, ge=1, le=1000)
    satf_sigma: Annotated[float, Field(ge=0.001, le=100_000)] | Literal["adaptive"] = 15.0
    satf_alpha: float = Field(10.0, ge=0, le=1000)
    satf_gamma: float = Field(0.0, ge=0, le=1)
    expand: Whole = Field(0, ge=0, le=20)
    tree: bool = False
    scope: Literal["simple", "hybrid", "complex"] | None = None
    gate: Literal["none", "careful", "strict"] = "none"
    facts: bool = True
    dates: bool = True
    graph_seeds: Whole = Field(5, ge=0, le=1000)
    graph_seed_similarity: float = Field(0.74, ge=-1, le=1)
    graph_similarity: float = Field(0.64, ge=-1, le=1)
    graph_decay: Share = 0.8
    graph_stop: Share = 0.1
    graph_share: Whole = Field(4, ge=1, le=1000)
    graph_cosine: bool = True
    min_edge: Share = 0.1
    entity_fan_out: Whole = Field(25, ge=0, le=1000)
    temporal_similarity: float = Field(0.6, ge=-1, le=1)
    temporal_decay: Share = 0.7

    def recipe(self) -> Recipe:
        return Recipe(**{**self.model_dump(), "channels": tuple(self.channels)})


Stage = Literal[
    "semantic", "keyword", "graph", "temporal",
    "fusion", "rerank", "read", "latest", "satf", "tree", "expand", "gate", "facts", "dates", "context",
    "speaker",
]  # fmt: skip


class RecallIn(Body):
    query: Words = Field(examples=["Where does Ana live?"])
    seek: Words | None = Field(None, description="Looks with words of its own; the query then only ranks.")
    budget: Literal["low", "mid", "high"] | Thousand = "mid"
    max_tokens: Whole = Field(MAX_TOKENS, ge=1, le=1_000_000)
    at: Time | None = None
    between: BetweenIn | None = None
    before: Time | None = None
    after: Time | None = None
    as_of: Time | None = None
    known_at: Time | None = None
    kinds: list[Literal["turn", "event", "narrative", "fact", "node"]] | None = Field(None, max_length=5)
    networks: list[Literal["world", "experience", "opinion"]] | None = Field(None, max_length=3)
    metadata: dict[str, Any] | None = None
    min_confidence: Share | None = None
    order: Literal["relevance", "time", "level"] = "relevance"
    include_metadata: bool = Field(
        False, description="Give each memory's metadata too; `max_tokens` does not count it."
    )
    recipe: RecipeIn | None = None
    without: list[Stage] = Field([], max_length=16, description="Stages to leave out, such as `rerank`.")
    fresh: bool = False


class WhenIn(Body):
    query: Words = Field(examples=["When did Ana move to Porto?"])
    at: Time | None = None
    between: BetweenIn | None = None
    as_of: Time | None = None


class CompareIn(Body):
    a: Words = Field(examples=["Ana's move to Porto"])
    b: Words = Field(examples=["Ana's new job"])
    at: Time | None = None


class TimelineIn(Body):
    about: Words | None = Field(None, examples=["Porto"])
    between: BetweenIn | None = None
    grain: Literal["day", "week", "month", "year"] | None = None
    negated: bool = False
    known_at: Time | None = None
    cursor: Annotated[str, StringConstraints(max_length=1000)] | None = None
    limit: Thousand | None = None


class GrepIn(Body):
    pattern: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PATTERN)] = Field(
        examples=["Porto"]
    )
    calendar: Literal["turns", "events"] = "turns"
    regex: bool = False
    between: BetweenIn | None = None
    limit: Whole = Field(50, ge=1, le=1000)


AgentTool = Literal[
    "search_turns", "search_events", "grep_turns", "grep_events", "facts_current", "facts_history", "timeline",
    "date_math",
]  # fmt: skip


class AgentRecipeIn(Body):
    """How an answer is put together; what is left out is as in the full recipe."""

    name: Annotated[str, StringConstraints(max_length=100)] = "full"
    guidance: bool = True
    retrieval: bool = True
    rerank: bool = True
    dates: bool = True
    tools: list[AgentTool] = Field(list(TOOLS), max_length=8)  # type: ignore[arg-type]  # the same names, as one type
    candidates: Whole = Field(100, ge=1, le=1000)
    kept: Whole = Field(15, ge=1, le=200)
    around: Whole = Field(1, ge=0, le=10)

    def recipe(self) -> AgentRecipe:
        return AgentRecipe(**{**self.model_dump(), "tools": tuple(self.tools)})


class AskIn(Body):
    question: Words = Field(examples=["When did Ana move to Porto?"])
    at: Time | None = None
    as_of: Time | None = None
    model: Name | None = Field(
        None, examples=["none"], description="`none`, or the server's own when left out."
    )
    recipe: AgentRecipeIn | None = None
    session: Name | None = None

    def chosen(self) -> dict[str, Any]:
        recipe = self.recipe.recipe() if self.recipe else None
        return {
            "at": self.at,
            "as_of": self.as_of,
            "model": self.model,
            "recipe": recipe,
            "session": self.session,
        }


class AssertIn(Body):
    subject: Name = Field(examples=["Ana"])
    predicate: Name = Field(examples=["lives in"])
    object: Words = Field(examples=["Porto"])
    valid_from: Time | None = None
    valid_to: Time | None = None
    confidence: Share = 1.0
    domain: Name | None = None
    source: Name | list[Name] | None = None
    origin: Literal["observation", "user", "inference"] = "observation"
    at: Time | None = None


class CorrectIn(Body):
    subject: Name = Field(examples=["Ana"])
    predicate: Name = Field(examples=["lives in"])
    object: Words = Field(examples=["Lisbon"])
    valid_from: Time | None = None
    at: Time | None = None


class EndIn(Body):
    subject: Name = Field(examples=["Ana"])
    predicate: Name = Field(examples=["lives in"])
    on: Time
    at: Time | None = None


class RetractIn(Body):
    reason: Words = Field(examples=["It was a joke"])
    at: Time | None = None


class AtIn(Body):
    at: Time | None = None


class ReportIn(Body):
    kind: Literal["missing", "change"]
    ref: Name = Field(examples=["the billing service"])
    at: Time | None = None


class ResolveIn(Body):
    keep: Name = Field(examples=["neither"], description="The id or object of one side, or `neither`.")
    at: Time | None = None


class PredicateIn(Body):
    name: Name = Field(examples=["drives"])
    multi: bool = False
    synonyms: list[Name] = Field([], max_length=MOST_SYNONYMS)
    domain: Name | None = None
    at: Time | None = None


class HalfLifeIn(Body):
    domain: Name | None = Field(None, examples=["tech_preference"], description="Null: all that have none.")
    days: float = Field(gt=0, le=10_000_000)


class MergeIn(Body):
    a: Name = Field(examples=["Ana"], description="Keeps its name.")
    b: Name = Field(examples=["Anna"])


class SplitIn(Body):
    names: list[Name] = Field(min_length=1, max_length=MOST_NAMES, examples=[["Annie"]])
    type: Name | None = None


class RenameIn(Body):
    new: Name = Field(examples=["Ana Sousa"])


class BankIn(Body):
    """What can be set of a bank; what is left out stays."""

    zone: Name | None = Field(None, examples=["Europe/Lisbon"])
    half_lives: dict[Name, Annotated[float, Field(gt=0, le=10_000_000)]] | None = Field(
        None, max_length=MOST_NAMES
    )
    half_life: float | None = Field(None, gt=0, le=10_000_000)
    retention: Annotated[str, StringConstraints(max_length=1000)] | None = Field(
        None,
        examples=["keep raw turns 90 days, summaries for ever"],
        description="How long what is kept once `/retain` is called; empty for ever.",
    )


class ReextractIn(Body):
    turns: list[Name] | None = Field(None, max_length=MOST_MESSAGES)


class DoctorIn(Body):
    fix: bool = False


class ForgetIn(Body):
    """What to forget. Several of them together mean what each of them says, not what they share."""

    turns: list[Name] | None = Field(None, max_length=MOST_MESSAGES)
    session: Name | None = Field(None, examples=["s1"])
    entity: Name | None = Field(None, examples=["Ana"], description="Everything about somebody or something.")
    between: BetweenIn | None = Field(None, description="What was said in a while.")
    everything: bool = Field(False, description="All of it; needs the scope admin.")
    dry_run: bool = Field(False, description="Only say what would go.")

    def chosen(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "session": self.session,
            "entity": self.entity,
            "between": window(self.between),
            "everything": self.everything,
            "dry_run": self.dry_run,
        }


class RetainIn(Body):
    now: Time | None = Field(None, description="Ages are counted from here.")
    dry_run: bool = Field(False, description="Only say what would go.")


class ConsolidateIn(Body):
    now: TimeOrEnd | None = Field(
        None, description="Windows before it are closed; `end` takes the open ones too."
    )


class ExportIn(Body):
    vectors: bool = Field(True, description="Without them it is far smaller, and importing it embeds again.")


class BankName(BaseModel):
    """A bank in the list of banks."""

    name: str
    bytes: int


class BankOut(BaseModel):
    """A bank: its settings and what it holds."""

    name: str
    zone: str
    half_lives: HalfLives
    retention: str
    stats: Stats


class Count(BaseModel):
    """How many."""

    count: int


class Imported(BaseModel):
    """How much of an export has come, and once it is all there and in the bank, how many rows."""

    received: int
    source: str | None = None
    """SHA-256 of its first line, which names the export."""
    rows: int | None = None


class Undone(BaseModel):
    """What was taken back; null where there was nothing."""

    action: str | None
