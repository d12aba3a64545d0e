"""Step 4, assemble: everything that the networks learn from, as arrays of tokens.

    python training/assemble.py --tokenizer tokenizer.json --train FOLDER --made banks.json.gz written.json.gz \
        --questions questions.json.gz --kept kept.json.gz --statuses statuses.json.gz --out data.npz [--small]

`--train` is the folder with the public material. What is written by hand, conversations and statuses, is read from
where it lies. A turn is `speaker: text` with the end of the turn before it. A
question has its bank, the turns that answer it, the place of its answer in the first of them, and how far it is
trusted: written by hand, kept by the filter, or neither (the teacher judges those before they are learned from).
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from banks import clean, read_json
from facts import Row, rows_of, value_place
from filter import f1
from written import RELATIONS, STATUSES, read_all

OWN, BEFORE, ASKED = 96, 32, 40
"""Tokens of a turn, of the turn before it, and of a question."""
KINDS = ("span", "yes", "no", "none")
LEAKED = ("copper pan", "tess", "rowing, judo", "ghent", "tabby")
"""Words of the examples in the prompts, which a small model likes to repeat."""
BY_HAND, FILTERED, RAW = 0, 1, 2
BY_HAND_TIMES = 4
"""How often a status that is written by hand counts beside one that is composed from patterns."""
_YES_OR_NO = re.compile(r"(?:probably |most likely |likely )?(yes|no|not)(?:$|[,.;:])")
WRITTEN_STATUSES = Path(__file__).with_name("statuses_written.json")


@dataclass
class Data:
    """Growing lists; `pack` makes arrays of them."""

    tokenizer: Tokenizer
    own: list[list[int]] = field(default_factory=list)
    before: list[list[int]] = field(default_factory=list)
    bank_of: list[int] = field(default_factory=list)
    banks: int = 0
    asked: list[list[int]] = field(default_factory=list)
    bank: list[int] = field(default_factory=list)
    right: list[list[int]] = field(default_factory=list)
    span: list[tuple[int, int]] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    trust: list[int] = field(default_factory=list)
    first_of_session: list[int] = field(default_factory=list)
    told: list[tuple[int, int, tuple[int, int]]] = field(default_factory=list)
    """A turn, the number of a relation that it tells, and where the value stands."""
    noted: list[int] = field(default_factory=list)
    """Turns whose facts were all noted."""
    facts: list[Row] = field(default_factory=list)
    renewed: list[tuple[list[int], int, int, bool]] = field(default_factory=list)
    """A question, an earlier and a later turn, and whether the later one replaces what the earlier one says."""

    def add_bank(self, sessions: Iterable[Sequence[Sequence[str]]]) -> list[list[int]]:
        """The number of each turn, by session and place."""
        numbers: list[list[int]] = []
        for turns in sessions:
            numbers.append([])
            previous = ""
            for place, (speaker, text) in enumerate(turns):
                line = f"{speaker}: {text}"
                numbers[-1].append(len(self.own))
                self.own.append(self._ids(line)[:OWN])
                self.before.append(self._ids(previous)[-BEFORE:] if previous else [])
                self.bank_of.append(self.banks)
                self.first_of_session.append(int(place == 0))
                previous = line
        self.banks += 1
        return numbers

    def add_question(
        self, text: str, right: list[int], line: str, answer: str, kind: str, status: str, trust: int
    ) -> None:
        self.asked.append(self._ids(text)[:ASKED])
        self.bank.append(self.bank_of[right[0]])
        self.right.append(right)
        span = self._span(line, answer) if kind == "span" else None
        self.span.append(span or (-1, -1))
        self.kind.append(KINDS.index(kind))
        self.status.append(STATUSES.index(status) if status else -1)
        self.trust.append(trust)

    def add_each(
        self, text: str, right: list[int], line: str, answer: str, kind: str, status: str, trust: int
    ) -> None:
        """The question once for each turn that answers it, that one first: the networks learn to find the first.

        `line`, `answer` and `status` are those of the first turn. For a question that nothing answers these are turns
        that come near.
        """
        self.add_question(text, right, line, answer, kind, status, trust)
        if kind in ("span", "none"):
            for place in range(1, len(right)):
                self.add_question(text, [*right[place:], *right[:place]], "", "", kind, "", trust)

    def add_renewals(self, renewals: Sequence[dict[str, Any]], numbers: Sequence[Sequence[int]]) -> None:
        """What replaced what; and what came later, and replaced nothing."""
        for one in renewals:
            asked = self._ids(one["question"])[:ASKED]
            holds, older, others = (
                [numbers[s][t] for s, t in one[name]] for name in ("holds", "older", "others")
            )
            self.renewed += [(asked, early, late, True) for early in older for late in holds]
            self.renewed += [
                (asked, early, late, False) for early in (*holds, *older) for late in others if late > early
            ]

    def add_facts(
        self, bank: dict[str, Any], numbers: Sequence[Sequence[int]], chance: random.Random
    ) -> None:
        """What the turns of a bank tell, where that was noted."""
        if not bank.get("facts"):
            return
        self.noted += [number for session in numbers for number in session]
        names = list(RELATIONS)
        for fact in (*bank["facts"], *bank.get("told too", ())):
            s, t = fact["place"]
            speaker, text = bank["sessions"][s]["turns"][t]
            span = self._tokens(f"{speaker}: {text}", value_place(fact, speaker, text))
            if span is not None:
                self.told.append((numbers[s][t], names.index(fact["relation"]), span))
        self.facts += rows_of(bank, chance)

    def add_list(self, text: str, right: Sequence[int]) -> None:
        """Parts of one answer: a later one adds to the earlier ones and replaces none."""
        asked, ordered = self._ids(text)[:ASKED], sorted(right)
        self.renewed += [(asked, early, late, False) for early, late in pairwise(ordered)]

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def _span(self, line: str, answer: str) -> tuple[int, int] | None:
        """First and last token of the answer in its turn."""
        start = line.lower().find(answer.lower().strip(" .")) if answer.strip(" .") else -1
        return self._tokens(line, (start, start + len(answer.strip(" .")))) if start >= 0 else None

    def _tokens(self, line: str, place: tuple[int, int]) -> tuple[int, int] | None:
        """First and last token of some characters of a turn."""
        start, end = place
        offsets = self.tokenizer.encode(line, add_special_tokens=False).offsets[:OWN]
        inside = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
        return (inside[0], inside[-1]) if inside and offsets[inside[-1]][1] >= end else None

    def pack(self) -> dict[str, np.ndarray]:
        return {
            **ragged("own", self.own), **ragged("before", self.before), **ragged("asked", self.asked),
            **ragged("right", self.right, np.int32),
            "bank_of": np.array(self.bank_of, np.int32), "bank": np.array(self.bank, np.int32),
            "first_of_session": np.array(self.first_of_session, np.int8),
            "span": np.array(self.span, np.int16), "kind": np.array(self.kind, np.int8),
            "status": np.array(self.status, np.int8), "trust": np.array(self.trust, np.int8),
            **ragged("renew.asked", [asked for asked, *_ in self.renewed]),
            "renew.turns": np.array([(early, late) for _, early, late, _ in self.renewed], np.int32).reshape(-1, 2),
            "renew.renews": np.array([renews for *_, renews in self.renewed], np.int8),
            "tell.turn": np.array([turn for turn, *_ in self.told], np.int32),
            "tell.relation": np.array([relation for _, relation, _ in self.told], np.int16),
            "tell.span": np.array([span for *_, span in self.told], np.int16).reshape(-1, 2),
            "tell.noted": np.array(self.noted, np.int32),
            **ragged("tell.asked", [self._ids(asked)[:ASKED] for _, asked in relation_questions()]),
            "tell.of": np.array([number for number, _ in relation_questions()], np.int16),
        }  # fmt: skip


def relation_questions() -> list[tuple[int, str]]:
    """The number of a relation with each question that asks for it of anyone."""
    return [(number, asked) for number, one in enumerate(RELATIONS.values()) for asked in one.asks]


def ragged(name: str, rows: Sequence[Sequence[int]], dtype: Any = np.uint16) -> dict[str, np.ndarray]:
    """Lists of unequal length as one flat array and where each ends."""
    flat = np.fromiter((one for row in rows for one in row), dtype)
    return {f"{name}.flat": flat, f"{name}.ends": np.cumsum([len(row) for row in rows], dtype=np.int64)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--made", type=Path, nargs="+", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--statuses", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--small", action="store_true", help="1 in 120 of everything, 1 in 30 of what is by hand"
    )
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    data = Data(tokenizer)
    every = 120 if given.small else 1
    counts = {
        "by hand": add_by_hand(data, every),
        "given": add_given(data, given.train, every),
        "generated": add_generated(data, given.made, given.questions, given.kept, every),
    }
    by_hand = json.loads(WRITTEN_STATUSES.read_text(encoding="utf-8"))[:: max(1, every // 4)]
    statuses = read_json(given.statuses)[::every] + by_hand * BY_HAND_TIMES + data.facts
    np.savez_compressed(given.out, **data.pack(), **pack_statuses(data, statuses))
    print(
        counts,
        f"{len(data.own)} turns, {data.banks} banks, {len(data.asked)} questions, {len(statuses)} statuses, "
        f"{len(data.facts)} of them of {len(data.told)} facts, {len(data.renewed)} pairs of turns, "
        f"{sum(renews for *_, renews in data.renewed)} of them a renewal",
    )


def add_by_hand(data: Data, every: int) -> int:
    """The conversations of `training/written` with their questions."""
    before = len(data.asked)
    chance = random.Random(6)
    for bank, questions in list(read_all())[:: max(1, every // 4)]:
        numbers = data.add_bank([session["turns"] for session in bank["sessions"]])
        data.add_renewals(bank["renewals"], numbers)
        data.add_facts(bank, numbers, chance)
        for one in questions:
            right = [numbers[s][t] for s, t in one["places"]]
            if one["kind"] == "list":
                data.add_list(one["question"], right)
            s, t = one["places"][0]
            line = ": ".join(bank["sessions"][s]["turns"][t])
            data.add_each(
                one["question"], right, line, one["answer"], answered_by(one), one["status"], BY_HAND
            )
    return len(data.asked) - before


def answered_by(question: dict[str, Any]) -> str:
    """Which of `KINDS` answers it: yes and no may also be the answer to what follows from several turns."""
    if question["kind"] in ("yes", "no", "none"):
        return str(question["kind"])
    said = _YES_OR_NO.match(question["answer"].lower())
    return "span" if said is None else "yes" if said.group(1) == "yes" else "no"


def add_given(data: Data, folder: Path, every: int) -> int:
    """The questions that came with the public material: 12,284 by a small model, and those of FriendsQA."""
    before = len(data.asked)
    given = json.loads(lzma.decompress((folder / "questions.json.xz").read_bytes()))
    chosen = range(0, len(given["banks"]), every)
    said = {n: _cleaned(given["banks"][n]["sessions"], given["banks"][n]["names"]) for n in chosen}
    numbers = {n: data.add_bank(sessions) for n, sessions in said.items()}
    for one in given["questions"]:
        if one["bank"] not in numbers:
            continue
        speaker, text = said[one["bank"]][one["session"]][one["turn"]]
        if "[" in one["answer"] or "name?" in one["question"]:
            continue  # a placeholder of the source
        right = [numbers[one["bank"]][one["session"]][one["turn"]]]
        data.add_question(one["question"], right, f"{speaker}: {text}", one["answer"], "span", "", FILTERED)
    dialogues = json.loads(lzma.decompress((folder / "dialogues.json.xz").read_bytes()))
    shows = [one for one in dialogues if "qa" in one][::every]
    groups = [shows[start : start + 12] for start in range(0, len(shows), 12)]
    for group in groups:
        scenes = [[(who.split()[0], clean(text, [], who)) for who, text in one["turns"]] for one in group]
        places = data.add_bank(scenes)
        for one, turns, own in zip(group, scenes, places, strict=True):
            for question in one["qa"]:
                answers = [a for a in question["answers"] if 0 <= a["turn"] < len(turns)]
                if answers:
                    first = answers[0]
                    speaker, text = turns[first["turn"]]
                    right = sorted({own[a["turn"]] for a in answers}, key=lambda n: n != own[first["turn"]])
                    answer = clean(first["text"], [], speaker)
                    asked = clean(question["question"], [], speaker)
                    data.add_each(asked, right, f"{speaker}: {text}", answer, "span", "", BY_HAND)
    return len(data.asked) - before


def _cleaned(
    sessions: Sequence[Sequence[Sequence[str]]], names: Sequence[str]
) -> list[list[tuple[str, str]]]:
    return [[(who, clean(text, names, who)) for who, text in session] for session in sessions]


def add_generated(data: Data, made: Sequence[Path], questions: Path, kept: Path, every: int) -> int:
    """Every usable question of the language model; those that the filter did not keep are marked as raw.

    An answer is its words, or a `span` of characters of the first turn.
    """
    before = len(data.asked)
    banks = [bank for path in made for bank in read_json(path)]
    trusted = {one["id"] for one in read_json(kept)}
    chosen = [one for one in read_json(questions) if one["places"][0][0] % every == 0 and is_usable(one)]
    used = {one["places"][0][0] for one in chosen}
    numbers = {b: data.add_bank([s["turns"] for s in banks[b]["sessions"]]) for b in sorted(used)}
    for one in chosen:
        bank, s, t = one["places"][0]
        speaker, text = banks[bank]["sessions"][s]["turns"][t]
        right = [numbers[b][x][y] for b, x, y in one["places"]]
        kind = one["kind"] if one["kind"] in ("yes", "none") else "span"
        trust = FILTERED if one["id"] in trusted else RAW
        answer = one["answer"] if "answer" in one else text[slice(*one["span"])]
        data.add_each(one["question"], right, f"{speaker}: {text}", answer, kind, "", trust)
    return len(data.asked) - before


def is_usable(question: dict[str, Any]) -> bool:
    """Not an example repeated, and no `no`: what a small model calls one is seldom one."""
    text = f"{question['question']} {question.get('answer', '')}".lower()
    if question["kind"] == "no" or any(leaked in text.split() or leaked in text for leaked in LEAKED):
        return False
    return question["kind"] != "none" or f1(question["answer"], "not told") > 0


def pack_statuses(data: Data, statuses: Sequence[Row]) -> dict[str, np.ndarray]:
    """Question and turn with kind, span and status; these have no bank. An answer is its words or a place."""
    chance = random.Random(5)
    several = list(statuses)
    chance.shuffle(several)
    lines = [f"{one['speaker']}: {one['text']}" for one in several]
    spans = [
        (data._tokens(line, one["place"]) if "place" in one else data._span(line, one["answer"])) or (-1, -1)
        if one["kind"] == "span"
        else (-1, -1)
        for line, one in zip(lines, several, strict=True)
    ]
    return {
        **ragged("status.asked", [data._ids(one["question"])[:ASKED] for one in several]),
        **ragged("status.own", [data._ids(line)[:OWN] for line in lines]),
        **ragged("status.before", [data._ids(one.get("before", ""))[-BEFORE:] for one in several]),
        "status.span": np.array(spans, np.int16),
        "status.kind": np.array([KINDS.index(one["kind"]) for one in several], np.int8),
        "status.status": np.array(
            [STATUSES.index(one["status"]) if "status" in one else -1 for one in several], np.int8
        ),
    }


if __name__ == "__main__":
    main()
