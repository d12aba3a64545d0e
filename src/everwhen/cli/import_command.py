"""`import`: conversations, memories and notes of other programs into a bank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from everwhen.cli.app import GlobalOptions, app, interrupted_says
from everwhen.cli.performers import LATER, extract
from everwhen.cli.printing import counting
from everwhen.errors import Damaged, NotFound, Refused, UsageError

if TYPE_CHECKING:
    from everwhen.api.memory import Memory
    from everwhen.types import Message
    from everwhen.write.importers.conversation import Conversation, ReadingOptions

SHOWN = 5
"""Problems of a folder's files that are printed; JSON has all of them."""


@app.command("import")
def import_(
    here: GlobalOptions,
    file: Annotated[
        Path,
        Argument(
            help="An export of everwhen, ChatGPT, Claude, Mem0 or WhatsApp, a transcript of Claude Code or Codex, "
            "Markdown, JSONL, LoCoMo or LongMemEval; or a folder of such files."
        ),
    ],
    format: Annotated[
        str,
        Option(
            help="auto, everwhen, jsonl, locomo, longmemeval, chatgpt, claude, claude-code, codex, mem0, markdown or "
            "whatsapp."
        ),
    ] = "auto",
    date_order: Annotated[
        str | None,
        Option(help="dmy, mdy or ymd: what 03/04/25 means in a WhatsApp export that does not show it."),
    ] = None,
    at: Annotated[
        str | None, Option(help="When what has no date was written [the file's last change, or now].")
    ] = None,
    name: Annotated[
        str | None, Option(help="Who the user is, where the file does not say it: ChatGPT, Claude, notes.")
    ] = None,
    wait: Annotated[
        bool,
        Option(
            "--wait/--no-wait", help="Extract events and entities at the end, or leave it for `bank process`."
        ),
    ] = True,
) -> None:
    """Import conversations, memories and notes into one bank.

    Without --bank it is `default`; the data sets LoCoMo and LongMemEval make a bank for each conversation.
    """
    from everwhen.settings import load
    from everwhen.store.files.export import is_export
    from everwhen.types.times import TimeReader, known_zone
    from everwhen.write.importers.conversation import ReadingOptions

    local = known_zone(here.zone) if here.zone else None
    options = ReadingOptions(
        zone=local,
        date_order=date_order,  # type: ignore[arg-type]  # `read` says which there are
        at=TimeReader(local or "UTC", at).said_at,
        echo_words=load().echo_words,
    )
    if not file.exists():
        raise NotFound(f"there is no file {file}")
    if file.is_file() and (format == "everwhen" or (format == "auto" and is_export(file))):
        if name is not None:
            raise UsageError("an export of everwhen keeps the names that it has; leave --name out")
        _import_export(here, file, wait)
        return
    interrupted_says("interrupted; what was added is kept, and the same command goes on from there")
    with counting(here, f"importing {file.name}") as tick:
        done = _Import(here, format, options, name, tick)
        if file.is_dir():
            done.folder(file)
        else:
            done.file(file)
    for bank in done.banks if wait else ():
        here.bank = bank
        with here.open() as memory:
            extract(here, memory)
    done.report()
    if done.conflicts or done.problems:
        raise Exit(1)


