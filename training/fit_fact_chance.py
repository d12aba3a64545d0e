"""How likely a fact is right as a whole: fits the curve of `everwhen.write.extract.fact_chance`.

    python training/fit_fact_chance.py [--data FOLDER] [--write]

`fact_verdicts.json` says of facts that were found whether they are right: `y`; or what is wrong: the subject (`s`),
the status or time (`t`), the relation or the value (`r`); or that nobody would ever ask for it (`u`). Only `y`
is right. Facts and the sessions that they are of are named by checksums: LoCoMo, LongMemEval and the everyday talks
are read from the folder, and `talk/` is our own. Prints what becomes of talks that the curve was not fitted on, and of
whole sets. `--write` keeps the curve of all of them in the package. Takes ten minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import PackagedReader
from everwhen.models.embedder import shared_embedder
from everwhen.types import Message, Turn
from everwhen.write.extract import fact_chance
from everwhen.write.extract.base import BATCH_TURNS, OVERLAP_TURNS, Batch, ExtractedFact
from everwhen.write.extract.fact_chance import Evidence
from everwhen.write.extract.rule_extractor import RuleExtractor
from everwhen.write.extract.stated_facts import FactCandidate
from everwhen_bench.cases import cases
from written import read_bank

HERE = Path(__file__).parent
VERDICTS = HERE / "fact_verdicts.json"
OUT = Path(fact_chance.__file__).with_name("fact_chance.json")
LEAST = 0.5
"""The chance from which something is a fact."""
UNDECIDED = (0.3, 0.8)
"""The chances at a first look between which a second one follows: beyond them it changes nothing."""
FOLDS = 5
RIDGE, RIDGE_OF_A_DIMENSION = 6.0, 2000.0
"""How much weights are held near 0; of the 384 dimensions each tells little."""
FEW = 8
"""Facts in which a sign must be found to have a weight."""

Sessions = dict[str, list[Turn]]


class Judged(NamedTuple):
    """A fact with a verdict."""

    conversation: str
    chance: float
    """Of relation and value, as the reader has it."""
    evidence: Evidence
    verdict: str


class Collecting(RuleExtractor):
    """Keeps what may be facts instead of judging it."""

    def __init__(self, reader: PackagedReader) -> None:
        super().__init__(reader)
        self.told: list[FactCandidate] = []

    def _likely(self, told: Sequence[FactCandidate]) -> list[ExtractedFact]:
        self.told += told
        return []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    judged = list(read(given.data))
    report(judged)
    if given.write:
        write(judged)


def read(data: Path) -> Iterator[Judged]:
    """The judged facts, found again."""
    held = json.loads(VERDICTS.read_text())
    reader, sessions, verdicts = PackagedReader(), set(held["sessions"]), held["facts"]
    for name, conversation, talk in _conversations(data):
        extractor = Collecting(reader)
        for session in talk.values():
            if checksum(name, conversation, session[0].session) not in sessions:
                continue
            for first in range(0, len(session), BATCH_TURNS):
                before = session[max(0, first - OVERLAP_TURNS) : first]
                extractor.extract(
                    Batch(session[0].session, tuple(session[first : first + BATCH_TURNS]), tuple(before))
                )
        told = [one for one in extractor.told if key(name, conversation, one) in verdicts]
        found = fact_chance.evidence(reader, shared_embedder(fact_chance.EMBEDDER), told)
        for one, evidence in zip(told, found, strict=True):
            verdict = verdicts[key(name, conversation, one)]
            yield Judged(f"{name} {conversation}", one.stated.chance, evidence, verdict)
        if told:
            print(f"{name} {conversation}: {len(told)} found again", flush=True)


def key(name: str, conversation: str, one: FactCandidate) -> str:
    """What names a fact in the file of verdicts: without its words."""
    fact, place = one.fact, "-".join(map(str, one.stated.place))
    said = (fact.subject, fact.predicate, fact.object, fact.status, str(fact.valid))
    return checksum(name, conversation, one.turn.id, place, *said)


def checksum(*words: str) -> str:
    return hashlib.blake2b("|".join(words).encode(), digest_size=8).hexdigest()


def _conversations(data: Path) -> Iterator[tuple[str, str, Sessions]]:
    for case in cases(data / "data" / "locomo_dev.json"):
        yield "locomo", case.name, _sessions(case.messages)
    known: set[str] = set()
    for case in cases(data / "data" / "longmemeval_pool_dev.json.xz"):
        for name, session in _sessions(case.messages).items():
            if name not in known:
                known.add(name)
                yield "longmemeval", name, {name: session}
    for talk in json.loads((data / "everyday" / "dev.json").read_text()):
        messages = [
            Message(
                one["content"], one["role"], one.get("name"), datetime.fromisoformat(one["at"]), None,
                f"{talk['id']}-{number}", one["session"],
            )
            for number, one in enumerate(talk["messages"])
        ]  # fmt: skip
        yield "everyday", talk["id"], _sessions(messages)
    for path in sorted((HERE / "talk").glob("*.txt")):
        bank, _, _ = read_bank(path)
        yield "talk", path.stem, _talk(path.stem, bank["sessions"])


def _talk(name: str, sessions: Sequence[dict[str, object]]) -> Sessions:
    messages = [
        Message(
            text, "assistant" if speaker == "assistant" else "user", speaker,
            datetime.fromisoformat(str(session["at"])).replace(tzinfo=UTC), None, None, f"s{number}",
        )
        for number, session in enumerate(sessions, 1)
        for speaker, text in session["turns"]  # type: ignore[attr-defined]
    ]  # fmt: skip
    return _sessions(
        [
            Message(one.text, one.role, one.name, one.said_at, None, f"{name}-{number}", one.session)
            for number, one in enumerate(messages)
        ]
    )


def _sessions(messages: Sequence[Message]) -> Sessions:
    found: Sessions = defaultdict(list)
    for number, one in enumerate(messages):
        assert one.said_at is not None
        found[str(one.session)].append(
            Turn(
                str(one.id), str(one.session), number, one.role, one.name or one.role, one.text, one.said_at, "UTC",
                one.said_at,
            )
        )  # fmt: skip
    return found


class Fitted(NamedTuple):
    """The weights of the signs that were found often enough, those of the dimensions (none at a first look), and the
    constant."""

    names: list[str]
    signs: NDArray[np.float64]
    dimensions: NDArray[np.float64]
    bias: float

    def chances(self, judged: Sequence[Judged]) -> NDArray[np.float64]:
        x = matrix(judged, self.names, bool(len(self.dimensions)))
        odds: NDArray[np.float64] = x @ np.r_[self.signs, self.dimensions] + self.bias
        return np.asarray(1 / (1 + np.exp(-odds)))


def fit(judged: Sequence[Judged], *, second: bool) -> Fitted:
    """A logistic curve by Newton's method, for the first look or the second."""
    names = [one for one in told_often(judged) if second or not one.startswith("asked")]
    x = np.column_stack([matrix(judged, names, second), np.ones(len(judged))])
    right = np.array([one.verdict == "y" for one in judged])
    ridge = np.full(x.shape[1], RIDGE)
    ridge[len(names) : -1] = RIDGE_OF_A_DIMENSION
    ridge[-1] = 1e-6
    w = np.zeros(x.shape[1])
    for _ in range(20):
        p = 1 / (1 + np.exp(-x @ w))
        gradient = x.T @ (right - p) - ridge * w
        w = w + np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(ridge), gradient)
    return Fitted(names, w[: len(names)], w[len(names) : -1], float(w[-1]))


