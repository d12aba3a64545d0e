"""The same time, given at every door: Python, the client, plain HTTP, MCP and the command line read it alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

pytest.importorskip("mcp")
from mcp import Client as McpClient

from everwhen import Client, Memory, UsageError
from everwhen.cli.app import run
from everwhen.serve.mcp.server import LocalMemory, MemoryServer
from everwhen.serve.server_settings import ServerSettings
from tests.serve.api_description import api_description
from tests.serve.conftest import serving

TOKYO = ZoneInfo("Asia/Tokyo")
FRIDAY = datetime(2025, 1, 3, tzinfo=TOKYO)
SEEN = "2025-01-08T12:00:00"
"""A Wednesday, without an offset: the bank's own noon."""
SAID = {
    "eve": FRIDAY - timedelta(microseconds=1),
    "dawn": FRIDAY,
    "night": FRIDAY + timedelta(days=1, microseconds=-1),
    "next": FRIDAY + timedelta(days=1),
}
DOORS = ("memory", "client", "http", "mcp", "cli")
Given = Mapping[str, Any]


@dataclass
class Doors:
    """One bank behind all of them."""

    memory: Memory
    client: Client
    http: httpx.Client
    reach: LocalMemory
    home: Path

    def tool(self, name: str, arguments: Given) -> Any:
        async def talk() -> tuple[bool, str]:
            async with McpClient(MemoryServer(self.reach)) as client:
                answer = await client.call_tool(name, dict(arguments))
                return bool(answer.is_error), answer.content[0].text  # type: ignore[union-attr]

        wrong, text = asyncio.run(talk())
        if wrong:
            raise UsageError(text)
        return json.loads(text)

    def post(self, path: str, body: Given) -> Any:
        answer = self.http.post(f"/banks/doors/{path}", json=body)
        if answer.is_error:
            raise UsageError(answer.json()["detail"])
        return answer.json()

    def shell(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
        capsys.readouterr()
        code = run([*arguments, "--json", "--home", str(self.home), "--bank", "doors"])
        out, err = capsys.readouterr()
        if code:
            raise UsageError(err)
        return json.loads(out)


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERWHEN_EMBEDDER", "fake")
        patch.setenv("EVERWHEN_READER", "none")
        patch.setenv("EVERWHEN_CACHE_ENTRIES", "0")
        patch.setenv("EVERWHEN_EXTRACT", "none")
        with (
            Memory.open(home, "doors", zone="Asia/Tokyo") as memory,
            serving(ServerSettings(home, consolidate_seconds=0)) as served,
            Client(served.url, served.key("admin"), bank="doors") as client,
            served.client() as http,
        ):
            for id_, at in SAID.items():
                memory.add({"content": "zither", "id": id_}, at=at, session="s")
            reach = LocalMemory(home, "doors")
            yield Doors(memory, client, http, reach, home)
            reach.close()


@pytest.fixture
def recalls(doors: Doors, capsys: pytest.CaptureFixture[str]) -> dict[str, Callable[[Given], set[str]]]:
    """At each door, the ids of what is recalled under some times."""

    def at_shell(times: Given) -> set[str]:
        options: list[str] = []
        for name, value in times.items():
            options += [f"--{name.replace('_', '-')}", *([value] if isinstance(value, str) else value)]
        return {one["id"] for one in doors.shell(capsys, "recall", "zither", *options)["memories"]}

    asked = {"query": "zither", "kinds": ["turn"]}
    return {
        "memory": lambda times: {one.id for one in doors.memory.recall(**asked, **times)},  # type: ignore[arg-type]
        "client": lambda times: {one.id for one in doors.client.recall(**asked, **times)},  # type: ignore[arg-type]
        "http": lambda times: {one["id"] for one in doors.post("recall", {**asked, **times})["memories"]},
        "mcp": lambda times: {
            one["id"] for one in doors.tool("search_memories", {**asked, **times})["memories"]
        },
        "cli": at_shell,
    }


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ({"before": "last Friday"}, {"eve"}),
        ({"after": "last Friday"}, {"dawn", "night", "next"}),
        ({"between": ["last Friday", "last Friday"]}, {"dawn", "night"}),
        ({"between": ["2025-01-03", "2025-01-03"]}, {"dawn", "night"}),
        ({"between": ["2025-01-02T15:00:00Z", "2025-01-03T15:00:00Z"]}, {"dawn", "night"}),
        ({"between": ["2025-01-03T00:00:00", "yesterday"]}, {"dawn", "night", "next"}),
        ({"as_of": "last Friday"}, {"eve", "dawn", "night"}),
        ({"as_of": "2025-01-03T00:00:00"}, {"eve", "dawn"}),
        ({"known_at": "in May 2024"}, set()),
        ({"after": "in May 2024", "before": "2025-01-03"}, {"eve"}),
    ],
)
def test_a_time_means_the_same_at_every_door(
    recalls: dict[str, Callable[[Given], set[str]]], times: Given, found: set[str]
) -> None:
    got = {door: recall({"at": SEEN, **times}) for door, recall in recalls.items()}
    assert got == dict.fromkeys(DOORS, found)


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        ({"before": "gibberish"}, "before: 'gibberish' is no time that everwhen knows; write 2025-03-14"),
        ({"as_of": "2025-02-30T00:00:00Z"}, "as_of: there is no such time: '2025-02-30T00:00:00Z'"),
        (
            {"between": ["2025-01-03", "2025-01-01"]},
            "between ends before it starts: '2025-01-01' lies before",
        ),
        ({"at": "until Friday"}, "at: 'until Friday' has no beginning"),
    ],
)
def test_what_is_no_time_gets_the_same_sentence_at_every_door(
    recalls: dict[str, Callable[[Given], set[str]]], times: Given, sentence: str
) -> None:
    for recall in recalls.values():
        with pytest.raises(UsageError) as told:
            recall(times)
        assert sentence in str(told.value)


