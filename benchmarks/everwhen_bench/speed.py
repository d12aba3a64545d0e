"""Speed and size, as a user meets them: add, ingest, recall, opening, memory and disk.

The bank that is measured is synthetic: a Zipf vocabulary for the words, and for the vectors mixtures of real
sentence vectors with noise, since embedding a hundred thousand texts would take longer than all the rest.
Turns are linked as extraction links them (near in time, near in meaning, by the names they mention), so that the bank
is as large as a real one and the temporal channel has links to follow. What is timed is real: the default embedder, the
default recipe, durable writes. Extraction is left out: it follows on a worker of its own.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.api.memory import DEFAULT_EMBEDDER, Memory
from everwhen.models.comparison import PackagedReader, open_reader
from everwhen.models.embedder import CONVERSATION_FOLDER, Embedder, gives_tokens, normalised, open_embedder
from everwhen.settings import Settings
from everwhen.settings import load as load_settings
from everwhen.store.banks import Banks, open_banks
from everwhen.store.rows import Mention, Moment, NewTurn
from everwhen.store.sql.store import Store
from everwhen.types import Recall, Turn
from everwhen.types.recall import MID, Recipe
from everwhen.write.links import link_in_meaning, link_in_time, similar_among
from everwhen_bench.environment import with_benches
from everwhen_bench.installed import installed
from everwhen_bench.metrics import percentile

START = datetime(2022, 1, 1, tzinfo=UTC)
ADDS = 60
RECALLS = 200
INGEST = 600
POOL = 256
"""Real sentences whose vectors the synthetic ones are mixed from."""
NAMED = 12
"""Turns that mention one name: what is named more often than `entity_fan_out` is not followed anyway."""
BATCH = 2048
WARM = 5
SPEAKERS = ("Ana", "Ben")
BANK = "speed"
UNREAD = MID.without("read")
LOW = Recipe.of(Settings(), "low", Settings().candidates["low"])


def run(units: int, progress: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Build a bank of so many units and measure it, in a temporary folder."""
    chance = random.Random(7)
    words = vocabulary(chance)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        disk = build(open_banks(home), units, words, chance, progress)
        opened = _in_new_process(home)
        with Memory.open(home, BANK, cache_entries=0, extract="none") as memory:
            asked = questions(units, chance)
            default, unread, low = Timings(), Timings(), Timings()
            embedding: list[float] = []
            for question in asked:  # turn by turn, so that a busy moment of the machine meets all
                default.time(memory, question, MID)
                unread.time(memory, question, UNREAD)
                low.time(memory, question, LOW)
                embedding.append(_embedding_ms(memory, question))
            add_ms = adds(memory, words, chance)
        ingest, own = _ingest(home, words, chance)
    return {
        "units": units,
        "add_ms_p50": percentile(add_ms, 50),
        "add_ms_p95": percentile(add_ms, 95),
        "ingest_per_s": ingest,
        "embedder_per_s": own,
        "ingest_share_of_embedder": ingest / own,
        "recall_ms": percentiles(default.whole),
        "recall_unread_ms": percentiles(unread.whole),
        "recall_low_ms": percentiles(low.whole),
        "question_ms": percentile(embedding[WARM:], 50),
        "multiples": _multiples(
            percentile(embedding[WARM:], 50),
            {"recall": default.whole, "without the reader": unread.whole, "low": low.whole, "add": add_ms},
        ),
        "stages_ms": {stage: statistics.median(times) for stage, times in default.stages.items()},
        "stages": {"mid": default.table(), LOW.name: low.table()},
        "found": default.mean_found(),
        "open_s": opened["open_s"],
        "rss_mb": opened["rss_mb"],
        "disk_mb": disk / 1e6,
        "bytes_per_unit": disk / units,
        **installed(),
        "recipe": "mid",
    }


def _embedding_ms(memory: Memory, question: str) -> float:
    """One question, embedded alone: what times of other machines can be compared by."""
    embedder = memory._bank.plain_embedder
    start = perf_counter()
    if gives_tokens(embedder):
        embedder.embed_question(question)
    else:
        embedder.embed([question])
    return (perf_counter() - start) * 1000


def _multiples(one: float, times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Medians as multiples of the median time that a question's embedding takes, in the same run."""
    return {name: percentile(several, 50) / one for name, several in times.items()}


def opening(home: str) -> None:
    """In a process of its own: how long the first recall of a bank takes, and the memory at its peak."""
    import resource

    start = perf_counter()
    with Memory.open(home, BANK, cache_entries=0, extract="none") as memory:
        memory.recall("what did we say about the garden")
        seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps({"open_s": seconds, "rss_mb": peak}))


