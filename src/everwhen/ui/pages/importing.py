"""Into the bank: words that are written here, and files of conversations by the readers of `everwhen import`."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from nicegui import ui
from nicegui.events import UploadEventArguments

from everwhen.api.memory import Memory
from everwhen.errors import EverwhenError, UsageError
from everwhen.serve.responses import Problem
from everwhen.serve.transfer_files import FOLDER
from everwhen.store.files.export import is_export, read_header
from everwhen.store.files.json_values import check_unpacked_size
from everwhen.store.files.private import private_file
from everwhen.types import Added
from everwhen.ui.components import block, empty, markup, press, said
from everwhen.ui.page import UIPage
from everwhen.write.importers.conversation import ReadingOptions
from everwhen.write.importers.files import FORMATS, SEVERAL, detect, merged, read

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
            # The page is told in one sentence, without where the server keeps its files.
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
