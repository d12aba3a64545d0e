"""Targets without a bank: messages, files of other systems, times, names, settings."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from everwhen.errors import EverwhenError, UsageError
from everwhen.settings import Settings, load
from everwhen.store.sqlite.connection import bank_path
from everwhen.types import Message
from everwhen.types.turns import message
from everwhen.upkeep.retention import describe as describe_rule
from everwhen.upkeep.retention import parse as parse_rule
from everwhen.write.importers.conversation import ReadingOptions
from everwhen.write.importers.files import FORMATS, merged, read
from everwhen_time import (
    Interval,
    constraint,
    describe,
    format_interval,
    parse_duration,
    parse_interval,
    resolve,
)
from tests.fuzz.nasty import json_values, mostly, numbers, some_of, stamps, text, words
from tests.fuzz.target import target
from tests.fuzz.world import World

NOW = datetime(2025, 3, 10, 9, 30, tzinfo=UTC)
ZONES = st.sampled_from(["UTC", "Europe/Lisbon", "Asia/Kathmandu", "Pacific/Kiritimati", "America/St_Johns"])


def is_sound(one: Message) -> None:
    """What every message keeps to."""
    for words_ in (one.text, one.name, one.id, one.session):
        assert words_ is None or ("\x00" not in words_ and words_.encode())
        assert words_ is None or words_.strip()
    assert one.said_at is None or one.said_at.utcoffset() == UTC.utcoffset(None)
    json.dumps(dict(one.metadata), allow_nan=False)
    assert message(one) == one, "checking a message again changes it"


parts = st.lists(
    st.one_of(some_of(type=st.sampled_from(["text", "image", "file", "tool_use"]), text=text, name=text), json_values),
    max_size=3,
)  # fmt: skip
messages = st.one_of(
    text,
    json_values,
    some_of(
        content=st.one_of(text, parts),
        role=st.sampled_from(["user", "assistant", "system", "tool", "human", "AI"]),
        name=text,
        timestamp=stamps,
        zone=ZONES,
        id=st.one_of(text, st.integers()),
        session=text,
        metadata=st.dictionaries(text, json_values, max_size=2),
        media=st.one_of(text, some_of(caption=text, url=text, name=text)),
        tool_calls=st.lists(some_of(id=text, function=some_of(name=text, arguments=text)), max_size=2),
    ),
)


@target(messages, cases=700)
def any_message(world: World, raw: Any) -> None:
    """A message or one sentence; checked twice it is the same."""
    try:
        found = message(raw)
    except UsageError as error:
        assert str(error)
        return
    is_sound(found)


turn_lines = some_of(
    role=st.sampled_from(["user", "assistant"]), content=text, name=text, timestamp=stamps, id=text, session=text
)  # fmt: skip
locomo = some_of(
    sample_id=text,
    qa=st.just([]),
    conversation=some_of(
        speaker_a=text,
        session_1=st.lists(some_of(speaker=text, dia_id=text, text=text, blip_caption=text), max_size=3),
        session_1_date_time=st.one_of(st.just("1:56 pm on 8 May, 2023"), text),
        session_99999999999999999999=st.just([]),
    ),
)
longmemeval = some_of(
    question_id=text,
    haystack_sessions=st.lists(
        st.lists(some_of(role=st.just("user"), content=text), max_size=2), min_size=1, max_size=1
    ),
    haystack_session_ids=st.lists(text, min_size=1, max_size=1),
    haystack_dates=st.lists(st.one_of(st.just("2023/05/27 (Sat) 02:14"), text), min_size=1, max_size=1),
)
chatgpt = some_of(
    title=text,
    conversation_id=text,
    create_time=numbers,
    current_node=st.sampled_from(["a", "b", "c", "nowhere"]),
    mapping=st.dictionaries(
        st.sampled_from(["a", "b", "c"]),
        mostly(
            some_of(
                id=text,
                parent=st.sampled_from(["a", "b", "c"]),
                children=st.lists(st.sampled_from(["a", "b"]), max_size=1),
                message=some_of(
                    id=text,
                    author=some_of(role=st.sampled_from(["user", "assistant", "tool"]), name=text),
                    create_time=numbers,
                    content=some_of(content_type=st.just("text"), parts=st.lists(text, max_size=2)),
                    metadata=some_of(attachments=st.lists(some_of(id=text, name=text), max_size=1)),
                ),
            )
        ),
        max_size=3,
    ),
)
claude = some_of(
    uuid=text,
    name=text,
    created_at=stamps,
    chat_messages=st.lists(
        some_of(
            uuid=text,
            sender=st.sampled_from(["human", "assistant"]),
            text=text,
            created_at=stamps,
            content=st.lists(some_of(type=st.just("text"), text=text), max_size=2),
            files=st.lists(some_of(file_name=text), max_size=1),
        ),
        max_size=3,
    ),
)


blocks = st.lists(
    some_of(
        type=st.sampled_from(["text", "thinking", "tool_use", "tool_result", "input_text", "image"]),
        text=text,
        id=words,
        name=text,
        tool_use_id=words,
        input=json_values,
        content=st.one_of(text, json_values),
    ),
    max_size=3,
)
claude_code = some_of(
    type=st.sampled_from(["user", "user", "assistant", "summary", "attachment"]),
    uuid=text,
    sessionId=text,
    timestamp=stamps,
    cwd=text,
    isMeta=st.booleans(),
    message=some_of(role=st.just("user"), content=st.one_of(text, blocks)),
    attachment=some_of(content=st.one_of(text, json_values)),
)
codex = some_of(
    timestamp=stamps,
    type=st.sampled_from(["response_item", "response_item", "session_meta", "event_msg"]),
    payload=some_of(
        type=st.sampled_from(["message", "function_call", "function_call_output", "reasoning"]),
        role=st.sampled_from(["user", "assistant", "developer"]),
        content=st.one_of(text, blocks),
        call_id=words,
        id=text,
        name=text,
        arguments=st.one_of(text, json_values),
        output=st.one_of(text, json_values, json_values.map(json.dumps)),
        git=json_values,
    ),
)
mem0 = some_of(
    id=text,
    memory=text,
    user_id=text,
    agent_id=text,
    run_id=text,
    role=text,
    state=st.sampled_from(["active", "deleted"]),
    created_at=stamps,
    updated_at=stamps,
    categories=json_values,
)
notes = st.lists(
    st.one_of(
        text,
        text.map("# {}".format),
        st.sampled_from(["---", "date: 2025-01-02", "```", "## 2025-01-03", "<!--", "-->", ""]),
    ),
    max_size=8,
)
chat = st.lists(
    st.one_of(
        text,
        st.builds(
            "{}{}, {} {}{}: {}{}".format,
            st.sampled_from(["", "[", "\u200e["]),
            st.sampled_from(["1/2/24", "13/1/2024", "2024-01-02", "31.12.2023", "1.2.24"]),
            st.sampled_from(["10:00", "10:00:01", "9:05 PM", "25:61", "3:05 下午"]),
            st.sampled_from(["- ", "] ", ": "]),
            text,
            st.sampled_from(["", "\u200e", "<"]),
            text,
        ),
    ),
    max_size=6,
)


def _written(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _zipped(plain: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("folder/conversations.json", plain)
    return out.getvalue()


PACKING: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "bom": lambda plain: b"\xef\xbb\xbf" + plain,
    "utf-16": lambda plain: plain.decode("utf-8", "replace").encode("utf-16"),
    "gz": lambda plain: gzip.compress(plain, 1),
    "xz": lambda plain: lzma.compress(plain, preset=0),
    "zip": _zipped,
}


@st.composite
def damaged(draw: st.DrawFn, source: bytes) -> bytes:
    """Bytes as they are, cut off, or with some of them changed."""
    content = bytearray(source)
    kind = draw(st.sampled_from(["whole", "whole", "cut", "changed", "doubled"]))
    if kind == "cut":
        return bytes(content[: draw(st.integers(0, len(content)))])
    if kind == "doubled":
        return bytes(content + content)
    if kind == "changed" and content:
        for _ in range(draw(st.integers(1, 4))):
            content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    return bytes(content)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A file of some format, as another program may have left it, and the format that is named for it."""
    kind = draw(st.sampled_from(FORMATS[1:]))
    lines = {"jsonl": turn_lines, "claude-code": claude_code, "codex": codex, "mem0": mem0}
    if kind in lines:
        plain = b"\n".join(_written(one) for one in draw(st.lists(mostly(lines[kind]), max_size=4)))
    elif kind in ("markdown", "whatsapp"):
        plain = "\n".join(draw(notes if kind == "markdown" else chat)).encode("utf-8", "surrogatepass")
    else:
        one = {"locomo": locomo, "longmemeval": longmemeval, "chatgpt": chatgpt, "claude": claude}[kind]
        listed = draw(st.lists(mostly(one), max_size=2))
        plain = _written(listed if draw(st.booleans()) or len(listed) != 1 else listed[0])
    packed = PACKING[draw(st.sampled_from(["plain", "plain", "plain", *PACKING]))](plain)
    named = draw(st.sampled_from([kind, kind, kind, "auto", *FORMATS]))
    return named, draw(damaged(packed))


