"""Step 5c, tune: a reader of six layers learns more without forgetting; two CPU cores do it in an hour.

    python training/tune.py --data data.npz --judged judged.npz --reranker model.onnx --weights FOLDER --out FOLDER \
        [--seconds 2400] [--small]

The lower layers stay as they are; the two upper ones and the heads learn. Facts at a glance and noted facts are learned
from what was written; of questions, and of which turn renews another, the reader keeps its own judgement of before.
Where `--glance` names another reader's folder, its `tells` and `asks` are what it begins with.
"""

from __future__ import annotations

import argparse
import copy
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from corpus import Corpus, Rows, compose, joined, save, say, schedule
from networks import Reader, load_bert
from reader import OLDER, Glances, task_loss
from weights import from_onnx, saved

UPPER = 2
"""Layers that learn."""
TURNS, FACTS, QUESTIONS, RENEWALS = 48, 24, 12, 3
"""Of one step: noted turns, statuses, questions with three candidates each, and pairs of turns."""
TOGETHER = 6
GLANCE = 1.0
RATE, RATE_OF_HEADS = 5e-5, 5e-4


class Halves:
    """A reader in two parts: lower layers that are only used, and upper ones with the heads."""

    def __init__(self, network: Reader) -> None:
        self.network = network
        layers = list(network.bert.encoder.layer)
        self.lower, self.upper = layers[:-UPPER], layers[-UPPER:]
        for parameter in network.bert.parameters():
            parameter.requires_grad_(False)
        for layer in self.upper:
            layer.requires_grad_(True)

    @torch.no_grad()
    def below(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """Hidden states where the upper layers begin, without dropout."""
        self.network.eval()
        hidden = _through(self.lower, self.network.bert.embeddings(input_ids=ids, token_type_ids=types), mask)
        self.network.train()
        return hidden

    def above(self, hidden: Tensor, mask: Tensor) -> Tensor:
        return _through(self.upper, hidden, mask)


def _through(layers: list[torch.nn.Module], hidden: Tensor, mask: Tensor) -> Tensor:
    """Hidden states after some layers, a few texts of similar length at a time: padding costs as much as words do."""
    lengths = mask.sum(1)
    order = lengths.argsort()
    parts = []
    for rows in order.split(TOGETHER):
        width = int(lengths[rows].max())
        part, seen = hidden[rows, :width], torch.where(mask[rows, :width], 0.0, -1e9)[:, None, None, :]
        for layer in layers:
            part = layer(part, seen)
        parts.append(F.pad(part, (0, 0, 0, hidden.shape[1] - width)))
    return torch.cat(parts)[order.argsort()]


class Tuning:
    """One reader, what it judged before, and what it learns from."""

    def __init__(self, network: Reader, corpus: Corpus, near: Tensor, seed: int) -> None:
        self.now = Halves(network)
        self.before = Halves(copy.deepcopy(network))
        self.before.network.requires_grad_(False)
        self.corpus, self.near = corpus, near
        self.glances = Glances(corpus)
        self.statuses = tuple(Rows(corpus.data, f"status.{name}") for name in ("asked", "own", "before"))
        self.renewing = Rows(corpus.data, "renew.asked")
        self.pairs = torch.tensor(corpus.data["renew.turns"].astype(np.int64))
        self.chance = np.random.default_rng(seed)
        by_hand = np.flatnonzero(corpus.data["trust"] == 0)
        self.order = {
            "questions": _endless(by_hand, self.chance),
            "facts": _endless(np.arange(len(corpus.data["status.kind"])), self.chance),
            "noted": _endless(self.glances.noted, self.chance),
            "renewals": _endless(np.arange(len(self.pairs)), self.chance),
        }
        self._below: dict[tuple[int, bool], tuple[Tensor, int, int]] = {}

    def loss(self) -> dict[str, Tensor]:
        asked = self._next("questions", QUESTIONS)
        return {
            "glance": GLANCE * (self._noted() + self._asked(asked)),
            "facts": self._facts(),
            "kept": self._kept(asked),
            "renewals": self._renewals(),
        }

    def _next(self, name: str, count: int) -> Tensor:
        return torch.tensor([next(self.order[name]) for _ in range(count)])

    # ------------------------------------------------------------ at a glance

    def _noted(self) -> Tensor:
        """Noted turns beside a question of every relation."""
        glances, network = self.glances, self.now.network
        turns = self._next("noted", TURNS).tolist()
        hidden, mask, own, begin = self._of_turns(turns, bool(self.chance.random() < 0.5))
        drawn = [rows[int(self.chance.integers(len(rows)))] for rows in glances.by_relation]
        logits = network.glance(
            network.tells(self.now.above(hidden, mask)),
            self._questions(glances.asked.take(torch.tensor(drawn))),
        )
        wanted = torch.zeros_like(logits)
        for place, turn in enumerate(turns):
            for row in glances.facts.get(turn, []):
                for side in (0, 1):
                    at = int(begin[place] + glances.span[row, side])
                    wanted[place, glances.relation[row], at, side] = 1.0
        return glances._error(logits, wanted, own)

    def _asked(self, rows: Tensor) -> Tensor:
        """The right turns of questions, beside all of those."""
        spans = self.corpus.labels["span"][rows]
        rows, spans = rows[spans[:, 0] >= 0], spans[spans[:, 0] >= 0]
        if not len(rows):
            return spans.sum() * 0.0
        network = self.now.network
        hidden, mask, own, begin = self._of_turns(self.glances.first[rows].tolist(), True)
        logits = network.glance(
            network.tells(self.now.above(hidden, mask)), self._questions(self.corpus.asked.take(rows))
        )
        wanted = torch.zeros_like(logits)
        number = torch.arange(len(rows))
        for side in (0, 1):
            wanted[number, number, begin + spans[:, side], side] = 1.0
        banks = self.corpus.bank[rows]
        doubtful = (banks[:, None] == banks[None]) & ~torch.eye(len(rows), dtype=torch.bool)
        return self.glances._error(logits, wanted, own, ~doubtful)

    def _questions(self, asked: tuple[Tensor, Tensor]) -> Tensor:
        ids, _ = compose([asked])
        below = self.now.below(ids, ids != 0, torch.zeros_like(ids))
        return self.now.network.asks(self.now.above(below, ids != 0)[:, 0])

    def _of_turns(self, turns: list[int], with_before: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Lower hidden states of turns without a question, their mask, which tokens are their own, and where those
        begin. What was computed once is kept."""
        missing = [turn for turn in turns if (turn, with_before) not in self._below]
        if missing:
            rows = torch.tensor(missing)
            own, before = self.corpus.own.take(rows), self.corpus.before.take(rows, 24)
            if not with_before:
                before = (before[0], torch.zeros_like(before[1]))
            nothing = (own[0][:, :1], torch.zeros_like(own[1]))
            ids, mask, types, begin = joined(nothing, before, own)
            below = self.now.below(ids, mask, types).half()
            for row, turn in enumerate(missing):
                count = int(mask[row].sum())
                self._below[turn, with_before] = below[row, :count].clone(), int(begin[row]), int(own[1][row])
        kept = [self._below[turn, with_before] for turn in turns]
        hidden = torch.nn.utils.rnn.pad_sequence([one[0].float() for one in kept], batch_first=True)
        columns = torch.arange(hidden.shape[1])
        lengths, begin, own_length = (
            torch.tensor(one) for one in zip(*((len(h), b, n) for h, b, n in kept), strict=True)
        )
        own_ = (columns >= begin[:, None]) & (columns < (begin + own_length)[:, None])
        return hidden, columns < lengths[:, None], own_, begin

    # ------------------------------------------------------------ with a question

    def _facts(self) -> Tensor:
        """Statuses and noted facts, as they were written."""
        rows = self._next("facts", FACTS)
        asked, own, before = (
            self.statuses[0].take(rows),
            self.statuses[1].take(rows),
            self.statuses[2].take(rows, 24),
        )
        ids, mask, types, begin = joined(asked, before, own)
        _, kind, status, span, _ = self.now.network.judge(
            self.now.above(self.now.below(ids, mask, types), mask)
        )
        of = {name: self.corpus.labels[f"status.{name}"][rows] for name in ("kind", "span", "status")}
        return F.cross_entropy(kind, of["kind"]) + task_loss(
            span, begin, mask, of["span"], status, of["status"]
        )

    def _kept(self, rows: Tensor) -> Tensor:
        """Questions with the right turn and two others: relevance, kind, status and span as they were."""
        others = 1 + torch.tensor(self.chance.integers(0, self.near.shape[1] - 1, (len(rows), 2)))
        told = torch.cat([self.near[rows, :1], self.near[rows].gather(1, others)], 1).reshape(-1)
        keep = torch.tensor(self.chance.random(len(told)) < 0.6).long()
        ids, mask, types, begin = self.corpus.pairs(rows[:, None].expand(-1, 3).reshape(-1), told, keep)
        (score, kind, status, span, _), before = self._both(ids, mask, types)
        own = mask & (torch.arange(ids.shape[1]) >= begin[:, None])
        loss = (
            0.5 * F.mse_loss(score, before[0]) + _towards(kind, before[1]) + 0.5 * _towards(status, before[2])
        )
        for side in (0, 1):
            now, then = (one[:, :, side].masked_fill(~own, -1e4)[::3] for one in (span, before[3]))
            loss = loss + 0.5 * _towards(now, then)
        return loss

    def _renewals(self) -> Tensor:
        rows = self._next("renewals", RENEWALS)
        early, late = self.pairs[rows].T
        ids, mask, types, _ = joined(
            self.renewing.take(rows), self.corpus.own.take(early, OLDER), self.corpus.own.take(late)
        )
        now, before = self._both(ids, mask, types)
        return 0.1 * F.mse_loss(now[4], before[4])

    def _both(
        self, ids: Tensor, mask: Tensor, types: Tensor
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        below = self.now.below(ids, mask, types)
        with torch.no_grad():
            self.before.network.eval()
            then = self.before.network.judge(self.before.above(below, mask))
        return self.now.network.judge(self.now.above(below, mask)), then


def _towards(now: Tensor, before: Tensor) -> Tensor:
    return F.kl_div(F.log_softmax(now, -1), F.softmax(before, -1), reduction="batchmean")


def _endless(rows: np.ndarray, chance: np.random.Generator) -> Iterator[int]:
    while True:
        yield from chance.permutation(rows).tolist()


def tune(tuning: Tuning, steps: int, seconds: float | None) -> None:
    network = tuning.now.network
    began = time.time()

    def done() -> float:
        return (time.time() - began) / seconds if seconds else 0.0

    heads = [p for n, p in network.named_parameters() if n.startswith(("tells", "asks"))]
    body = [p for p in network.parameters() if p.requires_grad and not any(p is one for one in heads)]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": RATE}, {"params": heads, "lr": RATE_OF_HEADS}], weight_decay=0.01
    )
    plan = schedule(optimizer, steps, done)
    total: dict[str, float] = {}
    for step in range(steps):
        if done() >= 1:
            say(f"stopped after {step} of {steps} steps: the time is over")
            break
        parts = tuning.loss()
        optimizer.zero_grad(set_to_none=True)
        torch.stack(list(parts.values())).sum().backward()
        torch.nn.utils.clip_grad_norm_([*body, *heads], 1.0)
        optimizer.step()
        plan.step()
        for name, one in parts.items():
            total[name] = total.get(name, 0.0) + float(one.detach())
        if step % 25 == 24:
            say(
                f"step {step + 1} of {steps},",
                ", ".join(f"{name} {one / 25:.3f}" for name, one in total.items()),
            )
            total = {}
    network.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("data", "judged", "reranker", "weights", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument(
        "--glance", type=Path, help="folder of a reader whose `tells` and `asks` are begun with"
    )
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seconds", type=float, help="stop then at the latest")
    given = parser.parse_args()
    torch.manual_seed(5)
    network = Reader(6)
    load_bert(network.bert, from_onnx(given.reranker), list(range(1, 12, 2)))
    state = network.state_dict()
    if given.glance:
        glance = saved(given.glance, "reader6")
        state |= {
            name: torch.tensor(one) for name, one in glance.items() if name.startswith(("tells", "asks"))
        }
    state |= {k: torch.tensor(v) for k, v in saved(given.weights, "reader6").items()}
    network.load_state_dict(state)
    near = torch.tensor(np.load(given.judged)["near"].astype(np.int64))
    tune(Tuning(network, Corpus(given.data), near, 5), given.steps, given.seconds)
    given.out.mkdir(parents=True, exist_ok=True)
    save(given.out, "reader6", network)


if __name__ == "__main__":
    main()
