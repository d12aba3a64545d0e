"""The methods that a memory has, at every door: `Memory`, `AsyncMemory`, `Client` and `AsyncClient` inherit them.

Each is one operation; what does it is the class's own `perform`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from everwhen.api.operations import conversation, facts, maintenance, questions
from everwhen.api.operations.base import Method, Operation, Performs, PerformsAsync, Streamed
from everwhen.types import Answer

R = TypeVar("R")


class FactMethods:
    """What is true from when to when, and what was known when."""

    assert_ = Method(facts.Assert)
    correct = Method(facts.Correct)
    retract = Method(facts.Retract)
    end = Method(facts.End)
    confirm = Method(facts.Confirm)
    reject = Method(facts.Reject)
    report_missing = Method(facts.ReportMissing)
    report_change = Method(facts.ReportChange)
    resolve = Method(facts.Resolve)
    current = Method(facts.Current)
    as_of = Method(facts.AsOf)
    history = Method(facts.History)
    about = Method(facts.About)
    diff = Method(facts.Diff)
    stale = Method(facts.Stale)
    review = Method(facts.Review)
    get = Method(facts.Get)
    versions = Method(facts.Versions)
    confidence_at = Method(facts.ConfidenceAt)
    define_predicate = Method(facts.DefinePredicate)
    set_half_life = Method(facts.SetHalfLife)


class BankMethods:
    """What can be done with one bank, wherever it lies."""

    add = Method(conversation.Add)
    add_many = Method(conversation.AddMany)
    turns = Method(conversation.Turns)
    turn = Method(conversation.OneTurn)
    turns_around = Method(conversation.TurnsAround)
    sessions = Method(conversation.Sessions)
    grep = Method(conversation.Grep)

    recall = Method(questions.RecallMemories)
    context = Method(questions.PromptContext)
    accessed = Method(questions.MostAccessed)

    when = Method(questions.When)
    compare = Method(questions.Compare)
    timeline = Method(questions.Timeline)

    events = Method(conversation.Events)
    entities = Method(conversation.Entities)
    entity = Method(conversation.OneEntity)
    merge_entities = Method(conversation.MergeEntities)
    split_entity = Method(conversation.SplitEntity)
    rename_entity = Method(conversation.RenameEntity)
    undo_entities = Method(conversation.UndoEntities)
    mentions = Method(conversation.Mentions)
    seen_with = Method(conversation.SeenWith)
    links = Method(conversation.Links)

    ask = Method(questions.Ask)
    ask_stream = Streamed(questions.Ask)
    usage = Method(questions.ModelUsage)

    consolidate = Method(conversation.Consolidate)
    tree = Method(conversation.Tree)
    profile = Method(conversation.Profile)

    flush = Method(maintenance.Flush)
    process = Method(maintenance.Process)
    reextract = Method(maintenance.Reextract)
    forget = Method(maintenance.Forget)
    set_retention = Method(maintenance.SetRetention)
    retain = Method(maintenance.Retain)
    export = Method(maintenance.Export)
    import_ = Method(maintenance.Import)
    stats = Method(maintenance.BankStats)
    doctor = Method(maintenance.Doctor)


class FileMethods:
    """What can be done besides where the bank's own files lie."""

    reembed = Method(maintenance.Reembed)
    backup = Method(maintenance.Backup)


class BankFacts(FactMethods):
    """The facts of a bank, wherever it lies."""

    def __init__(self, door: Performs) -> None:
        self._door = door

    def perform(self, operation: Operation[R], /) -> R:
        """Do one operation."""
        return self._door.perform(operation)


class AsyncBankFacts(FactMethods):
    """The same for asynchronous programs: the calls are coroutines."""

    def __init__(self, door: PerformsAsync) -> None:
        self._door = door

    async def perform(self, operation: Operation[R], /) -> R:
        """Do one operation."""
        return await self._door.perform(operation)


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


def operations() -> dict[str, type[Operation[object]]]:
    """Every operation by the name of its method: `recall`, `facts.current`."""
    named = {name: one for name, one in vars(FileMethods).items() if type(one) is Method}
    named |= {name: one for name, one in vars(BankMethods).items() if type(one) is Method}
    named |= {f"facts.{name}": one for name, one in vars(FactMethods).items() if type(one) is Method}
    return {name: one.operation for name, one in named.items()}  # type: ignore[misc]
