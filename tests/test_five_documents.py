"""Each row of "The five documents": its switch is thrown, and has its effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from everwhen.models.comparison import Candidate, RerankQuery
from everwhen.types import Recall
from everwhen.types.recall import FOUR_WAY, MID, TEMPR, Recipe
from tests.scripted_server import ScriptedServer, Step, data

PAGE = Path(__file__).parent.parent / "docs" / "five-documents.md"
DOCUMENTS = ("SATF", "TEMPR")
LLM = "llm:openai:scripted"
QUESTION = "What was Alice painting between March and May 2025?"
SAID = (
    ("2025-02-10", "Alice", "I bought brushes for painting."),
    ("2025-03-12", "Alice", "I painted the kitchen green with my sister Paris."),
    ("2025-04-05", "Alice", "I moved to Paris for a painting course."),
    ("2025-04-14", "Alice", "I painted a portrait of Ben at Nokia."),
    ("2025-04-14", "Alice", "I painted a portrait of Ben at Nokia again."),
    ("2025-05-20", "Ben", "I think the green kitchen is ugly. Nokia has good coffee."),
    ("2025-08-03", "Alice", "I sold all my paintings."),
)


class Bank:
    """The talk above, in a bank of its own: opened as the rows say."""

    def __init__(self, home: Path, **settings: Any) -> None:
        self.home = home
        with self.opened(**settings, wait_seconds=300) as memory:
            for place, (day, name, text) in enumerate(SAID):
                memory.add({"role": "user", "name": name, "content": text}, at=day, session=f"{place}")
            memory.flush()

    def opened(self, **settings: Any) -> Memory:
        return Memory.open(self.home, "papers", **settings)

    def found(self, recipe: Recipe | None = None, asked: Any = None, **settings: Any) -> Recall:
        with self.opened(**{"extract": "none"} | settings) as memory:
            return memory.recall(QUESTION, at="2025-11-01", recipe=recipe, **(asked or {}))

    def scores(self, recipe: Recipe | None = None, **settings: Any) -> list[tuple[str, float]]:
        return [(one.id, one.score) for one in self.found(recipe, **settings)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    return Bank(tmp_path_factory.mktemp("papers"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        monkeypatch.setenv("EVERWHEN_LLM_BASE_URL", running.url)
        monkeypatch.setenv("EVERWHEN_LLM_ATTEMPTS", "1")
        yield running


class Given:
    """What a row may use."""

    def __init__(self, bank: Bank, server: ScriptedServer, env: pytest.MonkeyPatch, folder: Path) -> None:
        self.bank, self.server, self.env, self.folder = bank, server, env, folder

    def links(self, kind: str, home: Path | None = None, **settings: Any) -> int:
        """Links of a kind in a bank made with some settings."""
        bank = Bank(home, extract="rules", **settings) if home else self.bank
        with bank.opened(extract="none") as memory:
            units = [row.seq for row in memory._bank.store.units(range(1, 200)).values()]
            return len(memory._bank.store.graph.neighbours(units, [kind]))  # type: ignore[list-item]


# SATF


def the_boost(given: Given) -> None:
    plain = given.bank.scores()
    switched = given.bank.scores(satf=True)
    assert switched != plain and switched == given.bank.scores(replace(MID, satf=True))
    assert all(one.why.affinity is not None for one in given.bank.found(satf=True) if one.kind == "turn")
    given.env.setenv("EVERWHEN_SATF", "true")
    assert given.bank.scores() == switched and given.bank.scores(satf=False) == plain


def number(name: str, value: Any) -> Callable[[Given], None]:
    """A number of SATF's acts the same as an argument, in the environment, and in a recipe, which goes before both."""

    def acts(given: Given) -> None:
        on, set_ = replace(MID, satf=True), {f"satf_{name}": value}
        before, after = given.bank.scores(satf=True), given.bank.scores(satf=True, **set_)
        assert after != before
        assert after == given.bank.scores(on, **set_) == given.bank.scores(replace(on, **set_))
        given.env.setenv(f"EVERWHEN_SATF_{name.upper()}", str(value))
        assert after == given.bank.scores(satf=True) == given.bank.scores(on)
        default = {"anchors": 30, "sigma": 15.0, "alpha": 10.0, "gamma": 0.0}[name]
        assert before == given.bank.scores(replace(on, **{f"satf_{name}": default}))

    return acts


def as_feature(given: Given) -> None:
    with Memory.open(given.folder, "assistant", extract="none") as memory:
        for day, (role, text) in enumerate(
            (("user", "I paint in oil."), ("assistant", "Oil dries slowly.")) * 6
        ):
            memory.add({"role": role, "content": text}, at=f"2025-03-{day + 1:02d}", session=f"{day // 4}")
        parts = [one.why.parts for one in memory.recall("What do I paint in?")]
        without = [
            one.why.parts for one in memory.recall("What do I paint in?", recipe=MID.without("context"))
        ]
    assert any("session_affinity" in one for one in parts)
    assert not any("session_affinity" in one for one in without)


