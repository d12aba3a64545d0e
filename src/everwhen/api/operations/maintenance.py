"""Looking after a bank: extraction, forgetting, retention, moving, repair."""

from __future__ import annotations

from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated

from pydantic import Field, SkipValidation

from everwhen.api.operations.base import (
    LOCAL,
    CommandLine,
    IdOrIds,
    Ids,
    Label,
    Moment,
    Name,
    Operation,
    Progress,
    Rule,
    Seconds,
    Spec,
    Stretch,
    operation,
)
from everwhen.errors import UsageError
from everwhen.types import Finding, Receipt, Stats

FORGET_WHAT = (
    "forget what? Name turns, a session, an entity, a stretch of time or everything; a dry run only looks"
)


@operation
class Flush(Operation[None]):
    """Wait for the extraction of what was added, and write down what was recalled.

    Raises `Unavailable` when extraction takes longer than `timeout` seconds.
    """

    timeout: Seconds | None = None


@operation
class Process(Operation[int]):
    """Take up the to-do list, such as what a crash left; how many turns were on it. `progress` hears how
    many are left."""

    spec = Spec(scope="write", traced="update_memory")
    _: KW_ONLY
    timeout: Annotated[Seconds | None, Field(description="Give up after so many seconds.")] = None
    progress: Annotated[Progress | None, SkipValidation, LOCAL] = None


@operation
class Reextract(Operation[int]):
    """Derive events, entities and links again, from some turns or all, with the extractor that is set.

    What was derived before is removed; what people decided about entities stays. How many turns.
    """

    spec = Spec(
        "POST /reextract", scope="admin", runs="long", status=202, answer="count", traced="update_memory"
    )
    turns: Annotated[
        Ids | None, Field(description="Ids of turns. Left out: all."), CommandLine(positional=True)
    ] = None
    _: KW_ONLY
    progress: Annotated[Progress | None, SkipValidation, LOCAL] = None


@operation
class Reembed(Operation[None]):
    """Give the whole bank the vectors of another embedder, all at once or not at all."""

    spec = Spec(scope="admin")
    model: Annotated[
        Name,
        Field(description="conversation-1, fastembed:…, openai:… or sentence-transformers:…"),
        CommandLine(positional=False),
    ]
    _: KW_ONLY
    progress: Annotated[Progress | None, SkipValidation, LOCAL] = None


@operation
class Forget(Operation[Receipt]):
    """Forget turns, a session, everything about somebody, what was said in a while, or all: for good.

    What was made of the turns goes with them: events, narratives, facts in every version (`known_at` finds them no
    longer), entities, summaries, links, vectors and cached vectors. What also has other sources is made again from
    those. The same turn does not come back by importing it again. With `dry_run` nothing happens, and the receipt
    says what would. Several arguments forget what each of them names.
    """

    spec = Spec("DELETE /turns", scope="write", runs="long", traced="delete_memory")
    _: KW_ONLY
    turns: Annotated[IdOrIds | None, Field(description="Ids of turns."), CommandLine("--turn", "-t")] = None
    session: Annotated[Label | None, Field(description="A whole conversation.", examples=["s1"])] = None
    entity: Annotated[
        Label | None, Field(description="Everything about somebody or something, by name.", examples=["Ana"])
    ] = None
    between: Annotated[Stretch | None, Field(description="What was said in a while.")] = None
    everything: Annotated[bool, Field(description="All of it; needs the scope admin.")] = False
    dry_run: Annotated[bool, Field(description="Only say what would be deleted.")] = False

    def __post_init__(self) -> None:
        if not (self.turns or self.session or self.entity or self.between or self.everything):
            raise UsageError(FORGET_WHAT)


@operation
class SetRetention(Operation[str]):
    """Say how long what is kept: "keep raw turns 90 days, summaries for ever". An empty rule keeps everything.

    Nothing goes until `retain` is called. The rule as it was understood.
    """

    spec = Spec(scope="admin", traced="update_memory")
    rule: Rule


@operation
class Retain(Operation[Receipt]):
    """Apply the bank's rule of retention as of `now`; what went, or with `dry_run` would go.

    The words of an old turn go, and its place stays for what was made of it. Turns are read before they lose their
    words, so that nothing is lost unread.
    """

    spec = Spec("POST /retain", scope="admin", runs="long", traced="delete_memory")
    now: Annotated[
        Moment | None,
        Field(description="Ages are counted from here. Left out: now."),
        CommandLine(positional=False),
    ] = None
    _: KW_ONLY
    rule: Annotated[
        Rule | None, Field(description="Set this rule first; with `dry_run` it is only tried.")
    ] = None
    dry_run: Annotated[bool, Field(description="Only say what would be deleted.")] = False


@operation
class Export(Operation[int]):
    """Write the whole bank as JSON lines, provenance and transaction times included; how many records.

    Without `vectors` the file is a fraction of the size, and importing it embeds everything again.
    """

    spec = Spec(scope="admin")
    path: Annotated[
        str | Path,
        SkipValidation,
        LOCAL,
        Field(description="The file to write; - is standard output, .gz is compressed."),
    ]
    _: KW_ONLY
    vectors: Annotated[
        bool, Field(description="Without them it is far smaller, and importing it embeds again.")
    ] = True
    progress: Annotated[Progress | None, SkipValidation, LOCAL] = None


@operation
class Import(Operation[int]):
    """Fill this bank, which must be empty, with an export; how many records. Interrupted, the same call goes on."""

    spec = Spec(scope="admin")
    path: Annotated[str | Path, SkipValidation, LOCAL]
    _: KW_ONLY
    progress: Annotated[Progress | None, SkipValidation, LOCAL] = None


@operation
class Backup(Operation[Path]):
    """Copy the bank into one file while it is in use; the file is there when it has been verified.

    A folder gets a file named after the bank and the time. `Memory.restore` brings it back.
    """

    spec = Spec(scope="admin")
    path: Annotated[
        str | Path, SkipValidation, LOCAL, Field(description="The file to write, or a folder for it.")
    ]
    _: KW_ONLY
    overwrite: Annotated[bool, Field(description="Replace a file that is there.")] = False


@operation
class BankStats(Operation[Stats]):
    """How much the bank holds."""

    spec = Spec("GET /stats", runs="quick")


@operation
class Doctor(Operation[list[Finding]]):
    """What is wrong with the bank, one sentence each; `fix` rebuilds what is derived, never what was said.

    Where what was said is damaged itself, `fix` raises `Damaged` and changes nothing: see `Memory.salvage`.
    """

    spec = Spec("POST /doctor", scope="admin", runs="long", traced="update_memory")
    fix: Annotated[
        bool,
        Field(description="Rebuild what is derived; turns are never touched."),
        CommandLine(positional=False),
    ] = False
