"""Where a bank begins: what it holds at a glance, and filling it with conversations from elsewhere."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from nicegui import ui
from nicegui.events import UploadEventArguments

from everwhen.api.memory import Memory
from everwhen.errors import EverwhenError, UsageError
from everwhen.recall.calendar.timeline import upcoming
from everwhen.serve.responses import Problem
from everwhen.serve.transfer_files import FOLDER
from everwhen.store.files.export import is_export, read_header
from everwhen.store.files.json_values import check_unpacked_size
from everwhen.store.files.private import private_file
from everwhen.tree.node_reader import lasts
from everwhen.types import Added, Entity, Event, Fact, Finding
from everwhen.ui.components import block, day, dialog, empty, markup, picked, press, row, said, spoken
from everwhen.ui.page import UIPage
from everwhen.write.importers.conversation import ReadingOptions
from everwhen.write.importers.files import FORMATS, SEVERAL, detect, merged, read

# Overview


RECENT_DAYS = 30
"""What counts as lately, on the overview."""
SUBJECTS, FACTS_EACH, LINES = 4, 4, 7
YEAR = timedelta(days=370)
STILL_NOW = timedelta(days=2)
"""What happened lately is counted from now where the last words are no older, else from the last day."""


@dataclass(frozen=True, slots=True)
class BankView:
    """What the overview shows, from one moment."""

    at: datetime
    known: list[tuple[str, list[Fact]]]
    facts: int
    entities: list[Entity]
    planned: list[Event]
    lately: list[Event]
    changed: list[tuple[datetime, str, Fact]]
    decide: int
    stale: int


class Overview(UIPage):
    name, title, icon = "overview", "Overview", "space_dashboard"
    hint = "What this memory knows, and how it is."

    async def load(self) -> BankView | None:
        await self.session.look()
        stats = self.session.stats
        return await self.session.read(self._look) if stats is not None and stats.turns else None

    def draw(self, data: BankView | None) -> None:
        if data is None:
            hint = "Write something down, or import a conversation."
            with empty("This bank is empty.", hint, "inventory_2"), block("div", "actions centred"):
                press("Add to it", partial(self.frame.turn_to, "import"), "strong")
            return
        self._counts(data)
        with block("div", "cards"):
            self._draw_facts(data)
            none = f"Nothing is planned after {self._day(self.session.moment)}."
            self._events("Planned next", data.planned, none, "planned")
            self._changed(data)
            none = f"Nothing in the {RECENT_DAYS} days before."
            self._events("Happened lately", data.lately, none, "lately")
            self._health(data)

    # Reading

    def _look(self, memory: Memory) -> BankView:
        as_of, at = self.session.as_of, self._from()
        held = memory.facts.current() if as_of is None else memory.facts.as_of(as_of, known_at=as_of)
        lasting = [fact for fact in held if lasts(fact, fact.confidence)]
        sure = sorted(lasting, key=lambda fact: (-fact.support, -fact.confidence, fact.valid_from))
        often = Counter(fact.subject for fact in lasting)
        every = self.kept("entities", memory.entities)
        entities = [one for one in every if self.session.by_then(one.first)]
        spoken_of = {one.name.lower(): one.mentions for one in entities}
        first = sorted(often, key=lambda name: (-spoken_of.get(name.lower(), 0), -often[name], name))
        known = [
            (name, [fact for fact in sure if fact.subject == name][:FACTS_EACH]) for name in first[:SUBJECTS]
        ]
        near = memory.events(between=(at - timedelta(days=RECENT_DAYS), at), as_of=as_of)
        begun = {event.id: event.occurred.start for event in near if event.occurred and event.occurred.start}
        dated = [event for event in near if event.id in begun and not event.inferred]
        now = self.session.moment  # what is over is not next, however long ago the last word was said
        planned = upcoming(memory.events(status="planned", between=(now, now + YEAR), as_of=as_of), now)
        lately = [
            event for event in dated if event.status in ("happened", "ongoing") and begun[event.id] < at
        ]
        return BankView(
            at,
            known,
            len(held),
            entities[:12],
            planned[:LINES],
            sorted(lately, key=lambda event: begun[event.id], reverse=True)[:LINES],
            _changes(memory, at, as_of),
            len(memory.facts.review()) if as_of is None else 0,
            len(memory.facts.stale(now=at)) if as_of is None else 0,
        )

    def _from(self) -> datetime:
        """The moment that "lately" is counted from."""
        stats, moment = self.session.stats, self.session.moment
        last = stats.last if stats is not None else None
        if self.session.as_of is not None or last is None or last + STILL_NOW > moment:
            return moment
        return last

    # Drawing

    def _day(self, instant: datetime, zone: str | None = None) -> str:
        return day(self.session.local(instant, zone))

    def _counts(self, data: BankView) -> None:
        stats = self.session.stats
        assert stats is not None and stats.first is not None
        held = {
            "conversations": ("conversations", stats.sessions, "conversations"),
            "turns": ("turns", stats.turns, "conversations"),
            "timeline": ("events", stats.events, "timeline"),
            "facts": ("facts that hold", data.facts, "facts"),
            "entities": ("people, places and things", stats.entities, "entities"),
        }
        if self.session.as_of is not None:  # the others are counted as of now only
            held = {"facts": held["facts"]}
        lines = "".join(
            f'<button type="button" class="count" data-pick="{page}"><b class="num">{count:,}</b> {words}</button>'
            for words, count, page in held.values()
        )
        picked(markup(lines, "counts").props("id=counts"), self.frame.turn_to)
        until = f" to {self._day(stats.last)}" if stats.last else ""
        said(f"What was said from {self._day(stats.first)}{until}.", "soft small under")

    def _draw_facts(self, data: BankView) -> None:
        with block("section", "sheet pad stack", "id=known"):
            said("What it knows", tag="h2")
            if not data.known:
                said("No facts yet.", "soft small")
            for subject, facts in data.known:
                lines = "".join(
                    f"<li>{escape(fact.text)} "
                    f'<span class="faint small">since {self._day(fact.valid_from, fact.zone)}</span></li>'
                    for fact in facts
                )
                link = f'<button type="button" class="link" {pick_name(subject)}>{escape(subject)}</button>'
                picked(
                    markup(f'<h3>{link}</h3><ul class="plain-list">{lines}</ul>'),
                    lambda name: self.frame.turn_to("facts", subject=name),
                )
            names = "".join(
                f'<button type="button" class="badge" {pick_name(one.name)}>{escape(one.name)}</button>'
                for one in data.entities
            )
            if names:
                said("Spoken of most", tag="h3")
                picked(markup(names, "chips"), lambda name: self.frame.turn_to("entities", name=name))

    def _events(self, title: str, events: Sequence[Event], none: str, id_: str) -> None:
        with block("section", "sheet", f"id={id_}"):
            self._title(title)
            if not events:
                said(none, "soft small pad-line")
                return
            lines = "".join(
                row(n, escape(spoken(one.occurred, one.zone)), escape(one.title), kind="short")
                for n, one in enumerate(events)
            )

            def open_(number: str) -> Awaitable[None]:
                event = events[int(number)]
                return self.show_turns(event.title, event.turns, spoken(event.occurred, event.zone))

            picked(markup(lines, "rows"), open_)

    def _changed(self, data: BankView) -> None:
        with block("section", "sheet", "id=changed"):
            self._title("What changed")
            if not data.changed:
                said(f"No fact began or ended in the {RECENT_DAYS} days before.", "soft small pad-line")
                return
            lines = "".join(
                row(
                    n,
                    self._day(at, fact.zone),
                    f'<span class="faint">{word}:</span> {escape(fact.text)}',
                    kind="short",
                )
                for n, (at, word, fact) in enumerate(data.changed)
            )

            def turn_to(number: str) -> Awaitable[None]:
                fact = data.changed[int(number)][2]
                asked = {"subject": fact.subject, "predicate": fact.predicate}
                return self.frame.turn_to("facts", **asked, state="all")

            picked(markup(lines, "rows"), turn_to)

    @staticmethod
    def _title(words: str) -> None:
        with block("div", "pad-line"):
            said(words, tag="h2")

    def _health(self, data: BankView) -> None:
        stats = self.session.stats
        assert stats is not None
        with block("section", "sheet pad stack", "id=health"):
            said("Health", tag="h2")
            waiting, decide = (
                f"{stats.pending:,} turns wait to be read",
                f"{data.decide} contradictions to decide",
            )
            stale = f"{data.stale:,} facts grew old and want to be checked"
            # Of each: whether something is to be done, what, else what is well, and the page to do it on.
            looks = (
                (stats.pending > 0, waiting, "Everything is read", ""),
                (data.decide > 0, decide, "No contradiction to decide", "facts"),
                (data.stale > 0, stale, "No fact has grown old", "facts"),
                (
                    not stats.nodes,
                    "Days and months are not condensed yet",
                    "Days, weeks and months are condensed",
                    "tree",
                ),
            )
            for look, wanted, well, page in looks:
                with block("div", "health"):
                    light = "look" if look else "well"
                    markup(f'<span class="light {light}" aria-hidden="true"></span>', tag="span")
                    said(wanted if look else well, tag="span")
                    if page and look:
                        press("Look", partial(self.frame.turn_to, page), "plain small")
            size = f"{stats.bytes / 1e6:,.1f} MB"
            said(f"{size} · embedder {stats.embedder} · schema {stats.schema}", "faint small")
            if self.session.may("admin"):
                press("Check the whole bank", self._check, icon="health_and_safety")

    # Acting

    async def _check(self) -> None:
        async def check() -> None:
            found: list[Finding] = await self.session.write(
                "doctor",
                lambda memory: memory.doctor(),
                scope="admin",
                operation="search_memory",
                alone=False,
            )
            with dialog("Nothing is wrong." if not found else f"{len(found)} to look at", id_="doctor"):
                for one in found:
                    said(f"{one.check}: {one.problem}", "small")
                if found:
                    markup("<code>everwhen bank doctor --fix</code> rebuilds what is derived.", "small soft")

        await self.frame.doing(check, redraw=False)


def pick_name(name: str) -> str:
    return f'data-pick="{escape(name)}"'


def _changes(memory: Memory, at: datetime, as_of: datetime | None) -> list[tuple[datetime, str, Fact]]:
    """Beginnings and ends of facts in the days before, newest first."""
    since = at - timedelta(days=RECENT_DAYS)
    found: list[tuple[datetime, str, Fact]] = []
    for fact in memory.facts.versions():
        believed = fact.status in ("believed", "disputed") and _is_believed(fact, as_of)
        if not believed or not lasts(fact, fact.confidence):
            continue
        if since <= fact.valid_from <= at:
            found.append((fact.valid_from, "began", fact))
        if fact.valid_to is not None and since <= fact.valid_to <= at:
            found.append((fact.valid_to, "ended", fact))
    return sorted(found, key=lambda one: one[0], reverse=True)[:LINES]


def _is_believed(fact: Fact, as_of: datetime | None) -> bool:
    if as_of is None:
        return fact.superseded_at is None
    return fact.recorded_at <= as_of and (fact.superseded_at is None or fact.superseded_at > as_of)


# Import


LINE = '{"role": "user", "name": "Ana", "content": "I moved to Porto last week", "timestamp": "2025-05-02T18:30:00Z"}'
FILE_CHOOSER = """<div class="q-uploader__header-content">
  <button type="button" class="press" @click="props.pickFiles">Choose a file</button> or drop it here
  <label class="file-label">File to import<q-uploader-add-trigger></q-uploader-add-trigger></label>