# TEMPR


def kinds(found: Recall) -> set[str]:
    return {one.kind for one in found}


def narratives(given: Given) -> None:
    assert "narrative" in kinds(given.bank.found(TEMPR))
    assert "narrative" in kinds(given.bank.found(replace(MID, kinds=("turn", "narrative"))))
    assert kinds(given.bank.found(asked={"kinds": ["narrative"]})) == {"narrative"}
    assert "narrative" not in kinds(given.bank.found())
    with Memory.open(given.folder, "talk") as memory:  # one conversation
        lines = [("Ana", text) for _, _, text in SAID] + [("Ben", "I saw Rome."), ("Ben", "I saw Bonn.")]
        for minute, (name, text) in enumerate(lines * 2):
            message = {
                "role": "user",
                "name": name,
                "content": text,
                "timestamp": f"2025-03-01T10:{minute:02d}:00Z",
            }
            memory.add(message, session="one")
        found = memory.recall("painting", kinds=["narrative"], networks=["world"], fresh=True)
        assert 2 <= len(found) <= 5


def dated(given: Given) -> None:
    other = Bank(given.folder, date_in_embedding=True, extract="none")
    assert similar(other.found(date_in_embedding=True)) != similar(
        given.bank.found(asked={"kinds": ["turn"]})
    )


def similar(found: Recall) -> dict[str, float]:
    return {one.text: one.why.scores.get("semantic", 0.0) for one in found if one.kind == "turn"}


def extraction(given: Given) -> None:
    told = {"turn": "t1", "quote": "I joined Google", "text": "", "verb": "join", "time": ""}
    said = {"turn": "t1", "quote": "I joined Google", "predicate": "works_at", "subject": "Ana"}
    events = [{**told, "subject": who, "object": "Google"} for who in ("Ana", "Napoleon")]
    facts = [{**said, "object": where} for where in ("Google", "Microsoft")]
    given.server.always(data({"narratives": [], "entities": [], "events": events, "facts": facts}))
    with Memory.open(given.folder, "model", extract=LLM) as memory:
        memory.add({"role": "user", "name": "Ana", "content": "I joined Google."})
        assert [one.subject for one in memory.events()] == ["Ana"]
        assert [one.object for one in memory.facts.current("Ana")] == ["Google"]
        assert "no turn names" in str(memory.doctor()) and "does not say" in str(memory.doctor())


def same_names(given: Given) -> None:
    with given.bank.opened(extract="none") as memory:
        assert {one.type for one in memory.entities() if one.name == "Paris"} == {"PERSON", "LOCATION"}


def temporal_links(given: Given) -> None:
    assert given.links("temporal") > 0


def semantic_links(given: Given) -> None:
    few = given.links("semantic", given.folder / "few", link_similarity=0.999)
    many = given.links("semantic", given.folder / "many", link_similarity=0.3)
    assert few < given.links("semantic") < many


def entity_links(given: Given) -> None:
    wide, narrow = (given.bank.found(replace(TEMPR, entity_fan_out=count)) for count in (1000, 0))
    assert graph_scores(wide) != graph_scores(narrow)


def graph_scores(found: Recall) -> dict[str, float]:
    return {one.id: one.why.scores.get("graph", 0.0) for one in found}


def four_searches(given: Given) -> None:
    four = {"semantic", "keyword", "graph", "temporal"}
    assert set(given.bank.found().trace["found"]) == four - {"graph"}
    for found in (given.bank.found(TEMPR), given.bank.found(FOUR_WAY), given.bank.found(graph_recall=True)):
        assert set(found.trace["found"]) == four and any(graph_scores(found).values())


def time_score(given: Given) -> None:
    of = {recipe.name: given.bank.found(recipe) for recipe in (MID, TEMPR)}
    scores = {
        name: {one.text: one.why.scores["temporal"] for one in found if "temporal" in one.why.scores}
        for name, found in of.items()
    }
    middle, edge = (scores["tempr"][SAID[place][2]] for place in (3, 1))
    assert middle > 0.9 and 0.1 < edge < 0.4  # by the time alone
    assert scores["tempr"] != scores["mid"]
    assert given.bank.found(replace(TEMPR, temporal_similarity=1.0)).trace["found"]["temporal"] == 0


