"""Every default number, written once, with its source; read from `EVERWHEN_*` when one is set.

`Settings` is a plain dataclass so that a cold command does not pay 0.2 s for pydantic-settings when nothing
is configured; as soon as an environment variable or an argument sets something, pydantic-settings reads and
checks it.

TEMPR, SATF and TiMem are systems of the source documents: docs/five-documents.md.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_type_hints

from everwhen.errors import UsageError

PREFIX = "EVERWHEN_"
_COSINES = (
    "min_similarity", "about_similarity", "graph_seed_similarity", "graph_similarity", "temporal_similarity",
    "link_similarity",
)  # fmt: skip
_LEAST: Mapping[str, float] = {
    "batch": 1, "context_chars": 0, "cache_entries": 0, "echo_words": 0, "rrf_k": 0, "busy_seconds": 0,
    "wait_seconds": 0, "graph_seeds": 0, "entity_fan_out": 0, "satf_anchors": 1, "satf_alpha": 0,
    "llm_temperature": 0, "consolidation_temperature": 0, "ask_steps": 1, "ask_seconds": 0.001, "read": 0,
    "rerank_weight": 0, "rerank_timeout": 0.001, "tree_history": 0, "stale_scan_seconds": 0, "tree_leaves": 1,
    "prompt_seconds": 0.02,
}  # fmt: skip
_SHARES = ("graph_decay", "graph_stop", "min_edge", "temporal_decay", "satf_gamma", "tree_lambda")

_WITHOUT_MODEL = {"extract": ("rules", "none"), "consolidate": ("extractive",)}
LevelBudgets: TypeAlias = tuple[int, int, int, int]
CONTEXT_TOKENS = 1024
"""What a prompt gets (`memory.context`) where nobody says otherwise: both parts together, each at most half."""
MAX_TOKENS = 4096
"""What the answer of a recall may take where nobody says otherwise, at every door."""
SATF_DAYS = 15.0
"""SATF's bandwidth in days (the paper's), and the widest of those that fit the dates."""
ECHO_WORDS = 6
"""Words in a row that make a repetition where nobody says otherwise: `write/extract/llm_findings.py` takes as many."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be set for a bank: by argument of `Memory.open`, else by `EVERWHEN_<NAME>`, else as here."""

    home: Path | None = None
    """The folder that holds the banks; None is the platform's data folder."""
    store: str | None = None
    """A PostgreSQL database that holds the banks instead, `postgresql://USER@HOST/NAME`."""
    embedder: str | None = None
    """The embedding model: `conversation-1`, `fastembed:<model>`, `openai:<model>`, `sentence-transformers:<model>` or
    `fake`. None: each bank keeps its own, and a new one gets `conversation-1`. A bank of another model does not open
    until `everwhen bank reembed`."""
    zone: str = "UTC"
    """IANA zone of text that comes without one."""

    redact: str = ""
    """What is masked before anything is stored: some of `email, phone, card, token`, or `all`. Given as an argument,
    the bank remembers it, for every process; `none` there overrules the environment."""

    # Ingest
    extract: str = "rules"
    """What turns messages into events, entities and facts after they are durable: `rules`, `llm:<model>` or
    `none`."""
    wait_seconds: float = 20.0
    """How long a read waits for the extraction of what was added before it; then it answers with what is there, and
    its result's `pending` says how many turns are missing."""
    batch: int = 256
    """Messages embedded and committed together by `add_many`."""
    echo_words: int = ECHO_WORDS
    """Words in a row that an assistant or a tool repeats of a memory that was just given back, from which on they are
    an echo and not remembered again (`write/foreign_text.py`); at least 4, and 0 lets everything through."""
    context_chars: int = 240
    """How much of the turn before is searched with a turn; 0 leaves it out. Tuned on LoCoMo dev."""
    date_in_embedding: bool = False
    """Write the date into embedded text, as TEMPR does; SATF found that it hurts, so it is off."""
    link_similarity: float | None = None
    """The cosine above which two memories are linked in meaning; None is what fits the embedder: 0.92 with
    `conversation-1`, and TEMPR's 0.7 with any other."""
    cache_entries: int = 300_000
    """Size of the embedding cache, about 1.6 kB an entry and 1.4 kB more with token vectors, which every second
    one has (0.7 gigabytes when full); 0 switches it off."""

    # Language model
    llm: str | None = None
    """The model that `ask` answers with, such as `openai:<model>`; None answers without one, in the memory's words."""
    llm_guidance: str | None = None
    """A cheaper model that says what to look for before `llm` looks (Chronos: a small one is enough); None is `llm`."""
    llm_base_url: str | None = None
    """A server that speaks the protocol of the LLM's provider; None is the provider's own address."""
    llm_output: Literal["auto", "native", "json", "tool", "prompted"] = "auto"
    """What holds an answer to its form; `auto` takes the strictest that the server does not refuse."""
    llm_timeout: float = 120.0
    """Seconds that one attempt at an answer may take."""
    llm_concurrency: int = 4
    """Questions that are answered at a time."""
    llm_attempts: int = 4
    """How often a question is sent while the server is busy, failing or silent."""
    llm_max_tokens: int = 8192
    """The longest answer."""
    llm_temperature: float = 0.0
    """Of answers and extraction (Chronos: 0)."""
    consolidation_temperature: float = 0.7
    """Of summaries (TiMem: 0.7)."""
    ask_steps: int = 8
    """Requests that one question may take, guidance left out: the last one has to answer."""
    ask_tokens: int | None = 100_000
    """Tokens, read and written, that one question may take."""
    ask_seconds: float = 180.0
    """Seconds that one question may take."""
    ask_cost: float | None = None
    """Dollars that one question may take; None sets no bound. A model without a known price is then refused."""
    bank_tokens: int | None = None
    """Tokens that models may take in a bank, ever, extraction counted; then `ask` stops (`memory.usage()`)."""
    bank_cost: float | None = None
    """The same in dollars."""

    # Recall
    candidates: Mapping[str, int] = field(default_factory=lambda: {"low": 30, "mid": 60, "high": 300})
    """Candidates a channel brings for each thinking budget. TEMPR has 100 in the middle; 60 find as much and are faster
    (docs/retrieval.md)."""
    min_similarity: float = 0.2
    """The semantic channel's floor, a cosine. Cosines differ from model to model: those of `conversation-1` lie around
    0.54 between a question and any turn (0.16 with MiniLM), and TEMPR's 0.3 is for a third one. What is worth showing
    the fusion decides, and whether there is an answer at all is `answerable`."""
    about_similarity: float = 0.67
    """The cosine from which an event is about a topic (`events(about=…)`)."""
    count_access: bool = True
    """Keep count of what recall gives back (`memory.accessed()`); written in batches, behind the reads. A count only:
    no recipe ranks by it, unlike TEMPR."""
    fusion: Literal["linear", "rrf", "lambda"] = "linear"
    """What orders the candidates: fitted weights, reciprocal ranks (TEMPR), or meaning and keywords (TiMem's eq. 7)."""
    rrf_k: int = 10
    """Reciprocal rank fusion's constant. TEMPR has 60; tuned on LoCoMo dev (recall@10 0.72 against 0.67)."""

    recall_llm: str | None = None
    """A language model (`llm:<model>`) that, where there is a gate or the tree takes part, reads how much a question
    needs, and where there is a gate decides what helps; None is the rules."""
    time_by_llm: bool = False
    """That model also reads which time a question is about (TEMPR; the recipe `TEMPR` has it); else rules do."""
    gate: Literal["none", "careful", "strict"] = "none"
    """What recall leaves out because it hardly helps; docs/tree.md says what each does."""
    tree_recall: bool = False
    """Recall takes nodes of the memory tree along (hierarchical recall)."""
    show_dates: bool = True
    """Prompts have the dates behind the relative times of a turn, "last week (3 to 9 March 2025)", and recalled turns
    have `occurred`."""

    # Rerank
    reranker: str = "maxsim"
    """What compares a question with a memory word by word: `maxsim`, `fastembed:<cross-encoder>`,
    `http:<address>#<model>` or `none`. `Memory.open` also takes an object of yours."""
    rerank_weight: float = 1.0
    """What a cross-encoder's standardised score weighs, beside the `plain` weights. Not fitted: none can be run
    offline."""
    rerank_timeout: float = 10.0
    """Seconds that one attempt at a server's scores may take (`http:` rerankers)."""

    reader: Literal["reader-2", "none"] = "reader-2"
    """What reads the first candidates beside the question; `none` leaves them as they were found."""
    read: int = 3
    """How many of them. More is slower and better (benchmarks/history/models.md)."""

    # Graph
    graph_recall: bool = False
    """Recall searches the graph too, as a fourth channel (the recipe `FOUR_WAY`)."""
    graph_seeds: int = 5
    """The best memories from which activation spreads (TEMPR)."""
    graph_seed_similarity: float = 0.74
    """The cosine that makes one a seed: as many turns pass it as passed TEMPR's 0.5 with a general model."""
    graph_similarity: float = 0.64
    """The cosine to the question from which a memory is entered. TEMPR has none."""
    graph_decay: float = 0.8
    """What a hop leaves of the activation (TEMPR)."""
    graph_stop: float = 0.1
    """The activation below which nothing is passed on (TEMPR)."""
    min_edge: float = 0.1
    """The weakest link that is followed, here and in the temporal channel (TEMPR)."""
    entity_fan_out: int = 25
    """A name that more memories mention than this leads nowhere: who is everywhere connects nothing in particular (the
    two speakers of a LoCoMo dialogue are in most of its memories), and the question's own words find them better."""

    # Temporal
    temporal_similarity: float = 0.6
    """The cosine from which what lies in the asked time takes part. TEMPR has 0.4 for another model."""
    temporal_decay: float = 0.7
    """What a temporal link leaves of the closeness to the asked time (TEMPR)."""

    # SATF
    satf: bool = False
    """Boost turns said near the dates of the other results. docs/retrieval.md says what it is worth."""
    satf_anchors: int = 30
    """The first ranks whose dates say which times a question is about (the paper's N)."""
    satf_sigma: float | Literal["adaptive"] = SATF_DAYS
    """Width of the Gaussian around each of them, in days (the paper's), or `adaptive`: from the gaps between their
    dates, and never more than 15."""
    satf_alpha: float = 10.0
    """How far a boost can lift: `1 + alpha` times (the paper's)."""
    satf_gamma: float = 0.0
    """The share of the anchors' weight under the highest peak (0 to 1) below which SATF stays out of it."""

    # Facts
    half_lives: Mapping[str, float] = field(
        default_factory=lambda: {
            "tech_preference": 365.0,
            "project_status": 30.0,
            "personal_trait": 3650.0,
            "api_version": 180.0,
            "team_member": 730.0,
            "server_config": 90.0,
        }
    )
    """Days after which a fact of a predicate, or of a domain, is half as sure; a bank can have its own
    (`facts.set_half_life`)."""
    half_life: float = 365.0
    """The same for every other fact."""
    stale_scan_seconds: float = 86_400.0
    """Seconds between two looks for facts to verify, which the server and the worker take by themselves; 0 is never."""

    # Tree
    consolidate: str = "extractive"
    """What writes the nodes of the memory tree: `extractive` or `llm:<model>`."""
    tree_windows: str | None = None
    """The windows above sessions, shortest first, such as `6 hours, day, quarter`; `session` or `exchange` for a tree
    that ends there. None is what the bank has, and `day, week, month` (TiMem's five levels) for a new tree."""
    tree_exchanges: int | None = None
    """Exchanges in a node of level 1; None is what the bank has, and 1 (TiMem) for a new tree."""
    tree_schedule: Literal["asked", "closed", "online"] = "asked"
    """When nodes are built: when `consolidate` is called; `closed`: also by the thread that extracts, once the newest
    turn lies behind a window's end (so in the MCP server); `online`: then, and a model tells each exchange at once."""
    tree_history: int = 3
    """Nodes of the same level before it that a model is given with each node (TiMem's w). They are then made one after
    the other; with 0 as many at a time as `llm_concurrency`."""
    tree_lambda: float = 0.9
    """What meaning weighs beside words where TiMem ranks the leaves (its lambda, eq. 7)."""
    tree_leaves: int = 20
    """The best turns above which nodes are looked for (TiMem's k1)."""
    tree_budgets: tuple[LevelBudgets, LevelBudgets, LevelBudgets] = ((4, 0, 0, 1), (4, 2, 0, 1), (8, 4, 2, 1))
    """Nodes that come along with a simple, a hybrid and a complex question: sessions, of the first level above them, of
    each further one, and of the top (TiMem, appendix B.3)."""
    prompts: Path | None = None
    """A folder with prompts of your own (`tree_profile.txt`, `plan.txt`, …) in place of those in `models/prompts`."""

    # Coding agents
    prompt_seconds: float = 0.5
    """How long a prompt of a coding agent waits for its memories; what comes later comes with the session's next
    prompt. `everwhen setup` writes it into the hooks. A tool gives a hook up after 3 to 5 seconds."""

    # Store
    busy_seconds: float = 30.0
    """How long a write waits for another process before it says that the bank is locked."""

    def __post_init__(self) -> None:
        for name, bound in _LEAST.items():
            if not getattr(self, name) >= bound:  # also when it is no number at all
                raise UsageError(f"setting {name} must be at least {bound}, got {getattr(self, name)}")
        if not isinstance(self.satf_sigma, str) and not self.satf_sigma >= 0.001:
            raise UsageError(
                f"setting satf_sigma is days, at least 0.001, or 'adaptive', got {self.satf_sigma}"
            )
        if 0 < self.echo_words < 4:
            raise UsageError(f"setting echo_words must be at least 4, or 0 for none, got {self.echo_words}")
        for name, others in _WITHOUT_MODEL.items():
            if (value := getattr(self, name)) not in others and (value[:4] != "llm:" or value == "llm:"):
                choices = ", ".join((*others, "llm:<model> (such as llm:openai:gpt-4o-mini)"))
                raise UsageError(f"setting {name} cannot be '{value}'; use one of {choices}")
        for name in _COSINES:
            if getattr(self, name) is not None and not -1 <= getattr(self, name) <= 1:
                raise UsageError(f"setting {name} is a cosine, from -1 to 1, got {getattr(self, name)}")
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"setting {name} is a share, from 0 to 1, got {getattr(self, name)}")


