"""`import`: conversations and notes from files of other systems, with a progress bar; Ctrl-C and go on later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everwhen.cli import interrupt
from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.extraction_commands import Wait, extract, extracting
from everwhen.cli.progress import counting
from everwhen.cli.safe_printing import printable

if TYPE_CHECKING:
    from everwhen.ingest.importers import Conversation, ReadingOptions
    from everwhen.memory import Memory
    from everwhen.types import Message

SHOWN = 5
"""Problems of a folder's files that are printed; JSON has all of them."""


@app.command("import")
def import_(
    here: GlobalOptions,
    file: Annotated[
        Path,
        typer.Argument(
            help="An export of everwhen, ChatGPT, Claude, Mem0 or WhatsApp, a transcript of Claude Code or Codex, "
            "Markdown, JSONL, LoCoMo or LongMemEval; or a folder of such files."
        ),
    ],
    format: Annotated[
        str,
        typer.Option(
            help="auto, everwhen, jsonl, locomo, longmemeval, chatgpt, claude, claude-code, codex, mem0, markdown or "
            "whatsapp."
        ),
    ] = "auto",
    date_order: Annotated[
        str | None,
        typer.Option(help="dmy, mdy or ymd: what 03/04/25 means in a WhatsApp export that does not show it."),
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="When what has no date was written [the file's last change, or now].")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Who the user is, where the file does not say it: ChatGPT, Claude, notes."),
    ] = None,
    wait: Wait = True,
) -> None:
    """Import conversations, memories and notes into one bank.

    Without --bank it is `default`; the data sets LoCoMo and LongMemEval make a bank for each conversation.
    """
    from everwhen.errors import NotFound, UsageError
    from everwhen.ingest.importers import ReadingOptions
    from everwhen.settings import load
    from everwhen.time_arguments import TimeReader, known_zone

    local = known_zone(here.zone) if here.zone else None
    options = ReadingOptions(
        zone=local,
        date_order=date_order,  # type: ignore[arg-type]  # `read` says which there are
        at=TimeReader(local or "UTC", at).said_at,
        echo_words=load().echo_words,
    )
    if not file.exists():
        raise NotFound(f"there is no file {file}")
    if file.is_file() and format in ("auto", "everwhen") and _is_export(file, format):
        if name is not None:
            raise UsageError("an export of everwhen keeps the names that it has; leave --name out")
        _import_export(here, file, wait)
        return
    interrupt.say("interrupted; what was added is kept, and the same command goes on from there")
    done = _Imported(name)
    with counting(here, f"importing {file.name}") as tick:
        if file.is_dir():
            _import_folder(here, file, format, options, done, tick)
        else:
            _import_file(here, file, format, options, done, tick)
    for bank in done.banks if wait else ():
        here.bank = bank
        with here.open() as memory:
            extract(here, memory)
    done.tell(here)
    if done.conflicts or done.problems:
        raise typer.Exit(1)