def time_by_llm(given: Given) -> None:
    answer = {"complexity": "simple", "keywords": [], "since": "2025-08", "until": "2025-08"}
    given.server.always(data(answer))

    def month(recipe: Recipe | None = None, **settings: Any) -> int:
        return int(given.bank.found(recipe, **settings).trace["plan"]["time"].start.month)

    assert month() == month(TEMPR) == month(recall_llm=LLM) == 3
    assert month(TEMPR, recall_llm=LLM) == month(replace(MID, time_by_llm=True), recall_llm=LLM) == 8
    assert month(recall_llm=LLM, time_by_llm=True) == 8
    given.server.always(Step("raw", "no answer"))
    failed = given.bank.found(TEMPR, recall_llm=LLM)
    assert failed.trace["plan"]["time"].start.month == 3 and "rules were used" in str(failed.trace["notes"])


def ranks(given: Given) -> None:
    for recipe in (TEMPR, replace(MID, fusion="rrf", rrf_k=60)):
        for one in (found := given.bank.found(recipe)):
            assert one.score == pytest.approx(
                sum(1 / (60 + rank) for rank in one.why.ranks.values()), rel=1e-4
            )
        assert len(found)


class Reversed:
    """A cross-encoder of one's own: the longest first."""

    name = "longest"
    reads = frozenset({"text"})

    def score(self, question: RerankQuery, candidates: Sequence[Candidate]) -> dict[str, list[float]]:
        return {"longest": [float(len(one.text)) for one in candidates]}


def cross_encoder(given: Given) -> None:
    lengths = [len(one.text) for one in given.bank.found(TEMPR, reranker=Reversed()) if one.kind == "turn"]
    plain = [len(one.text) for one in given.bank.found(TEMPR) if one.kind == "turn"]
    assert lengths == sorted(lengths, reverse=True) != plain


def thinking(given: Given) -> None:
    few, many = (given.bank.found(asked={"budget": budget}) for budget in (2, "high"))
    assert few.trace["found"]["semantic"] < many.trace["found"]["semantic"]
    assert given.bank.found(replace(MID, candidates=2)).trace["found"] == few.trace["found"]


def by_rank(given: Given) -> None:
    for recipe in (TEMPR, replace(MID, by_rank=True)):
        whole, some = given.bank.found(recipe), given.bank.found(recipe, {"max_tokens": 70})
        assert [one.id for one in some] == [one.id for one in whole][: len(some)]
        assert 0 < len(some) < len(whole)


def accesses(given: Given) -> None:
    bank = Bank(given.folder, extract="none")
    before = bank.scores(count_access=False)
    with bank.opened(extract="none") as memory:
        assert not memory.accessed()
        for _ in range(5):
            memory.recall("green kitchen", top_k=1)
        assert [one.count for one in memory.accessed()] == [5]
    assert bank.scores(count_access=False) == before  # counted, and ranked as before


def networks(given: Given) -> None:
    held = given.bank.found(asked={"networks": ["opinion"], "kinds": ["narrative"]})
    assert [one.text for one in held] == ["Ben thinks the green kitchen is ugly."]


ROWS: dict[str, dict[str, Callable[[Given], None]]] = {
    "SATF": {
        "the boost (equations 2 to 4)": the_boost,
        "N, how many first results are anchors": number("anchors", 1),
        "σ, the width in days": number("sigma", 2.0),
        "σ from the dates themselves": number("sigma", "adaptive"),
        "α, the strength": number("alpha", 1.0),
        "γ, the gate": number("gamma", 1.0),
        "the affinity as a feature": as_feature,
    },
    "TEMPR": {
        "narratives, 2 to 5 a conversation": narratives,
        "dates in what is embedded": dated,
        "extraction by a model, held against its turns": extraction,
        "things of one name apart": same_names,
        "temporal links, 24 hours": temporal_links,
        "semantic links": semantic_links,
        "entity links": entity_links,
        "four searches": four_searches,
        "time: thresholds and score": time_score,
        "a model reads the time of a question": time_by_llm,
        "reciprocal rank fusion": ranks,
        "a cross-encoder's order": cross_encoder,
        "thinking budget": thinking,
        "token budget in the order of rank": by_rank,
        "access count": accesses,
        "networks: world, experience, opinion": networks,
    },
}


def rows(document: str) -> list[list[str]]:
    """The cells of a document's table, without its head."""
    text = PAGE.read_text("utf-8").partition(f"\n## {document}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_row_has_a_switch_a_figure_and_a_test(document: str) -> None:
    table = rows(document)
    assert [row[0] for row in table] == list(ROWS[document])
    assert all(switch and worth for _, switch, worth in table)


@pytest.mark.parametrize(
    ("document", "row"), [(document, row) for document in DOCUMENTS for row in ROWS[document]]
)
def test_the_switch_of_a_row_has_its_effect(
    document: str,
    row: str,
    shared: Bank,
    server: ScriptedServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    ROWS[document][row](Given(shared, server, monkeypatch, tmp_path))