def test_one_expression_is_a_stretch_of_time(
    recalls: dict[str, Callable[[Given], set[str]]], doors: Doors
) -> None:
    for door in ("memory", "client", "http", "mcp"):
        assert recalls[door]({"at": SEEN, "between": "last Friday"}) == {"dawn", "night"}, door
    both = {"query": "zither", "at": SEEN, "between": {"start": "last Friday", "end": "2025-01-03"}}
    assert {one["id"] for one in doors.post("recall", both)["memories"]} == {"dawn", "night"}
    assert [turn.id for turn in doors.client.turns(between="2025-01-03")] == ["dawn", "night"]
    query = {"from": "2025-01-03", "to": "2025-01-03", "limit": 1}
    page = doors.http.get("/banks/doors/turns", params=query).json()
    rest = doors.http.get("/banks/doors/turns", params={**query, "cursor": page["next_cursor"]}).json()
    assert [one["id"] for one in page["items"] + rest["items"]] == ["dawn", "night"]


@pytest.mark.parametrize(
    ("times", "zone"),
    [
        ({"at": "2020-01-05T23:30:00-08:00"}, "Etc/GMT+8"),
        ({"at": "2020-01-05T23:30:00+05:30"}, "+05:30"),
        ({"at": "2020-01-05T23:30:00Z"}, "Asia/Tokyo"),
        ({"at": "2020-01-05T23:30:00+09:00"}, "Asia/Tokyo"),
        ({"at": "2020-01-05T23:30:00"}, "Asia/Tokyo"),
        ({"at": "2020-01-05T23:30:00-08:00", "zone": "Europe/Lisbon"}, "Europe/Lisbon"),
        ({"at": "2020-01-05T23:30:00", "zone": "+05:30"}, "+05:30"),
    ],
)
def test_a_turn_has_its_speakers_zone_at_every_door(
    doors: Doors, capsys: pytest.CaptureFixture[str], times: Given, zone: str
) -> None:
    options = [word for name, value in times.items() for word in (f"--{name}", value)]
    added = {
        "memory": doors.memory.add("lute", **times).turns,
        "client": doors.client.add("lute", **times).turns,
        "http": doors.post("turns", {"messages": "lute", **times})["turns"],
        "mcp": doors.tool("add_memory", {"text": "lute", **times})["turns"],
        "cli": doors.shell(capsys, "add", "lute", *options)["turns"],
    }
    turns = {door: doors.memory.turn(ids[0]) for door, ids in added.items()}
    assert {door: turn.zone for door, turn in turns.items()} == dict.fromkeys(DOORS, zone)
    assert len({turn.said_at for turn in turns.values()}) == 1