@target(files(), cases=400)
def any_file(world: World, given: tuple[str, bytes]) -> None:
    """Messages with ids, the same at each reading, or one sentence."""
    named, content = given
    path = world.folder / "import.bin"
    path.write_bytes(content)
    seen: list[list[Message]] = []
    for _ in range(2):
        found: list[Message] = []
        with suppress(EverwhenError):
            found += merged(read(path, named, ReadingOptions("Europe/Lisbon")))
        seen.append(found)
    assert seen[0] == seen[1]
    for one in seen[0]:
        assert one.id and one.session
        is_sound(one)


@target(
    st.lists(st.builds(lambda said, who: {"content": said, "name": who}, text, words), max_size=6), cases=150
)
def a_good_file(world: World, given: list[dict[str, str]]) -> None:
    """What went in comes back, in order."""
    good = []
    for one in given:
        with suppress(UsageError):
            good.append(message(one))
    path = world.folder / "good.jsonl"
    path.write_bytes(b"\n".join(_written({"content": one.text, "name": one.name}) for one in good) + b"\n")
    if good:
        back = [one for conversation in read(path) for one in conversation.messages]
        assert [(one.text, one.name) for one in back] == [(one.text, one.name) for one in good]


PIECES = (
    "last next this 2 two week weeks day month May 2024 31 30/02 99 since until before after the of every Monday "
    "Christmas ago in from to between and early 1990s Q5 noon 25:00 -1 0 10000000 weekend spring"
)
times = st.one_of(text, st.lists(st.sampled_from(PIECES.split()), max_size=9).map(" ".join))
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@target(st.tuples(times, ZONES, st.sampled_from([NOW, NOW, FIRST, LAST])), cases=600)
def any_time(world: World, given: tuple[str, str, datetime]) -> None:
    """Intervals that begin before they end, at the place that they say."""
    said, zone, at = given
    for ref in resolve(said, at, zone):
        assert said[slice(*ref.span)] == ref.text
        if ref.interval is not None:
            _in_order(ref.interval)
            assert describe(ref.interval, zone)
    asked = constraint(said, at, zone)
    if asked is not None and asked.interval is not None:
        _in_order(asked.interval)