@dataclass
class _Imported:
    """What came of an import."""

    name: str | None
    """Who the user is, where a message does not say it."""
    banks: dict[str, int] = field(default_factory=dict)
    """New turns of each."""
    kinds: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    """Files of a folder that could not be read to the end, each with why."""
    seen: int = 0

    def add(
        self,
        memory: Memory,
        conversations: Iterable[Conversation],
        options: ReadingOptions,
        tick: Callable[[int], None],
        several: bool,
    ) -> None:
        """Add conversations to a bank, and note what was left out of them."""
        from everwhen.ingest.importers import merged

        before = self.seen

        def told(done: int) -> None:
            self.seen = before + done
            tick(self.seen)

        for one in conversations:
            before = self.seen
            messages = self._named(merged([one]) if several else one.messages)
            try:
                added = memory.add_many(messages, zone=options.zone, at=options.at, progress=told)
            finally:
                self.left_out += one.left_out
                self.notes += one.left_out.notes
            self.banks[memory.bank] = self.banks.get(memory.bank, 0) + added.new
            self.conflicts += added.conflicts

    def _named(self, messages: Iterable[Message]) -> Iterable[Message]:
        if self.name is None:
            return messages
        return (
            replace(one, name=self.name) if one.role == "user" and one.name is None else one
            for one in messages
        )

    def tell(self, here: GlobalOptions) -> None:
        if here.json:
            here.print(
                {
                    "banks": self.banks,
                    "new": sum(self.banks.values()),
                    "conflicts": self.conflicts,
                    "format": ", ".join(self.kinds),
                    "left_out": dict(self.left_out),
                    "notes": dict(self.notes),
                    "problems": self.problems,
                }
            )
            return
        say = here.console.print
        for bank, new in self.banks.items():
            say(f"bank {bank}: {new} new turns")
        for what, count in self.left_out.most_common():
            say(f"left out: {what}: {count:,}")
        for what, count in self.notes.most_common():
            say(f"note: {what}: {count:,}")
        if self.conflicts:
            say(
                f"{len(self.conflicts)} messages were left out: their ids are there already with other words "
                f"(the first is '{printable(self.conflicts[0])}')"
            )
        for problem in self.problems[:SHOWN]:
            say(f"not read to its end: {printable(problem)}")
        if len(self.problems) > SHOWN:
            say(f"and {len(self.problems) - SHOWN} more files")


def _import_file(
    here: GlobalOptions,
    file: Path,
    format: str,
    options: ReadingOptions,
    done: _Imported,
    tick: Callable[[int], None],
) -> None:
    from everwhen.ingest.importers import SEVERAL, detect, read

    kind = detect(file) if format == "auto" else format
    done.kinds.append(kind)
    conversations = read(file, kind, options)
    if here.bank or kind not in SEVERAL:
        with here.open(create=True, **extracting(False)) as memory:
            done.add(memory, conversations, options, tick, kind in SEVERAL)
        return
    for conversation in conversations:
        here.bank = conversation.name
        with here.open(create=True, **extracting(False)) as memory:
            done.add(memory, [conversation], options, tick, several=False)


def _import_folder(
    here: GlobalOptions,
    folder: Path,
    format: str,
    options: ReadingOptions,
    done: _Imported,
    tick: Callable[[int], None],
) -> None:
    """All files of a folder into one bank. One that is broken stops none of the others."""
    from everwhen.errors import Damaged, NotFound, Refused, UsageError
    from everwhen.ingest.importers import SEVERAL, UnknownFormat, check_format, detect, files_in, read

    check_format(format)
    with here.open(create=True, **extracting(False)) as memory:
        done.banks[memory.bank] = 0
        for file in files_in(folder):
            try:
                kind = detect(file) if format == "auto" else format
                done.add(memory, read(file, kind, options), options, tick, kind in SEVERAL)
            except UnknownFormat:
                done.left_out["files of another kind"] += 1
            except (UsageError, Damaged, Refused) as error:
                done.problems.append(str(error))
            else:
                done.kinds += [] if kind in done.kinds else [kind]
        if not done.kinds and not done.problems:
            raise NotFound(f"there is nothing to import in {folder}")


def _is_export(file: Path, format: str) -> bool:
    from everwhen.files.export import is_export

    return format == "everwhen" or is_export(file)


def _import_export(here: GlobalOptions, file: Path, wait: bool) -> None:
    """A whole bank, named as it was unless --bank says otherwise."""
    from everwhen.files.export import read_header

    interrupt.say("interrupted; what was loaded is kept aside, and the same command goes on from there")
    header = read_header(file)
    here.bank = here.bank or header.bank
    with here.open(create=True, embedder=header.embedder, **extracting(False)) as memory:
        with counting(here, f"importing {file.name}", sum(header.counts.values())) as tick:
            rows = memory.import_(file, progress=tick)
        turns = memory.stats().turns
    if wait:
        with here.open() as memory:
            extract(here, memory)
    here.tell(
        {"bank": here.bank, "rows": rows, "turns": turns, "format": "everwhen"},
        f"bank {here.bank}: {rows:,} rows, {turns:,} turns",
    )