def load(**overrides: Any) -> Settings:
    """The settings in force: arguments over environment over defaults."""
    given = {name: value for name, value in overrides.items() if value is not None}
    names = {f.name for f in fields(Settings)}
    if unknown := sorted(given.keys() - names):
        raise UsageError(f"no setting named {', '.join(unknown)}; there are: {', '.join(sorted(names))}")
    configured = [key for key in os.environ if key.upper().startswith(PREFIX)]
    # EVERWHEN_HOME alone, the common case, is a path and needs no checking.
    if not given.keys() - {"home"} and not {key.upper() for key in configured} - {f"{PREFIX}HOME"}:
        home = given.get("home") or os.environ.get(f"{PREFIX}HOME")
        if home is not None and not isinstance(home, str | Path):
            raise UsageError(f"setting home is a folder, not {type(home).__name__}")
        return replace(Settings(), home=Path(home) if home else None)
    return _checked(given)


def _checked(given: dict[str, Any]) -> Settings:
    """Let pydantic-settings read what is set in the environment, and check the types of that and of `given`."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    configured = {key.upper() for key in os.environ}
    names = tuple(
        f.name for f in fields(Settings) if f.name in given or f"{PREFIX}{f.name.upper()}" in configured
    )
    try:
        checked = _model(names)(**given)
    except SettingsError as error:
        raise UsageError(f"{error}: it takes JSON") from None
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"setting {name} ({PREFIX}{name.upper()}) is wrong: {first['msg'].lower()}, got {first['input']!r}"
        ) from None
    return Settings(**{name: getattr(checked, name) for name in names})


@lru_cache(maxsize=64)
def _model(names: tuple[str, ...]) -> type[Any]:
    """The pydantic-settings model of some settings: all of them would take 10 ms at each opening of a bank."""
    from pydantic import create_model
    from pydantic_settings import BaseSettings, SettingsConfigDict

    class Environment(BaseSettings):
        model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore")

    defaults, types = Settings(), get_type_hints(Settings)
    columns: dict[str, Any] = {name: (types[name], getattr(defaults, name)) for name in names}
    return create_model("EverwhenSettings", __base__=Environment, **columns)
