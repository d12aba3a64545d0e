"""One suite for `Memory`, and for `Client` against a server: the same methods, types, answers and errors."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from everwhen import (
    AsyncClient,
    AsyncMemory,
    Client,
    Context,
    Interval,
    Memory,
    NotFound,
    Proposal,
    Recall,
    Recipe,
    Refused,
    Unavailable,
    UsageError,
)
from everwhen.api import requests as client_requests
from everwhen.api.operations.base import arguments_of
from everwhen.api.operations.surface import AsyncBankFacts, BankFacts, operations
from everwhen.facts.interface import Facts
from everwhen.serve.server_settings import ServerSettings
from tests.serve.conftest import Served, serving

MONDAY = datetime(2025, 3, 10, 9, 30, tzinfo=UTC)
LOCAL_ONLY = {
    "open", "restore", "salvage", "backup", "reembed",  # the files of a bank are the operator's, at the machine itself
    "each_turn",  # `turns` comes in pages already
    "layers", "map_level",  # every vector of the bank: the map is drawn where they lie
    "tools", "langgraph_store", "memory_files",  # for agents in the same process
    "read_times_in",  # what a command line asks of its own process
}  # fmt: skip
"""What a client has not."""


@pytest.fixture(params=["memory", "client"])
def either(request: pytest.FixtureRequest, settings: ServerSettings) -> Iterator[Memory | Client]:
    if request.param == "memory":
        with Memory.open(settings.home, "test") as memory:
            yield memory
        return
    with serving(settings) as served, Client(served.url, served.key("admin"), bank="test") as client:
        yield client


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_the_client_has_the_methods_of_memory_with_their_arguments() -> None:
    own = {"perform", "stream"}
    assert public(Client) - own == public(Memory) - LOCAL_ONLY - own
    assert public(AsyncClient) - own == public(AsyncMemory) - LOCAL_ONLY - {"memory"} - own | {"bank"}
    assert public(BankFacts) - own == public(Facts) - {"predicates", "half_lives"} - own
    assert public(AsyncBankFacts) == public(BankFacts)
    known = operations()
    for ours, prefix in ((Client, ""), (BankFacts, "facts.")):
        for name in public(ours) - own - {"close", "ask_stream"}:
            if callable(method := getattr(ours, name)):
                assert inspect.signature(method) == inspect.signature(getattr(twin_of(ours), name))
                got = [one.name for one in inspect.signature(method).parameters.values()]
                assert got == [one.name for one in arguments_of(known[prefix + name])], name


def twin_of(ours: type) -> type:
    return {Client: AsyncClient, BankFacts: AsyncBankFacts}[ours]


def test_every_operation_can_be_sent_to_a_server() -> None:
    for name, operation in operations().items():
        if name not in LOCAL_ONLY:
            assert operation.spec.route or operation in client_requests._STEPS, name


def test_what_is_added_is_recalled(either: Memory | Client) -> None:
    added = either.add(
        [
            {"role": "user", "name": "Ana", "content": "I moved to Porto last week.", "id": "t1"},
            {"role": "assistant", "content": "Congratulations!", "metadata": {"mood": "kind"}},
        ],
        at=MONDAY,
        session="s1",
        metadata={"channel": "mail"},
    )
    assert added.turns[0] == "t1" and added.session == "s1" and added.new == 2
    assert either.bank == "test" and either.zone == "UTC"
    found = either.recall("Porto", max_tokens=200, before=datetime(2026, 1, 1, tzinfo=UTC))
    assert isinstance(found, Recall) and found.memories[0].said_at == MONDAY
    assert "I moved to Porto" in found.as_context() and found.to_openai()[0]["role"] == "system"
    assert found.memories[0].why.parts and found.tokens <= 200
    (first, second) = either.turns()
    assert (first.id, first.speaker, second.metadata) == ("t1", "Ana", {"channel": "mail", "mood": "kind"})
    assert either.turn("t1") == first and either.turns_around("t1") == [first, second]
    assert [session.turns for session in either.sessions()] == [2]
    assert [hit.spans for hit in either.grep("porto")] == [((11, 16),)]
    assert either.stats().turns == 2
    assert either.doctor() == []


def test_a_prompt_gets_the_same_on_both_sides(either: Memory | Client) -> None:
    either.add("I moved to Porto last week.", at=MONDAY)
    either.facts.assert_("Ana", "lives in", "Porto", at=MONDAY)
    found = either.context("Porto", at=MONDAY + timedelta(days=1), shown=["something else, " * 100])
    assert isinstance(found, Context) and "Ana lives in Porto" in found.stable
    assert "I moved to Porto last week" in found.fresh and found.to_anthropic()[0]["cache_control"]
    assert found.recall.memories[0].why.parts and found.tokens < 200


def test_dates_reach_the_prompt_on_both_sides(either: Memory | Client) -> None:
    either.add("The painters came the day before yesterday.", at=MONDAY)
    found = either.recall("painters", kinds=["turn"])
    day = f"{(MONDAY - timedelta(days=2)):%-d %B %Y}"
    assert f"the day before yesterday ({day})." in found.as_context()
    assert found.memories[0].occurred is not None and "(" not in found.memories[0].text


def test_windows_recipes_and_filters_are_heard(either: Memory | Client) -> None:
    either.add_many(
        [{"content": f"violin {day}", "timestamp": MONDAY + timedelta(days=day)} for day in range(4)]
    )
    between = Interval(MONDAY + timedelta(days=1), MONDAY + timedelta(days=3), "second")
    for given in (between, (between.start, between.end)):
        found = either.recall("violin", between=given, order="time")
        assert [one.text for one in found] == ["violin 1", "violin 2"]
    plain = Recipe("plain", 10, channels=("keyword",), rerank=False)
    assert "semantic" not in either.recall("violin", recipe=plain).memories[0].why.ranks
    assert len(either.turns(between=(None, MONDAY + timedelta(days=1)))) == 1
    assert len(either.recall("violin", kinds=["fact"])) == 0


def test_events_entities_and_times_come_from_what_was_said(either: Memory | Client) -> None:
    either.add({"name": "Ana", "content": "I moved to Porto last week."}, at=MONDAY)
    assert either.flush() is None
    (event,) = either.events(subject="Ana")
    assert event.occurred == Interval(
        datetime(2025, 3, 3, tzinfo=UTC), datetime(2025, 3, 10, tzinfo=UTC), "week"
    )
    answer = either.when("When did Ana move to Porto?", at=MONDAY)
    assert answer is not None and answer.interval == event.occurred and answer.evidence[0].turn in event.turns
    assert either.grep("porto", calendar="events")[0].event.id == event.id
    assert either.ask("When did Ana move to Porto?").text and either.usage().requests == 0
    assert "Porto" in either.ask("Where did Ana move?").text
    assert either.compare("move to Porto", "move to Porto").order == "overlap"
    assert [entry.kind for entry in either.timeline()].count("event") == 1
    names = {entity.name for entity in either.entities()}
    assert {"Ana", "Porto"} <= names
    assert either.entity("porto").name == "Porto"
    assert either.mentions("Porto")[0].text
    assert ("Porto", 1) in [(name, min(count, 1)) for name, count in either.seen_with("Ana")]
    assert either.rename_entity("Porto", "Oporto").name == "Oporto"
    assert either.undo_entities() == "rename" and either.entity("Porto").name == "Porto"
    assert either.reextract() == 1 and either.process() == 0
    assert {(link.source, link.type) for link in either.links(1)} == {(1, "entity")}, either.links(1)
    assert either.accessed()[0].id in event.turns  # what `ask` recalled counts


BEA = (
    {"role": "user", "name": "Bea", "content": "I live in Faro."},
    {"role": "assistant", "content": "Bea lives in Minsk now."},
    {"role": "assistant", "content": "Bea lives in Riga now."},
)
"""What Bea says, and what others say of her."""


@pytest.fixture
def reads_facts(settings: ServerSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERWHEN_READER", "reader-2")


def test_what_others_say_of_somebody_waits_until_it_is_confirmed_or_rejected(
    reads_facts: None, either: Memory | Client
) -> None:
    for day, message in enumerate(BEA):
        either.add(message, session="s", at=MONDAY + timedelta(days=day))
    either.flush()
    minsk, riga = either.facts.review()
    assert isinstance(minsk, Proposal) and isinstance(riga, Proposal)
    assert minsk.changes is not None and (minsk.fact.object, minsk.changes.object) == ("Minsk", "Faro")
    asked = either.ask("Where does Bea live?", at=MONDAY + timedelta(days=9))
    assert "Faro" in asked.text and minsk.id in asked.asks[0]
    assert either.facts.confirm(minsk.id, by="Bea").status == "believed"
    assert str(either.facts.reject(riga.id, by="Bea").reason).endswith("rejected by Bea")
    assert either.facts.review() == []
    (home,) = either.facts.current("Bea", "lives in", now=MONDAY + timedelta(days=9))
    assert home.object == "Minsk" and "Minsk" in either.ask("Where does Bea live?").text


def test_asynchronous_doors_confirm_and_reject(reads_facts: None, settings: ServerSettings) -> None:
    async def decide(bank: AsyncMemory | AsyncClient) -> list[str]:
        for day, message in enumerate(BEA):
            await bank.add(message, session="s", at=MONDAY + timedelta(days=day))
        await bank.flush()
        minsk, riga = await bank.facts.review()
        await bank.facts.reject(minsk.id)
        await bank.facts.confirm(riga.id)
        return [one.object for one in await bank.facts.current("Bea", "lives in")]

    async def all_doors() -> None:
        async with await AsyncMemory.open(settings.home, "own") as memory:
            assert await decide(memory) == ["Riga"]
        with serving(settings) as served:
            async with AsyncClient(served.url, served.key("admin"), bank="other") as client:
                assert await decide(client) == ["Riga"]

    asyncio.run(all_doors())


def test_facts_live_in_both_times(either: Memory | Client) -> None:
    facts = either.facts
    porto = facts.assert_("Ana", "lives in", "Porto", valid_from=MONDAY, at=MONDAY, source=["t1"])
    later = MONDAY + timedelta(days=30)
    again = facts.assert_("Ana", "lives in", "Porto", valid_from=MONDAY + timedelta(hours=1), at=MONDAY)
    assert again.id == porto.id and "that beginning was kept" in (again.note or "")
    lisbon = facts.correct("Ana", "lives in", "Lisbon", valid_from=later, at=later)
    assert [fact.object for fact in facts.current("Ana")] == ["Lisbon"]
    assert [fact.object for fact in facts.as_of(MONDAY + timedelta(days=1), "Ana")] == ["Porto"]
    assert facts.as_of(later, "Ana", known_at=MONDAY)[0].object == "Porto"
    assert [fact.object for fact in facts.history("Ana", "lives in")] == ["Porto", "Lisbon"]
    assert facts.get(lisbon.id) == lisbon and porto.sources == ("t1",)
    assert [fact.object for fact in facts.about("Ana")] == ["Porto", "Lisbon"]
    assert facts.diff(MONDAY, later).changed[0][1].object == "Lisbon"
    facts.set_half_life(None, 10)
    assert facts.confidence_at(lisbon, later + timedelta(days=10)) == pytest.approx(0.5)
    assert facts.stale(now=later + timedelta(days=365))[0].signal == "age"
    assert facts.confirm(lisbon.id, later).confirmed_at == later
    assert facts.report_missing("Lisbon")[0].id == lisbon.id
    facts.define_predicate("drives", multi=True, synonyms=["rides"])
    assert facts.end("Ana", "lives in", on=later + timedelta(days=5))[0].valid_to == later + timedelta(days=5)
    assert len(list(facts.versions())) >= 3
    assert facts.review() == []
    assert facts.retract(lisbon.id, reason="a joke").status == "retracted"


def test_what_is_forgotten_is_gone_and_the_tree_is_built_without_it(either: Memory | Client) -> None:
    either.add({"name": "Ana", "content": "I moved to Porto last week.", "id": "t1"}, at=MONDAY, session="s1")
    either.add({"name": "Bo", "content": "My cello is in the attic.", "id": "t2"}, at=MONDAY, session="s2")
    assert either.consolidate("end").built > 0 and either.consolidate("end").built == 0
    assert {node.level for node in either.tree()} >= {1, 2}
    assert [node.level for node in either.tree(1, MONDAY)] == [1, 1]
    assert either.tree(2, Interval(MONDAY + timedelta(days=300), None, "second")) == []
    assert any("Porto" in one.text for one in either.profile())
    looked = either.forget(session="s1", dry_run=True)
    assert looked.dry_run and looked.turns == ("t1",) and len(either.turns()) == 2
    receipt = either.forget(turns="t1")
    assert receipt.turns == ("t1",) and receipt.sessions == ("s1",) and receipt.events == looked.events
    assert [turn.id for turn in either.turns()] == ["t2"]
    assert not any("Porto" in one.text for one in (*either.profile(), *either.tree()))
    assert either.retention == "" and either.set_retention("keep turns 1 week") == "keep raw turns 7 days"
    assert either.retention == "keep raw turns 7 days"
    assert either.retain(MONDAY + timedelta(days=8), dry_run=True).turns == ("t2",)
    assert either.retain(MONDAY).turns == ()


def test_errors_are_the_same(either: Memory | Client) -> None:
    either.add("violin")
    for wrong in (
        lambda: either.add("  "),
        lambda: either.add([]),
        lambda: either.add("x", at=datetime(2025, 3, 3)),
        lambda: either.recall("x", at=datetime(2025, 3, 3)),
        lambda: either.recall("x", at=5),  # type: ignore[arg-type]
        lambda: either.recall("x", order="alphabet"),
        lambda: either.recall("x", kinds=["wish"]),
        lambda: either.recall("x", budget="huge"),
        lambda: either.when(" "),
        lambda: either.grep("(", regex=True),
        lambda: either.events(status="wished"),
        either.forget,
        lambda: either.forget(between=(None, None)),
        lambda: either.forget(between=(MONDAY, MONDAY - timedelta(days=1))),
        lambda: either.tree(level=77),
        lambda: either.tree(at=datetime(2025, 3, 3)),
        lambda: either.consolidate(datetime(2025, 3, 3)),
        lambda: either.set_retention("keep calm"),
        lambda: either.facts.assert_("Ana", "lives in", "Porto", confidence=7),
        lambda: either.facts.end("Ana", "lives in", on=None),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError):
            wrong()
    for missing in (
        lambda: either.turn("nobody"),
        lambda: either.forget(turns="nobody"),
        lambda: either.forget(entity="Nobody"),
        lambda: either.forget(session="nobody"),
        lambda: either.entity("nobody"),
        lambda: either.facts.get("nothing"),
    ):
        with pytest.raises(NotFound):
            missing()


def test_a_local_time_with_a_zone_is_meant_there(either: Memory | Client) -> None:
    either.add("violin", at=datetime(2025, 3, 10, 9, 30), zone="Europe/Lisbon")
    (turn,) = either.turns()
    assert (turn.said_at, turn.zone) == (MONDAY, "Europe/Lisbon")


def test_lists_longer_than_a_page_come_whole(either: Memory | Client) -> None:
    either.add_many([{"content": f"note {number}", "timestamp": MONDAY} for number in range(1100)])
    heard: list[int] = []
    assert len(either.turns()) == 1100
    either.add_many((f"again {number}" for number in range(300)), progress=heard.append)
    assert heard[-1] == 300


def test_the_asynchronous_client_does_the_same(served: Served) -> None:
    async def talk() -> None:
        async with AsyncClient(served.url, served.key("admin"), bank="test") as client:
            await client.add("I play the violin", at=MONDAY)
            found = await client.recall("violin")
            assert found.memories[0].text == "I play the violin"
            fact = await client.facts.assert_("Ana", "plays", "violin")
            assert await client.facts.current("Ana") == [fact]
            with pytest.raises(NotFound):
                await client.turn("nobody")
            many = await asyncio.gather(*(client.recall("violin", kinds=["turn"]) for _ in range(20)))
            assert {one.memories[0].text for one in many} == {"I play the violin"}

    asyncio.run(talk())


def test_a_client_says_what_is_wrong_with_its_key_or_server(served: Served) -> None:
    with Client(served.url, "ew_nonsense", bank="a") as client, pytest.raises(Refused, match="not known"):
        client.stats()
    with (
        Client(served.url, served.key("read", "a"), bank="b") as client,
        pytest.raises(Refused, match="other banks"),
    ):
        client.stats()
    with (
        Client("http://127.0.0.1:9", bank="a") as client,
        pytest.raises(Unavailable, match="no server answers"),
    ):
        client.stats()
    with pytest.raises(UsageError, match="is not a bank name"):
        Client(served.url, bank="../x")
