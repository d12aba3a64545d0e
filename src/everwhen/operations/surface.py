"""The methods that a memory has, at every door: `Memory`, `AsyncMemory`, `Client` and `AsyncClient` inherit them.

Each is one operation; what does it is the class's own `perform`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from everwhen.operations.ask import Ask, ModelUsage
from everwhen.operations.base import Method, Operation, Streamed
from everwhen.operations.events import (
    Entities,
    Events,
    Links,
    Mentions,
    MergeEntities,
    OneEntity,
    RenameEntity,
    SeenWith,
    SplitEntity,
    UndoEntities,
)
from everwhen.operations.facts import (
    About,
    AsOf,
    Assert,
    ConfidenceAt,
    Confirm,
    Correct,
    Current,
    DefinePredicate,
    Diff,
    End,
    Get,
    History,
    ReportChange,
    ReportMissing,
    Resolve,
    Retract,
    Review,
    SetHalfLife,
    Stale,
    Versions,
)
from everwhen.operations.maintenance import (
    Backup,
    BankStats,
    Doctor,
    Export,
    Flush,
    Forget,
    Import,
    Process,
    Reembed,
    Reextract,
    Retain,
    SetRetention,
)
from everwhen.operations.recall import MostAccessed, PromptContext, RecallMemories
from everwhen.operations.time_questions import Compare, Timeline, When
from everwhen.operations.tree import Consolidate, Profile, Tree
from everwhen.operations.turns import Add, AddMany, Grep, OneTurn, Sessions, Turns, TurnsAround
from everwhen.types import Answer

R = TypeVar("R")


class FactMethods:
    """What is true from when to when, and what was known when."""

    assert_ = Method(Assert)
    correct = Method(Correct)
    retract = Method(Retract)
    end = Method(End)
    confirm = Method(Confirm)
    report_missing = Method(ReportMissing)
    report_change = Method(ReportChange)
    resolve = Method(Resolve)
    current = Method(Current)
    as_of = Method(AsOf)
    history = Method(History)
    about = Method(About)
    diff = Method(Diff)
    stale = Method(Stale)
    review = Method(Review)
    get = Method(Get)
    versions = Method(Versions)
    confidence_at = Method(ConfidenceAt)
    define_predicate = Method(DefinePredicate)
    set_half_life = Method(SetHalfLife)


class BankMethods:
    """What can be done with one bank, wherever it lies."""

    add = Method(Add)
    add_many = Method(AddMany)
    turns = Method(Turns)
    turn = Method(OneTurn)
    turns_around = Method(TurnsAround)
    sessions = Method(Sessions)
    grep = Method(Grep)

    recall = Method(RecallMemories)
    context = Method(PromptContext)
    accessed = Method(MostAccessed)

    when = Method(When)
    compare = Method(Compare)
    timeline = Method(Timeline)

    events = Method(Events)
    entities = Method(Entities)
    entity = Method(OneEntity)
    merge_entities = Method(MergeEntities)
    split_entity = Method(SplitEntity)
    rename_entity = Method(RenameEntity)
    undo_entities = Method(UndoEntities)
    mentions = Method(Mentions)
    seen_with = Method(SeenWith)
    links = Method(Links)

    ask = Method(Ask)
    ask_stream = Streamed(Ask)
    usage = Method(ModelUsage)

    consolidate = Method(Consolidate)
    tree = Method(Tree)
    profile = Method(Profile)

    flush = Method(Flush)
    process = Method(Process)
    reextract = Method(Reextract)
    forget = Method(Forget)
    set_retention = Method(SetRetention)
    retain = Method(Retain)
    export = Method(Export)
    import_ = Method(Import)
    stats = Method(BankStats)
    doctor = Method(Doctor)


class FileMethods:
    """What can be done besides where the bank's own files lie."""

    reembed = Method(Reembed)
    backup = Method(Backup)


class BankFacts(FactMethods):
    """The facts of a bank, wherever it lies."""

    def perform(self, operation: Operation[R], /) -> R:
        """Do one operation."""
        raise NotImplementedError


class Bank(BankMethods):
    """One bank, wherever it lies: what agents, tools and adapters are written for, and what `Memory` is."""

    @property
    def bank(self) -> str:
        """Its name."""
        raise NotImplementedError

    @property
    def zone(self) -> str:
        """The zone of text that comes without one."""
        raise NotImplementedError

    @property
    def facts(self) -> BankFacts:
        """What is true from when to when, and what was known when."""
        raise NotImplementedError

    def perform(self, operation: Operation[R], /) -> R:
        """Do one operation."""
        raise NotImplementedError

    def stream(self, operation: Operation[Answer], /) -> Iterator[str | Answer]:
        """Answer a question piece by piece."""
        raise NotImplementedError