def test_the_server_knows_whose_an_offset_of_a_datetime_is(doors: Doors) -> None:
    """The bank's zone is Asia/Tokyo."""
    for hours, zone in ((9, "Asia/Tokyo"), (-8, "Etc/GMT+8")):
        late = datetime(2020, 1, 5, 23, 30, tzinfo=timezone(timedelta(hours=hours)))
        for added in (
            doors.client.add("lute", at=late),
            doors.client.add({"content": "lute", "timestamp": late}),
        ):
            turn = doors.memory.turn(added.turns[0])
            assert (turn.zone, turn.said_at) == (zone, late)


def test_a_client_keeps_the_zone_of_a_datetime(doors: Doors) -> None:
    late = datetime(2020, 1, 5, 23, 30, tzinfo=ZoneInfo("America/Los_Angeles"))
    stamped = {"content": "lute", "timestamp": late}
    for given in (
        {"messages": "lute", "at": late},
        {"messages": stamped},
        {"messages": stamped, "at": late.astimezone(UTC)},
    ):
        added = doors.client.add(**given)  # type: ignore[arg-type]
        assert (doors.memory.turn(added.turns[0]).zone, added.session) == (
            "America/Los_Angeles",
            "2020-01-05",
        )
    added = doors.client.add(stamped, zone="Europe/Lisbon")
    assert doors.memory.turn(added.turns[0]).zone == "Europe/Lisbon"


def test_facts_begin_and_are_asked_for_alike_at_every_door(
    doors: Doors, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = {
        "memory": doors.memory.facts.correct("memory", "plays", "lute", valid_from="2025-01-03").valid_from,
        "client": doors.client.facts.correct("client", "plays", "lute", valid_from="2025-01-03").valid_from,
    }
    fact = {"predicate": "plays", "object": "lute", "valid_from": "2025-01-03"}
    doors.post("facts/correct", {"subject": "http", **fact})
    doors.tool("correct_fact", {"subject": "mcp", **fact})
    doors.shell(capsys, "facts", "correct", "cli", "plays", "lute", "--from", "2025-01-03")
    for door in DOORS[2:]:
        (made,) = doors.memory.facts.about(door)
        begun[door] = made.valid_from
    assert begun == dict.fromkeys(DOORS, FRIDAY)
    for text, known in (("2025-01-02", 0), ("2025-01-03", 1), ("January 2025", 1), ("December 2024", 0)):
        asked = {"subject": "memory", "as_of": text}
        counts = {
            "memory": len(doors.memory.facts.as_of(text, "memory")),
            "client": len(doors.client.facts.as_of(text, "memory")),
            "http": len(doors.http.get("/banks/doors/facts", params=asked).json()["items"]),
            "mcp": len(doors.tool("get_facts", asked)["facts"]),
            "cli": len(doors.shell(capsys, "facts", "as-of", text, "memory")),
        }
        assert counts == dict.fromkeys(DOORS, known), text
        assert len(doors.client.facts.current("memory", now=text)) == known


def test_the_description_says_that_a_time_is_text() -> None:
    at = api_description()["components"]["schemas"]["RecallIn"]["properties"]["at"]
    (text,) = [one for one in at["anyOf"] if one["type"] == "string"]
    assert "expression" in text["description"] and "last Friday" in text["examples"]