@dataclass
class _Import:
    """An import, and what came of it."""

    here: GlobalOptions
    format: str
    options: ReadingOptions
    name: str | None
    """Who the user is, where a message does not say it."""
    tick: Callable[[int], None]
    banks: dict[str, int] = field(default_factory=dict)
    """New turns of each."""
    kinds: dict[str, None] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    """Files of a folder that could not be read to the end, each with why."""
    seen: int = 0
    _opened: Memory | None = None

    def file(self, file: Path) -> None:
        """One file; the data sets make a bank of each conversation, unless one is named."""
        from everwhen.write.importers.files import SEVERAL

        kind, conversations = self._read(file)
        self.kinds[kind] = None
        if self.here.bank or kind not in SEVERAL:
            with self._one_bank():
                self._add(conversations, kind in SEVERAL)
            return
        for conversation in conversations:
            self.here.bank = conversation.name
            with self._one_bank():
                self._add([conversation], several=False)

    def folder(self, folder: Path) -> None:
        """All files of a folder into one bank. One that is broken stops none of the others."""
        from everwhen.write.importers.files import SEVERAL, UnknownFormat, check_format, files_in

        check_format(self.format)
        with self._one_bank():
            for file in files_in(folder):
                try:
                    kind, conversations = self._read(file)
                    self._add(conversations, kind in SEVERAL)
                except UnknownFormat:
                    self.left_out["files of another kind"] += 1
                except (UsageError, Damaged, Refused) as error:
                    self.problems.append(str(error))
                else:
                    self.kinds[kind] = None
            if not self.kinds and not self.problems:
                raise NotFound(f"there is nothing to import in {folder}")

    @contextmanager
    def _one_bank(self) -> Iterator[None]:
        """What is added goes into one bank, which is closed then."""
        try:
            yield
        finally:
            if self._opened is not None:
                self._opened.close()
            self._opened = None

    def _bank(self) -> Memory:
        """The bank; a new one is made when the first message for it has been read, so a refused import makes none."""
        if self._opened is None:
            self._opened = self.here.open(create=True, extract=LATER)
        return self._opened

    def _read(self, file: Path) -> tuple[str, Iterable[Conversation]]:
        from everwhen.write.importers.files import detect, read

        kind = detect(file) if self.format == "auto" else self.format
        return kind, read(file, kind, self.options)

    def _add(self, conversations: Iterable[Conversation], several: bool) -> None:
        """Add conversations to the bank, and note what was left out of them."""
        from everwhen.write.importers.files import merged

        before = self.seen

        def note_progress(done: int) -> None:
            self.seen = before + done
            self.tick(self.seen)

        options = self.options
        for one in conversations:
            before = self.seen
            messages = iter(self._named(merged([one]) if several else one.messages))
            try:
                first = list(islice(messages, 1))
                if not first:
                    continue
                memory = self._bank()
                added = memory.add_many(
                    chain(first, messages), zone=options.zone, at=options.at, progress=note_progress
                )
            finally:
                self.left_out += one.left_out
                self.notes += one.left_out.notes
            self.banks[memory.bank] = self.banks.get(memory.bank, 0) + added.new
            self.conflicts += added.conflicts

    def _named(self, messages: Iterable[Message]) -> Iterable[Message]:
        for one in messages:
            nameless = one.role == "user" and one.name is None
            yield replace(one, name=self.name) if self.name is not None and nameless else one

    def report(self) -> None:
        here, say = self.here, self.here.say
        result = {
            "banks": self.banks,
            "new": sum(self.banks.values()),
            "conflicts": self.conflicts,
            "format": ", ".join(self.kinds),
            "left_out": dict(self.left_out),
            "notes": dict(self.notes),
            "problems": self.problems,
        }
        if here.printed(result):
            return
        if not self.banks:
            say("there is no message in it to add")
        for bank, new in self.banks.items():
            here.remark(f"bank {bank}: {new} new turns", style=None)
        for kind, counts in (("left out", self.left_out), ("note", self.notes)):
            for what, count in counts.most_common():
                here.remark(f"{kind}: {what}: {count:,}", style=None)
        if self.conflicts:
            say(
                f"{len(self.conflicts)} messages were left out: their ids are there already with other words "
                f"(the first is '{self.conflicts[0]}')"
            )
        for problem in self.problems[:SHOWN]:
            say(f"not read to its end: {problem}")
        if len(self.problems) > SHOWN:
            say(f"and {len(self.problems) - SHOWN} more files")


def _import_export(here: GlobalOptions, file: Path, wait: bool) -> None:
    """A whole bank, named as it was unless --bank says otherwise."""
    from everwhen.store.files.export import read_header

    interrupted_says("interrupted; what was loaded is kept aside, and the same command goes on from there")
    header = read_header(file)
    here.bank = here.bank or header.bank
    with here.open(create=True, embedder=header.embedder, extract=LATER) as memory:
        with counting(here, f"importing {file.name}", sum(header.counts.values())) as tick:
            rows = memory.import_(file, progress=tick)
        turns = memory.stats().turns
    if wait:
        with here.open() as memory:
            extract(here, memory)
    here.report(
        {"bank": here.bank, "rows": rows, "turns": turns, "format": "everwhen"},
        f"bank {here.bank}: {rows:,} rows, {turns:,} turns",
    )
