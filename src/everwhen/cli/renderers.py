"""How each type of result is shown to people. The keyword arguments of a renderer are options of its commands.

`here.asked` is the operation, `here.memory` the bank, which is still open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from textwrap import shorten
from typing import Annotated, Any

from rich.text import Text
from rich.tree import Tree
from typer import Option

from everwhen.api.operations import conversation, facts, maintenance, questions
from everwhen.cli.app import GlobalOptions
from everwhen.cli.printing import local, printable, size, spoken_of, styled, table, time_bar
from everwhen.types import (
    Accessed,
    Added,
    Answer,
    Comparison,
    Conflict,
    Consolidated,
    Context,
    Entity,
    Entry,
    Event,
    EventHit,
    Evidence,
    Fact,
    FactDiff,
    Finding,
    Hit,
    Linked,
    ListWithPending,
    Node,
    Proposal,
    Recall,
    Receipt,
    Session,
    StaleFact,
    Statement,
    Stats,
    TimeAnswer,
    Turn,
    UnitRow,
    Usage,
)
from everwhen.types.facts import old_in_words

NOT_FOUND = 3
MARKS = {"happened": "●", "ongoing": "◐", "planned": "○", "hypothetical": "?", "negated": "✗"}
ENTRY_MARKS = {"fact began": "┣", "fact ended": "┫", "session": "…"}
NARROWEST, WIDEST = 20, 60
"""Columns of a bar on a line of time."""
LEAST_WORDS, MOST_WORDS = 12, 36
SHOWN = 5
"""Turns of a dry run that are shown."""
WIDTH = 80
"""Characters of each."""
DATES = 27
"""Columns of the dates behind a bar, and of the gaps."""
BUILD = "`everwhen bank consolidate --now end`"
"""Also builds what lies in windows that are still open: in a new bank that is everything."""
DECIDE = "decide with: everwhen facts resolve ID --keep ID; of a proposal: confirm ID, or reject ID"


def show_sentence(here: GlobalOptions, found: Any) -> None:
    """What a command did, where its result is a number, a name or nothing."""
    sentence = SENTENCES.get(type(here.asked), "{found}")
    says = sentence(here.asked, found) if callable(sentence) else sentence
    here.remark(says.format(found=found, asked=here.asked, bank=here.memory.bank), style=None)


# What was said


def show_turns(here: GlobalOptions, found: Sequence[Turn]) -> None:
    for turn in found:
        here.say((_minute(turn), "cyan"), (f" {turn.speaker}: ", "bold"), turn.text, (f"  {turn.id}", "dim"))


def show_turn(here: GlobalOptions, found: Turn) -> None:
    show_turns(here, [found])


def show_sessions(here: GlobalOptions, found: Sequence[Session]) -> None:
    listed = table("session", "from", "to", "turns", "speakers")
    for one in found:
        days = (_day(side, one.zone) for side in (one.first, one.last))
        listed.add_row(printable(one.id), *days, str(one.turns), printable(", ".join(one.speakers)))
    here.console.print(listed)


def show_hits(here: GlobalOptions, found: Sequence[Hit | EventHit]) -> None:
    for hit in found:
        text = hit.turn.text if isinstance(hit, Hit) else hit.text
        words: list[str | tuple[str, str]] = []
        done = 0
        for start, end in hit.spans:
            words += [text[done:start], (text[start:end], "bold red")]
            done = end
        words.append(text[done:])
        if isinstance(hit, Hit):
            id_ = (f"  {hit.turn.id}", "dim")
            here.say((_minute(hit.turn), "cyan"), f" {hit.turn.speaker}: ", *words, id_)
        else:
            here.say((spoken_of(hit.event.occurred, hit.event.zone), "cyan"), " ", *words)
    if not found:
        here.say(f"nothing contains '{getattr(here.asked, 'pattern', '')}'")


def show_added(here: GlobalOptions, found: Added) -> None:
    turns = "1 turn" if found.new == 1 else f"{found.new} turns"
    bank = here.bank or "default"
    here.remark(f"remembered {turns} in session {found.session} of bank {bank}", style=None)


# Memories and answers


def show_recall(
    here: GlobalOptions,
    found: Recall,
    *,
    explain: Annotated[
        bool,
        Option("--explain", help="Draw the plan, the parts of each score, timings and what was dropped."),
    ] = False,
) -> None:
    if explain:
        from everwhen.cli.recall_explanation import explain as draw

        draw(here, found, here.shown_zone, getattr(here.asked, "top_k", None))
    else:
        show_memories(here, found)


def show_memories(here: GlobalOptions, found: Recall, *, why: bool = False, limit: int | None = None) -> None:
    """Memories as a person reads them: when, who, what, why."""
    from everwhen.recall.budget import NO_ROOM

    if not found.memories:
        too_long = sum(one.reason == NO_ROOM for one in found.dropped)
        here.say(
            f"none of {too_long} memories is short enough; allow more tokens with --max-tokens"
            if too_long
            else "nothing in this memory answers that"
        )
        return
    listed = table(header=False)
    listed.add_column("when", style="cyan", no_wrap=True)
    listed.add_column("what")
    for memory in found.memories[:limit]:
        words = styled((f"{memory.speaker}: ", "bold"), memory.text)
        words.append(f"\n{memory.why}" if why else "", style="dim")
        listed.add_row(f"{local(memory.said_at, memory.zone):%a %d %b %Y %H:%M}", words)
    here.console.print(listed)
    shown = f"{limit} of " if limit and limit < len(found) else ""
    line = f"{shown}{len(found)} memories in {found.tokens} tokens, chosen from {found.trace['candidates']}"
    took = sum(found.trace["stages_ms"].values())
    here.remark(f"{line}, {took:.0f} ms" if why else line)


def show_context(here: GlobalOptions, found: Context) -> None:
    for part in filter(None, (found.stable, found.fresh)):
        here.console.print(printable(part), soft_wrap=True)
    here.remark(f"{found.tokens} tokens")


def show_accessed(here: GlobalOptions, found: Sequence[Accessed]) -> None:
    listed = table("times", "last", "memory")
    for one in found:
        words = styled((f"{one.speaker}: ", "bold"), one.text)
        listed.add_row(str(one.count), _day(one.last_at, one.zone), words)
    here.console.print(listed if found else "nothing was recalled yet")


def show_answer(
    here: GlobalOptions,
    found: Answer,
    *,
    trace: Annotated[bool, Option("--trace", help="Show what was done for the answer.")] = False,
) -> None:
    """Where an answer comes from, and what it took. Its words were printed as they came."""
    show_sources(here, found, here.shown_zone)
    if trace:
        show_trace(here, found)


def show_sources(here: GlobalOptions, answer: Answer, zone: str) -> None:
    for one in answer.citations:
        said = f"  {_day(one.said_at, one.zone)} "
        here.say((said, "cyan"), (f"{one.speaker}: ", "bold"), f"“{one.quote}”", (f"  {one.turn}", "dim"))
    # Without a model the time stands in the words already, in the zone in which it was said.
    for interval in answer.intervals if answer.method != "extractive" else ():
        here.say(f"  {spoken_of(interval, zone)}", style="green")
    for question in answer.asks:
        here.say((question, "yellow"), (f"  {DECIDE}", "dim"))
    used = answer.usage
    how = "extractive, no model" if not used.requests else f"{answer.method}, {used.requests} requests"
    tokens = f", {used.input_tokens:,} + {used.output_tokens:,} tokens" if used.requests else ""
    cost = f", ${used.cost:.4f}" if used.cost is not None else ""
    sure = "" if answer.abstained else f"; confidence {answer.confidence:.2f}"
    here.remark(f"({how}{tokens}{cost}{sure})")


def show_trace(here: GlobalOptions, answer: Answer) -> None:
    """What a model did for an answer, step by step."""
    trace = answer.trace
    for point in trace.get("guidance", ()):
        here.say(("look for  ", "cyan"), point)
    for step in trace.get("steps", ()):
        mark, colour = ("error", "red") if step.get("error") else ("tool", "cyan")
        tool, took = (f"{step['tool']} ", "bold"), (f"  {step['ms']:.0f} ms", "dim")
        here.say((f"{mark:8}  ", colour), tool, step["arguments"], took)
    for kind in ("dropped", "notes"):
        for line in trace.get(kind, ()):
            here.say((f"{kind:8}  ", "yellow"), str(line))
    for name, value in trace.items():
        if name not in ("guidance", "steps", "dropped", "notes", "by_phase") and value not in (None, [], ()):
            here.say((f"{name:8}  ", "cyan"), str(value))


# Times


def show_time_answer(here: GlobalOptions, found: TimeAnswer | None) -> None:
    if found is None:
        here.say("this memory does not say when")
        return
    here.console.print(_time_line(found))
    for one in found.evidence:
        here.console.print(_quoted(one, found.zone))


def show_comparison(here: GlobalOptions, found: Comparison) -> None:
    """Both on one line of time, and the verdict above."""
    here.say(_verdict(found))
    known = [(side.query, side.answer) for side in (found.first, found.second) if side.answer is not None]
    width = max(NARROWEST, min(WIDEST, here.console.width - 50))
    bars = _bars([answer for _, answer in known], width)
    for (query, answer), bar in zip(known, bars, strict=True):
        here.console.print(styled((f"{bar} ", "cyan"), (query, "bold"), ": ", _time_line(answer)))
    for _, answer in known:
        for one in answer.evidence[:1]:
            here.console.print(_quoted(one, answer.zone))


def _time_line(found: TimeAnswer) -> Text:
    full = round(found.confidence * 5)
    sure = f"  {'■' * full}{'□' * (5 - full)} {found.confidence:.2f} sure"
    return styled((spoken_of(found.interval, found.zone), "bold green"), (sure, "dim"))


def _quoted(one: Evidence, zone: str) -> Text:
    how = " (said that day, no date given)" if one.inferred else ""
    quote = styled(one.quote)
    if one.expression:
        quote.highlight_words([one.expression], "bold yellow", case_sensitive=False)
    said = f"{local(one.said_at, zone):%a %d %b %Y}", "cyan"
    source = f"  [{one.turn or one.fact or ''}]{how}", "dim"
    return styled("  ", said, (f" {one.speaker}: ", "bold"), quote, source)


def _verdict(found: Comparison) -> str:
    first, second = found.first, found.second
    if found.order == "unknown":
        unknown = ", ".join(side.query for side in (first, second) if side.answer is None)
        return f"cannot tell: this memory does not say when it was: {unknown}"
    apart = f": {found.gap.text}" if found.gap else ""
    if found.order == "overlap":
        return f"cannot tell which came first{apart}"
    return f"{first.query} came before {second.query}{apart}"


def _bars(answers: Sequence[TimeAnswer], width: int) -> list[str]:
    """One bar for each interval between the first and the last instant that is known; open sides run to the edge."""
    known = [side for one in answers for side in (one.interval.start, one.interval.end) if side is not None]
    if not known:
        return [" " * width for _ in answers]
    first, last = min(known), max(known)
    return [
        time_bar(one.interval.start or first, one.interval.end or last, first, last, width) for one in answers
    ]


def show_timeline(here: GlobalOptions, found: Sequence[Entry]) -> None:
    if not found:
        in_time = getattr(here.asked, "between", None)
        here.say("nothing is known of that time" if in_time else "nothing is known of that")
        return
    listed = table(header=False)
    listed.add_column("when", no_wrap=True)
    group = None
    for entry in found:
        if entry.group is not None and entry.group != group:
            group = entry.group
            listed.add_row(styled(spoken_of(group, entry.zone), style="bold"), "", "")
        when = spoken_of(entry.interval, entry.zone)
        if entry.kind == "session":
            when = _day(entry.interval.start, entry.zone) if entry.interval.start else "?"
        dim = entry.inferred or entry.kind == "session" or entry.status in ("hypothetical", "negated")
        listed.add_row(
            styled(f"  ({when})" if entry.inferred else f"  {when}", style="dim" if dim else "green"),
            styled(_entry_mark(entry), style="cyan"),
            styled(entry.text, style="dim" if dim else ""),
        )
    here.console.print(listed)
    show_legend(here, {**MARKS, **ENTRY_MARKS}, {_entry_mark(entry) for entry in found})


def _entry_mark(entry: Entry) -> str:
    return MARKS.get(entry.status) or ENTRY_MARKS[entry.kind]


def show_legend(here: GlobalOptions, marks: Mapping[str, str], used: AbstractSet[str]) -> None:
    """What the marks mean that stand above."""
    here.remark("  ".join(f"{mark} {name}" for name, mark in marks.items() if mark in used))


# Events and entities


def show_events(here: GlobalOptions, found: Sequence[Event]) -> None:
    """Events as a person reads them: when, whether, what; inferred times in brackets."""
    if not found:
        here.say("no such event" if here.memory.stats().turns else "nothing is remembered yet")
        return
    calendar = table(header=False)
    calendar.add_column("when", no_wrap=True)
    for event in found:
        when = spoken_of(event.occurred, event.zone)
        dim = "dim" if event.inferred or event.status in ("hypothetical", "negated") else ""
        calendar.add_row(
            styled(f"({when})" if event.inferred else when, style="dim" if event.inferred else "green"),
            styled(MARKS[event.status], style="cyan"),
            styled(event.title, style=dim),
        )
    here.console.print(calendar)
    show_legend(here, MARKS, {MARKS[event.status] for event in found})


def show_entities(here: GlobalOptions, found: Sequence[Entity]) -> None:
    listed = table("name", "type", "also", "turns", "first", "last")
    for one in found:
        days = (_day(side, here.shown_zone) if side else "-" for side in (one.first, one.last))
        also = printable(", ".join(one.aliases))
        listed.add_row(printable(one.name), one.type.lower(), also, str(one.mentions), *days)
    here.console.print(listed)


def show_entity(here: GlobalOptions, found: Entity) -> None:
    show_entities(here, [found])


def show_seen_with(here: GlobalOptions, found: Sequence[tuple[str, int]]) -> None:
    for who, times in found:
        here.say(who, (f"  {times} times", "dim"))


def show_units(here: GlobalOptions, found: Sequence[UnitRow]) -> None:
    for unit in found:
        said = (f"{local(unit.said_at, unit.zone):%Y-%m-%d %H:%M}", "cyan")
        here.say(said, (f" {unit.speaker}: ", "bold"), unit.text, (f"  {unit.id}", "dim"))


def show_links(here: GlobalOptions, found: Sequence[Linked]) -> None:
    listed = table("unit", "link", "weight")
    for one in found:
        listed.add_row(str(one.target), one.type, f"{one.weight:.2f}")
    here.console.print(listed if found else "it has no neighbours")


# The memory tree


def show_tree(
    here: GlobalOptions,
    found: Sequence[Node],
    *,
    full: Annotated[bool, Option("--full", help="Every line of every node.")] = False,
) -> None:
    """The nodes as trees; exchanges only where that level is asked for."""
    shown = [node for node in found if node.level > 1 or getattr(here.asked, "level", None) == 1]
    there = {node.id for node in shown}
    under: dict[str | None, list[Node]] = {}
    for node in sorted(shown, key=lambda one: (one.interval.start, one.id)):
        under.setdefault(node.parent if node.parent in there else None, []).append(node)

    def grow(branch: Tree, node: Node) -> None:
        lowest = not under.get(node.id)
        lines = node.text.splitlines()
        for line in (lines[1:] if len(lines) > 1 else lines) if full or lowest else []:
            branch.add(styled(line, style="" if lowest else "dim"))
        for child in under.get(node.id, []):
            grow(branch.add(_node_label(child, here.shown_zone)), child)

    for node in under.get(None, []):
        root = Tree(_node_label(node, here.shown_zone), guide_style="dim")
        grow(root, node)
        here.console.print(root, soft_wrap=False)
    if not shown:
        is_built = any(node.level > 1 for node in found) or not here.memory.stats().turns
        here.say("nothing is remembered there" if is_built else f"no node there yet; {BUILD} builds the tree")


def _node_label(node: Node, zone: str) -> Text:
    """When a node is, and what it is called."""
    assert node.interval.start is not None
    start, first = local(node.interval.start, zone), node.text.splitlines()[0]
    if node.level <= 2:
        return styled(f"{start:%H:%M} {first}" if node.level == 2 else f"{start:%H:%M}", style="cyan")
    return styled(first.rstrip("."), style="bold green")


def show_profile(here: GlobalOptions, found: Sequence[Statement]) -> None:
    if not found:
        about = getattr(here.asked, "about", None)
        if about is not None and here.memory.profile():
            here.say(f"the profile says nothing of {about}")
        elif here.memory.stats().turns:
            here.say(f"no profile yet; {BUILD} builds it")
        else:
            here.say("nothing is remembered yet")
        return
    listed = table()
    for head in ("support", "first", "last", "statement"):
        listed.add_column(head, justify="right" if head == "support" else "left", no_wrap=head != "statement")
    for one in found:
        days = (_day(side, here.shown_zone) for side in (one.first, one.last))
        words = one.text if one.fact else f"{one.speaker}: {one.text}"
        listed.add_row(str(one.support), *days, styled(words, style="dim" if one.ended else ""))
    here.console.print(listed)


# Facts


def show_facts(here: GlobalOptions, found: Sequence[Fact], *, versions: bool | None = None) -> None:
    """Facts as a table. Their confidence is that of the moment that is asked about."""
    asked = here.asked
    versions = getattr(asked, "versions", False) if versions is None else versions
    if not found:
        here.say("nothing is known of that")
        return
    given = getattr(asked, "instant", None) or getattr(asked, "now", None)
    zone, moment = here.shown_zone, here.clock().last(given, "now") or datetime.now(UTC)
    listed = table()
    for name in ("fact", "from", "to", "sure"):
        listed.add_column(name, no_wrap=name != "fact", overflow="fold")
    for fact in found:
        # The id has a line of its own: with it the table would be wider than a terminal.
        about = f"\n  {fact.id}"
        if versions:
            about += f"\n  {fact.status}, recorded {_day(fact.recorded_at, zone)}"
        own = fact.zone or zone
        ends = _day(fact.valid_to, own) if fact.valid_to else ""
        old = old_in_words(fact, here.memory.facts.confidence_at(fact, moment), moment)
        words = styled(fact.text, (f"\n  {old}" if old else "", "yellow"), (about, "dim"))
        listed.add_row(words, _day(fact.valid_from, own), ends, f"{fact.confidence:.2f}")
    here.console.print(listed)


def show_fact(here: GlobalOptions, found: Fact) -> None:
    """What became of one fact, and what is to be said of it."""
    show_facts(here, [found], versions=found.status != "believed")
    if found.note:
        here.say(found.note)


def show_resolved(here: GlobalOptions, found: Fact | None) -> None:
    here.remark(f"kept: {found.text}" if found else "kept neither", style=None)


def show_diff(here: GlobalOptions, found: FactDiff) -> None:
    for old, new in found.changed:
        here.say(f"~ {old.text} → {new.text}")
    for sign, listed in (("+", found.began), ("-", found.ended)):
        for fact in listed:
            here.say(f"{sign} {fact.text}")
    if not (found.changed or found.began or found.ended):
        here.say("nothing changed")


def show_stale(here: GlobalOptions, found: Sequence[StaleFact]) -> None:
    listed = table(header=False)
    for one in found:
        why = "old" if one.signal == "age" else one.signal.replace("_", " ")
        listed.add_row(why, styled(one.fact.text, style="bold"))
        listed.add_row("", styled(one.action, (f"\n{one.fact.id}", "dim")))
    here.console.print(listed if found else "nothing is stale")


def show_review(here: GlobalOptions, found: Sequence[Conflict | Proposal]) -> None:
    for one in found:
        here.say(f"{one.id}  {one.why}", style="bold")
        for side in one.sides if isinstance(one, Conflict) else (one.fact, one.changes):
            if side is not None:
                zone = side.zone or here.shown_zone
                days = [_day(at, zone) for at in (side.valid_from, side.valid_to) if at]
                here.say(f"    {side.id}  {side.text}  since {' until '.join(days)}  {side.status}")
    here.remark(DECIDE if found else "nothing to decide")


def draw_facts(here: GlobalOptions, found: Sequence[Fact], zone: str, now: datetime) -> None:
    """A bar for each fact on one line of time; one that has not ended runs to the edge, with an arrow."""
    if not found:
        here.say("nothing is known of that")
        return
    earliest = min(found, key=lambda fact: fact.valid_from)
    first = earliest.valid_from
    last = max(now, *(side for fact in found for side in (fact.valid_from, fact.valid_to) if side))
    width = max(NARROWEST, min(WIDEST, here.console.width - 50))
    room = here.console.width - width - DATES
    bars = table(header=False)
    bars.add_column("what", no_wrap=True, max_width=max(LEAST_WORDS, min(MOST_WORDS, room)))
    bars.add_column("bar", no_wrap=True, width=width)
    bars.add_column("when", no_wrap=True)
    begins, ends = _day(first, earliest.zone or zone), _day(last, zone)
    bars.add_row("", styled(f"{begins}{ends:>{width - len(begins)}}", style="dim"), "")
    predicate = ""
    for fact in sorted(found, key=lambda one: (one.predicate, one.valid_from)):
        if fact.predicate != predicate:
            predicate = fact.predicate
            bars.add_row(styled(predicate, style="bold"), "", "")
        style = "green" if fact.valid.contains(now) else "yellow" if fact.valid_from > now else "cyan"
        bar = styled(time_bar(fact.valid_from, fact.valid_to, first, last, width), style=style)
        own = fact.zone or zone
        until = _day(fact.valid_to, own) if fact.valid_to else "now on"
        dates = styled(f"{_day(fact.valid_from, own)} – {until}", style="dim")
        bars.add_row(f"  {printable(fact.object)}", bar, dates)
    here.console.print(bars)


# The bank


def show_stats(here: GlobalOptions, found: Stats) -> None:
    zone = here.shown_zone
    rows = {
        "bank": found.bank,
        "turns": f"{found.turns:,}",
        "sessions": f"{found.sessions:,}",
        "exchanges": f"{found.segments:,}",
        "vectors": f"{found.passages:,} of {found.dimension} ({found.embedder})",
        "events": f"{found.events:,}",
        "narratives": f"{found.narratives:,}",
        "entities": f"{found.entities:,}",
        "links": f"{found.links:,}",
        "nodes": f"{found.nodes:,}",
        "recalls": f"{found.recalls:,} counted",
        "pending": f"{found.pending:,} turns" if found.pending else "none",
        "first": f"{local(found.first, zone):%Y-%m-%d %H:%M} {zone}" if found.first else "-",
        "last": f"{local(found.last, zone):%Y-%m-%d %H:%M} {zone}" if found.last else "-",
        "on disk": size(found.bytes),
        "schema": str(found.schema),
    }
    for name, value in rows.items():
        here.say(f"{name:<10} {value}")


def show_usage(here: GlobalOptions, found: Usage) -> None:
    cost = "unknown" if found.cost is None else f"${found.cost:.4f}"
    here.say(
        f"{found.requests:,} requests, {found.input_tokens:,} + {found.output_tokens:,} tokens, cost {cost}"
    )


def show_findings(here: GlobalOptions, found: Sequence[Finding]) -> None:
    for one in found:
        here.say(f"{'mended' if one.fixed else 'found'} ({one.check}): {one.problem}")
    if not found:
        here.say(f"bank {here.memory.bank} is sound")
    elif not getattr(here.asked, "fix", False):
        here.remark("`everwhen bank doctor --fix` rebuilds what is derived; what was said is never touched")


def show_receipt(here: GlobalOptions, found: Receipt) -> None:
    """How many of each were deleted, and what was made again."""
    if isinstance(here.asked, maintenance.Retain):
        is_tried = here.asked.dry_run and here.asked.rule is not None
        rule = here.asked.rule if is_tried else here.memory.retention
        here.say(rule or "no rule: everything is kept; --rule sets one")
    counts = {
        "turns": len(found.turns),
        "sessions": len(found.sessions),
        "events": len(found.events),
        "narratives": len(found.narratives),
        "summaries": len(found.nodes),
        "facts": len(found.facts),
        "entities": len(found.entities),
        "vectors": found.vectors,
        "links": found.links,
        "cached": found.cached,
    }
    listed = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    here.say(f"{'would be deleted' if found.dry_run else 'deleted'}: {listed or 'nothing'}")
    if found.rebuilt:
        again = "would be" if found.dry_run else "are"
        here.say(f"{len(found.rebuilt):,} turns stay and {again} read again without it")
    for note in found.notes:
        here.say(note)
    if found.dry_run and isinstance(here.asked, maintenance.Forget):
        for id_ in found.turns[:SHOWN]:
            turn = here.memory.turn(id_)
            words = shorten(turn.text, WIDTH, placeholder="…")
            here.say((f"  {_day(turn.said_at, turn.zone)} ", "cyan"), (f"{turn.speaker}: ", "bold"), words)
        if (more := len(found.turns) - SHOWN) > 0:
            here.say(f"  and {more:,} more turns")


def show_consolidated(here: GlobalOptions, found: Consolidated) -> None:
    counts = {name: getattr(found, name) for name in ("built", "rebuilt", "dropped", "failed")}
    says = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing to build"
    open_ones = f"; {found.waiting} wait for their window to close (--now end builds them)"
    here.remark(f"bank {here.memory.bank}: {says}{open_ones if found.waiting else ''}", style=None)


def _minute(turn: Turn) -> str:
    return f"{local(turn.said_at, turn.zone):%Y-%m-%d %H:%M}"


def _day(instant: datetime, zone: str) -> str:
    return f"{local(instant, zone):%Y-%m-%d}"


RENDERERS: dict[Any, Callable[..., None]] = {
    Added: show_added,
    list[Turn]: show_turns,
    Turn: show_turn,
    list[Session]: show_sessions,
    list[Any]: show_hits,
    Recall: show_recall,
    Context: show_context,
    list[Accessed]: show_accessed,
    Answer: show_answer,
    TimeAnswer | None: show_time_answer,
    Comparison: show_comparison,
    ListWithPending[Entry]: show_timeline,
    ListWithPending[Event]: show_events,
    ListWithPending[Entity]: show_entities,
    Entity: show_entity,
    list[tuple[str, int]]: show_seen_with,
    list[UnitRow]: show_units,
    list[Linked]: show_links,
    ListWithPending[Node]: show_tree,
    ListWithPending[Statement]: show_profile,
    ListWithPending[Fact]: show_facts,
    list[Fact]: show_facts,
    Fact: show_fact,
    Fact | None: show_resolved,
    FactDiff: show_diff,
    ListWithPending[StaleFact]: show_stale,
    ListWithPending[Conflict | Proposal]: show_review,
    Stats: show_stats,
    Usage: show_usage,
    list[Finding]: show_findings,
    Receipt: show_receipt,
    Consolidated: show_consolidated,
}
NEWEST_LAST = {list[Turn], list[Session], ListWithPending[Entry], ListWithPending[Event]}
"""Lists in the order of time: `--limit` keeps their end."""
SENTENCES: dict[Any, str | Callable[[Any, Any], str]] = {
    conversation.UndoEntities: lambda _, found: "took back: {found}" if found else "nothing to take back",
    maintenance.Process: lambda _, found: (
        "bank {bank}: {found} turns extracted" if found else "nothing was pending"
    ),
    maintenance.Reextract: "bank {bank}: {found} turns extracted again",
    maintenance.Reembed: "bank {bank} has the vectors of {asked.model}",
    maintenance.Export: lambda asked, _: (
        "" if str(asked.path) == "-" else "bank {bank}: {found:,} records in {asked.path}"
    ),
    maintenance.Backup: "bank {bank} is saved in {found}, and the copy is verified",
    facts.DefinePredicate: lambda asked, _: (
        "'{asked.name}' has several objects at a time"
        if asked.multi
        else "'{asked.name}' has one object at a time"
    ),
    facts.SetHalfLife: "facts of '{asked.domain}' have a half-life of {asked.days:g} days",
}
"""What was done, of operations whose result is a number, a name or nothing."""
EXIT_CODES: dict[Any, Callable[[Any, Any], int]] = {
    questions.When: lambda _, found: 0 if found else NOT_FOUND,
    questions.Compare: lambda _, found: NOT_FOUND if found.order == "unknown" else 0,
    questions.Timeline: lambda _, found: 0 if found else NOT_FOUND,
    maintenance.Doctor: lambda _, found: int(any(not one.fixed for one in found)),
    maintenance.Forget: lambda asked, found: int(not asked.dry_run and not found.erased),
}
"""Of commands that say more with it than that they ran."""