def matrix(judged: Sequence[Judged], names: Sequence[str], second: bool) -> NDArray[np.float64]:
    signs = np.array([[one.evidence.signs.get(name, 0.0) for name in names] for one in judged])
    return np.column_stack([signs, [one.evidence.agreement for one in judged]]) if second else signs


def told_often(judged: Sequence[Judged]) -> list[str]:
    """The signs that are found often enough."""
    counts: dict[str, int] = defaultdict(int)
    for one in judged:
        for name, value in one.evidence.signs.items():
            counts[name] += value != 0
    return [name for name, count in counts.items() if count >= FEW]


def report(judged: Sequence[Judged]) -> None:
    conversations = sorted({one.conversation for one in judged})
    np.random.default_rng(0).shuffle(conversations)
    fold = {name: str(number % FOLDS) for number, name in enumerate(conversations)}
    right = np.array([one.verdict == "y" for one in judged])
    sets = np.array([one.conversation.split()[0] for one in judged])
    told = {
        "the reader's": np.array([one.chance for one in judged]),
        "as a whole, conversations left out": held_out(judged, [fold[one.conversation] for one in judged]),
        "as a whole, sets left out": held_out(judged, sets.tolist()),
    }
    for name, chances in told.items():
        of_sets = {
            str(one): round(area(chances[sets == one], right[sets == one]), 3) for one in np.unique(sets)
        }
        print(f"{name}: AUROC {area(chances, right):.3f}", of_sets)
        for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            kept = chances >= least
            print(f"  from {least}: {kept.sum()} kept, {right[kept].sum()} right, {right[kept].mean():.3f}")


def held_out(judged: Sequence[Judged], folds: Sequence[str]) -> NDArray[np.float64]:
    """The chance of each fact by curves that were fitted on the other folds."""
    found = np.zeros(len(judged))
    for left in set(folds):
        out = np.array([one == left for one in folds])
        rest = [one for one, left_out in zip(judged, out, strict=True) if not left_out]
        these = [one for one, left_out in zip(judged, out, strict=True) if left_out]
        first, second = (fit(rest, second=one).chances(these) for one in (False, True))
        found[out] = np.where((UNDECIDED[0] <= first) & (first < UNDECIDED[1]), second, first)
    return found


def area(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """AUROC; equal scores count half."""
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(many) - (many - 1) / 2)[place]
    n = int(right.sum())
    return float((ranks[right].sum() - n * (n + 1) / 2) / (n * (len(right) - n)))


def write(judged: Sequence[Judged]) -> None:
    held = {
        "from": "training/fit_fact_chance.py",
        "facts": len(judged),
        "least": LEAST,
        "undecided": list(UNDECIDED),
        **{name: _curve(fit(judged, second=name == "second")) for name in ("first", "second")},
    }
    OUT.write_text(json.dumps(held, indent=1) + "\n")


def _curve(fitted: Fitted) -> dict[str, object]:
    weights = zip(fitted.names, fitted.signs, strict=True)
    return {
        "bias": round(fitted.bias, 4),
        "weights": {name: round(float(one), 3) for name, one in weights},
        "agreement": [round(float(one), 4) for one in fitted.dimensions],
    }


if __name__ == "__main__":
    main()