</div>"""
"""What Quasar's own header is replaced with: a button that keys and screen readers find."""
LOOK = 0.25
"""Seconds between two looks at the progress."""


@dataclass
class Progress:
    """What an import is at. Written by its thread, read by the page."""

    file: str
    stage: str = "reading"
    done: int = 0
    total: int = 0
    result: str = ""
    problem: str = ""
    notes: list[str] = field(default_factory=list)

    def tick(self, done: int) -> None:
        self.done = done


class Importing(UIPage):
    name, title, icon = "import", "Add", "add_circle"
    hint = "Write something down, or bring conversations from elsewhere."

    def controls(self) -> None:
        self.progress: Progress | None = None

    async def load(self) -> None:
        await self.session.look()

    def draw(self, data: None) -> None:
        if not self.session.may("write"):
            hint = "Ask for one with the scope write to import into this bank."
            empty("This key may only read.", hint, "lock")
            return
        most = self.session.visitor.state.serving.largest_body
        self._text()
        with block("div", "sheet pad stack"):
            said(f"Import a file into “{self.session.bank}”", tag="h2")
            said(
                "Conversations from ChatGPT, Claude, WhatsApp, Claude Code or Codex, memories of Mem0, notes in "
                "Markdown, LoCoMo or LongMemEval, JSON lines with one message each, or an export of everwhen. "
                "A file that was imported before adds only what is new.",
                "soft",
            )
            with block("div", "tools"):
                self.format = (
                    ui.select(["everwhen", *FORMATS], value="auto", label="Format")
                    .props("outlined dense options-dense behavior=menu")
                    .style("min-width: 10rem")
                )
            room = most - 10_000
            upload = ui.upload(
                auto_upload=True, max_file_size=room, on_upload=self._take, on_rejected=self._too_large
            ).props("flat no-thumbnails accept=.json,.jsonl,.md,.txt,.gz,.xz,.bz2,.zip")
            upload.classes("upload").add_slot("header", FILE_CHOOSER)
            markup(f"<pre><code>{escape(LINE)}</code></pre>")
            markup(
                f"One line of JSON lines looks like this. Up to {most / 1e6:g} MB here; larger files with "
                "<code>everwhen import FILE</code> on the machine itself.",
                "small soft",
            )
            self._bar = block("div", "stack", "id=progress aria-live=polite")
        self._timer = ui.timer(LOOK, self._show, active=False)
        if self.progress is not None:
            self._show()

    def _text(self) -> None:
        with block("section", "sheet pad stack", "id=add-text"):
            said(f"Add text to “{self.session.bank}”", tag="h2")
            text = ui.textarea("What was said").props("outlined autogrow").classes("full")
            with block("div", "tools"):
                who = ui.input("Who said it", value="user").props("outlined dense")
                at = ui.input("When (empty: now)", placeholder="2025-05-02 18:30, last Friday")
                at.props("outlined dense")

                async def add() -> None:
                    words, name = str(text.value or "").strip(), str(who.value or "").strip()
                    given = str(at.value or "").strip() or None
                    if not words:
                        raise UsageError("write something first")
                    message = {
                        "role": "user",
                        "content": words,
                        "name": None if name == "user" else name or None,
                    }

                    def remember(memory: Memory) -> Added:
                        return memory.add(message, at=given)

                    await self.session.write("add", remember, operation="create_memory", create=True)
                    new = self.session.stats is None or self.session.stats.first is None
                    await self.session.look()
                    if new:  # the slider and the chooser are drawn for it
                        ui.run_javascript("location.reload()")

                press("Add", lambda: self.frame.doing(add, "Remembered."), "strong", icon="add")

    async def _take(self, event: UploadEventArguments) -> None:
        state = self.session.visitor.state
        name = f"{self.session.bank}.{secrets.token_hex(8)}.upload"
        path = private_file(state.serving.folder / FOLDER / name)
        self.progress = progress = Progress(event.file.name)
        self._timer.activate()
        chosen = str(self.format.value)
        try:
            await event.file.save(path)
            most = state.serving.largest_import
            await state.banks.aside(lambda _: check_unpacked_size(path, most), self.session.bank)
            export = chosen == "everwhen" or (chosen == "auto" and is_export(path))
            act = _export_of(path, progress) if export else _conversations_of(path, chosen, progress)
            # As over HTTP: messages need the scope write, a whole bank admin.
            await self.session.write(
                "import",
                act,
                scope="admin" if export else "write",
                operation="create_memory",
                create=True,
                alone=False,
            )
        except Exception as error:
            # The page says it in one sentence, without where the server keeps its files.
            expected = isinstance(error, EverwhenError | Problem)
            why = str(getattr(error, "detail", "") or error) if expected else "the file could not be read"
            progress.problem = why.replace(str(path), event.file.name).replace(path.name, event.file.name)
            if not expected:
                raise
        finally:
            path.unlink(missing_ok=True)

    def _too_large(self) -> None:
        most = self.session.visitor.state.serving.largest_body
        ui.notify(
            f"Files of up to {most / 1e6:g} MB can be taken here; larger ones with `everwhen import FILE`.",
            type="negative",
            multi_line=True,
        )

    def _show(self) -> None:
        progress = self.progress
        if progress is None:
            return
        if progress.result or progress.problem:
            self._timer.deactivate()
        self._bar.clear()
        with self._bar:
            if progress.problem:
                words = progress.problem[:1].upper() + progress.problem[1:]
                said(words, "problem").props("role=alert")
                return
            share, label = 100.0, progress.result
            if not label:
                share = progress.done / progress.total * 100 if progress.total else 8.0
                of = f" of {progress.total:,}" if progress.total else ""
                label = f"{progress.stage} {progress.file}: {progress.done:,}{of}"
            markup(
                f'<p>{escape(label)}</p><div class="progress" role="progressbar" aria-label="Import" '
                f'aria-valuenow="{share:.0f}" aria-valuemin="0" aria-valuemax="100">'
                f'<b style="width: {share:.0f}%"></b></div>'
            )
            for note in progress.notes:
                said(note, "small soft")
        if progress.result and self.session.stats is None:
            # The bank came into being: the slider and the chooser are drawn for it.
            ui.timer(1.0, lambda: ui.run_javascript("location.reload()"), once=True)