def build(
    banks: Banks,
    units: int,
    words: list[str],
    chance: random.Random,
    progress: Callable[[int], None] | None,
    bank: str = BANK,
) -> int:
    """Make the bank that is measured; how many bytes it takes."""
    embedder = open_embedder(DEFAULT_EMBEDDER)
    pool, codes = _pool(embedder, _pool_sentences())
    noise = np.random.default_rng(7)
    store = banks.open(bank, embedder=DEFAULT_EMBEDDER, dimension=embedder.dim, zone="UTC")
    try:
        names: list[tuple[int, str]] = []
        for first in range(0, units, BATCH):
            count = min(BATCH, units - first)
            vectors = _mixtures(pool, count, noise)
            turns = list(_turns(first, count, words, chance))
            store.append(
                [
                    NewTurn(
                        turn,
                        vectors[i : i + 1],
                        store.info.model,
                        context=turn.text[-80:],
                        codes=codes[i % len(codes)],
                    )
                    for i, turn in enumerate(turns)
                ]
            )
            _link(store, turns, vectors, names, words, chance)
            if progress:
                progress(first + count)
        return store.stats().bytes
    finally:
        store.close()


def _link(
    store: Store,
    turns: Sequence[Turn],
    vectors: NDArray[np.float32],
    names: list[tuple[int, str]],
    words: Sequence[str],
    chance: random.Random,
) -> None:
    """What extraction would write for these turns: neighbours in time, neighbours in meaning, a name each, new ones
    among them."""
    with store.graph.writing(store.info.model) as write:
        new = max(1, len(turns) // NAMED)
        for place in range(len(names), len(names) + new):
            name = f"{words[place % len(words)]} {place}".title()
            names.append((write.add_entity(name, "PERSON"), name))
        known = write.unit_of_turns([turn.id for turn in turns])
        units = [known[turn.id] for turn in turns]
        placed = zip(units, turns, strict=True)
        write.add_to_timeline([Moment(unit, "turn", turn.said_at) for unit, turn in placed])
        write.mention([Mention(unit, *chance.choice(names[-new:]), "PERSON") for unit in units])
        link_in_time(write, units)
        link_in_meaning(
            write, dict(zip(units, similar_among(units, vectors, store.info.embedder), strict=True))
        )


def _pool(embedder: Embedder, texts: list[str]) -> tuple[NDArray[np.float32], list[bytes]]:
    """Real vectors, and the real codes of their words."""
    if gives_tokens(embedder):
        return embedder.embed_with_codes(texts)
    return embedder.embed(texts), [b""]


def _turns(first: int, count: int, words: list[str], chance: random.Random) -> Iterator[Turn]:
    for i in range(first, first + count):
        said = START + timedelta(minutes=10 * i)
        yield Turn(
            id=f"u{i}",
            session=f"s{i // 20}",
            seq=0,
            role="user" if i % 2 == 0 else "assistant",
            speaker=SPEAKERS[i % 2],
            text=_sentence(words, chance),
            said_at=said,
            zone="UTC",
            recorded_at=said,
            tokens=30,
            segment=f"x{i // 2}",
        )


def _mixtures(pool: NDArray[np.float32], count: int, noise: np.random.Generator) -> NDArray[np.float32]:
    picks = noise.integers(0, len(pool), (count, 2))
    mixed = pool[picks[:, 0]] + pool[picks[:, 1]] + 0.03 * noise.standard_normal((count, pool.shape[1]))
    return normalised(mixed.astype(np.float32))


def adds(memory: Memory, words: list[str], chance: random.Random) -> list[float]:
    """A single durable `add` of one exchange, embedding included."""
    times = []
    for i in range(ADDS):
        exchange = [
            {"role": "user", "content": _sentence(words, chance)},
            {"role": "assistant", "content": _sentence(words, chance)},
        ]
        start = perf_counter()
        memory.add(exchange, session=f"live{i // 8}")
        times.append((perf_counter() - start) * 1000)
    return times[5:]


def questions(units: int, chance: random.Random) -> list[str]:
    """Half of a sentence that the bank's vectors are mixed from, asked of one speaker; every fourth names a month."""
    out = []
    for i in range(WARM + RECALLS):
        words = chance.choice(_pool_sentences()).split()
        about = " ".join(words[: len(words) // 2])
        month = START + timedelta(minutes=10 * chance.randrange(units))
        when = f" in {month:%B %Y}" if i % 4 == 0 else ""
        out.append(f"what did {SPEAKERS[i % 2]} say{when} about {about}")
    return out


@dataclass(slots=True)
class Timings:
    """Recalls by one recipe: how long each took, and where the time went."""

    whole: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)
    found: dict[str, list[int]] = field(default_factory=dict)
    calls: int = 0

    def time(self, memory: Memory, question: str, recipe: Recipe) -> Recall:
        """Recall, and note how long it took; the first ones only warm up."""
        reader = open_reader(Settings().reader)
        if isinstance(reader, PackagedReader):
            reader.read_anew()
        start = perf_counter()
        recalled = memory.recall(question, recipe=recipe)
        ms = (perf_counter() - start) * 1000
        self.calls += 1
        if self.calls <= WARM:
            return recalled
        self.whole.append(ms)
        self.other.append(max(0.0, ms - sum(recalled.trace["stages_ms"].values())))
        for stage, took in recalled.trace["stages_ms"].items():
            self.stages.setdefault(stage, []).append(took)
        for channel, count in recalled.trace["found"].items():
            self.found.setdefault(channel, []).append(count)
        return recalled

    def table(self) -> dict[str, dict[str, float]]:
        """Each stage over the recalls in which it ran; `share` is its sum over that of all recalls.

        Meaning and words are searched side by side, and both count. `other` is what no stage counts.
        """
        whole = sum(self.whole)
        stages = self.stages | {"other": self.other}
        out = {stage: {**percentiles(times), "share": sum(times) / whole} for stage, times in stages.items()}
        return dict(sorted(out.items(), key=lambda item: -item[1]["share"]))

    def mean_found(self) -> dict[str, float]:
        """What each channel brought, where it was asked: that none was idle."""
        return {channel: statistics.mean(counts) for channel, counts in self.found.items()}


def _ingest(home: Path, words: list[str], chance: random.Random) -> tuple[float, float]:
    """Turns a second through `add_many`, and what the embedder alone would do in the same run.

    Both come from one run, since a machine's speed changes from one to the next. The embedder alone makes
    sentence vectors only: what token vectors cost is a cost of ingesting.
    """
    messages = [
        {"role": ("user", "assistant")[i % 2], "content": _sentence(words, chance), "session": f"s{i // 20}"}
        for i in range(INGEST)
    ]
    embedder = Timed(open_embedder(DEFAULT_EMBEDDER))
    store = open_banks(home).open("ingest", embedder=DEFAULT_EMBEDDER, dimension=embedder.dim, zone="UTC")
    with Memory(store, embedder, load_settings(extract="none")) as memory:
        memory.add("warm up", session="warm")
        embedder.seconds = embedder.again = 0.0
        start = perf_counter()
        memory.add_many(messages)
        whole = perf_counter() - start - embedder.again
    return INGEST / whole, INGEST / embedder.seconds


class Timed:
    """An embedder that says how long it would take for sentence vectors alone."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name, self.dim = inner.name, inner.dim
        self.code_format = inner.code_format if gives_tokens(inner) else b""
        self.seconds = 0.0
        self.again = 0.0
        """What of the time was spent only to measure."""

    def pieces(self, text: str) -> list[str]:
        return self._inner.pieces(text)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        start = perf_counter()
        try:
            return self._inner.embed(texts)
        finally:
            self.seconds += perf_counter() - start

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[NDArray[np.float32], list[bytes]]:
        if not gives_tokens(self._inner):
            return self.embed([*texts, *plain]), [b""] * len(texts)
        before = self.seconds
        self.embed([*texts, *plain])
        self.again += self.seconds - before
        return self._inner.embed_with_codes(texts, plain)


def _in_new_process(home: Path) -> dict[str, float]:
    code = f"from everwhen_bench.speed import opening; opening({str(home)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=with_benches()
    )
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def percentiles(times: list[float]) -> dict[str, float]:
    return {f"p{p}": percentile(times, p) for p in (50, 95, 99)}


@cache
def _pool_sentences() -> list[str]:
    chance = random.Random(11)
    words = vocabulary(chance)
    return [_sentence(words, chance) for _ in range(POOL)]


def vocabulary(chance: random.Random) -> list[str]:
    """Ordinary English words: the whole words that the packaged tokenizer knows, in an order of our own."""
    known = json.loads((CONVERSATION_FOLDER / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = sorted(word for word in known if word.isascii() and word.isalpha() and len(word) > 3)
    chance.shuffle(words)
    return words


def _content(words: list[str], chance: random.Random, count: int) -> list[str]:
    """Words by Zipf's law: the word of rank r with a weight of 1 / r."""
    return [words[min(int(len(words) ** chance.random()), len(words)) - 1] for _ in range(count)]


def _sentence(words: list[str], chance: random.Random) -> str:
    """About thirty tokens: function words between content words, as in speech."""
    glue = ("the", "and", "of", "to", "I", "was", "with", "it", "for", "that")
    out = []
    for word in _content(words, chance, chance.randint(10, 18)):
        out += [chance.choice(glue), word]
    return " ".join(out)