def _in_order(interval: Interval) -> None:
    if interval.start is not None and interval.end is not None:
        assert interval.start < interval.end
    for side in (interval.start, interval.end):
        assert side is None or side.utcoffset() == UTC.utcoffset(None)


@target(
    st.one_of(text, stamps.map(str), st.from_regex(r"[-P0-9YMWDTHS./:Z]{0,24}", fullmatch=True)), cases=400
)
def any_iso(world: World, said: str) -> None:
    """An interval that writes itself as it was read, or a ValueError."""
    with suppress(ValueError):
        found = parse_interval(said)
        _in_order(found)
        again = parse_interval(format_interval(found))
        assert (again.start, again.end) == (found.start, found.end)
    with suppress(ValueError):
        assert parse_duration(str(parse_duration(said))) is not None


@target(text, cases=200)
def any_bank_name(world: World, name: str) -> None:
    """A file right in the folder, or a sentence."""
    try:
        path = bank_path(world.home, name)
    except UsageError:
        return
    assert path.parent == world.home / "banks" and path.resolve().parent == (world.home / "banks").resolve()
    assert path.name == f"{name}.db"


RULE = "keep raw turns events facts summaries 90 0 -1 days weeks for ever , and 99999999999"
rules = st.one_of(text, st.lists(st.sampled_from(RULE.split()), max_size=8).map(" ".join))


@target(rules, cases=300)
def any_retention_rule(world: World, rule: str) -> None:
    """A rule that says again what it said, or a sentence."""
    with suppress(UsageError):
        understood = describe_rule(parse_rule(rule))
        assert describe_rule(parse_rule(understood)) == understood


@target(st.tuples(st.sampled_from(sorted(Settings.__slots__)), json_values), cases=80)
def any_setting(world: World, given: tuple[str, Any]) -> None:
    """A setting that is taken, or a sentence with its name."""
    name, value = given
    with suppress(UsageError):
        load(**{name: value})