def _conversations_of(path: Path, format: str, progress: Progress) -> Callable[[Memory], Any]:
    def act(memory: Memory) -> None:
        kind = detect(path) if format == "auto" else format
        conversations = list(read(path, kind, ReadingOptions(memory.zone, name=progress.file)))
        several = kind in SEVERAL
        messages = merged(conversations) if several else (m for c in conversations for m in c.messages)
        added = memory.add_many(messages, progress=progress.tick)
        progress.stage, progress.total, progress.done = "extracting", memory.stats().pending, 0
        memory.process(progress=lambda waiting: progress.tick(max(progress.total - waiting, 0)))
        if added.conflicts:
            progress.notes.append(
                f"{len(added.conflicts)} messages were left out: their ids are there already with other words."
            )
        for left_out in (one.left_out for one in conversations):
            progress.notes += [f"Left out: {what}: {count:,}." for what, count in left_out.most_common()]
            progress.notes += [
                f"{what.capitalize()}: {count:,}." for what, count in left_out.notes.most_common()
            ]
        progress.result = f"{added.new:,} new turns from {progress.file}"

    return act


def _export_of(path: Path, progress: Progress) -> Callable[[Memory], Any]:
    header = read_header(path)
    progress.total = sum(header.counts.values())

    def act(memory: Memory) -> None:
        rows = memory.import_(path, progress=progress.tick)
        progress.result = f"{rows:,} rows of the bank “{header.bank}”"

    return act
