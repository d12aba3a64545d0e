"""How a reader learns: relevance, kinds, spans and statuses; facts at a glance; which turn renews another."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from corpus import (
    DEVICE,
    SOFT,
    Corpus,
    Rows,
    amp,
    compose,
    joined,
    right_and_best,
    say,
    schedule,
    shuffled,
    trimmed,
)
from embedder import LIKELY, NEAR
from networks import Reader, load_bert

OLDER = 64
"""Tokens of an earlier turn that are read before the one that may replace it."""


def reader_loss(
    network: Reader,
    corpus: Corpus,
    rows: Tensor,
    told: Tensor,
    target: Tensor | None,
    chance: torch.Generator,
) -> Tensor:
    """Questions with their candidates (the first is right, unless the kind is none), several tasks at once."""
    count, width = told.shape
    asked = rows[:, None].expand(-1, width).reshape(-1)
    keep = (torch.rand(count * width, generator=chance, device=DEVICE) < 0.6).long()
    ids, mask, types, begin = corpus.pairs(asked, told.reshape(-1), keep)
    score, kind, status, span, _ = trimmed(network, ids, mask, types)
    score, kind = score.float().view(count, width), kind.float().view(count, width, -1)
    kinds = corpus.labels["kind"][rows]
    answered = kinds != 3
    is_right = torch.zeros_like(score)
    is_right[:, 0] = answered.float()
    loss = F.binary_cross_entropy_with_logits(score, is_right, pos_weight=torch.tensor(3.0, device=DEVICE))
    if answered.any():
        loss = loss + F.cross_entropy(
            score[answered], torch.zeros(int(answered.sum()), dtype=torch.int64, device=DEVICE)
        )
    if target is not None:
        loss = (
            loss
            + 0.5 * F.mse_loss(score, target)
            + F.kl_div(F.log_softmax(score / SOFT, -1), F.softmax(target / SOFT, -1), reduction="batchmean")
        )
    wanted = torch.full((count, width), 3, dtype=torch.int64, device=DEVICE)
    wanted[:, 0] = kinds
    loss = loss + 0.5 * F.cross_entropy(kind.reshape(-1, 4), wanted.reshape(-1))
    first = torch.arange(0, count * width, width, device=DEVICE)
    spans, statuses = corpus.labels["span"][rows], corpus.labels["status"][rows]
    return loss + task_loss(
        span[first].float(), begin[first], mask[first], spans, status[first].float(), statuses
    )


def task_loss(
    span: Tensor, begin: Tensor, mask: Tensor, places: Tensor, status: Tensor, statuses: Tensor
) -> Tensor:
    """Spans and statuses, where they are known."""
    loss = span.sum() * 0.0
    has = places[:, 0] >= 0
    if has.any():
        columns = torch.arange(span.shape[1], device=DEVICE)
        allowed = mask & (columns >= begin[:, None])
        for side in (0, 1):
            logits = span[:, :, side].masked_fill(~allowed, -1e4)
            loss = loss + 0.5 * F.cross_entropy(logits[has], (begin + places[:, side])[has])
    known = statuses >= 0
    if known.any():
        loss = loss + 0.5 * F.cross_entropy(status[known], statuses[known])
    return loss


def status_loss(network: Reader, corpus: Corpus, statuses: tuple[Rows, Rows, Rows], rows: Tensor) -> Tensor:
    """Turns by themselves: kind, span and status of what is said, no relevance."""
    asked, own, before = statuses[0].take(rows), statuses[1].take(rows), statuses[2].take(rows, 24)
    ids, mask, types, begin = joined(asked, before, own)
    _, kind, status, span, _ = trimmed(network, ids, mask, types)
    of = {name: corpus.labels[f"status.{name}"][rows] for name in ("kind", "span", "status")}
    return F.cross_entropy(kind.float(), of["kind"]) + task_loss(
        span.float(), begin, mask, of["span"], status.float(), of["status"]
    )


class Glances:
    """Turns without a question, all of whose facts are known, beside the questions of all relations; and turns of the
    questions at hand beside all of those."""

    WORTH, QUIET = 1.0, 0.1
    """What all of it counts beside the other losses; and, in it, the tokens of a turn that tell nothing."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        data = corpus.data
        self.asked = Rows(data, "tell.asked")
        self.of = data["tell.of"].astype(np.int64)
        self.by_relation = [np.flatnonzero(self.of == n) for n in np.unique(self.of)]
        self.first = torch.tensor([int(one[0]) for one in corpus.right]).to(DEVICE)
        self.noted = data["tell.noted"].astype(np.int64)
        self.span = torch.tensor(data["tell.span"].astype(np.int64)).to(DEVICE)
        self.relation = torch.tensor(data["tell.relation"].astype(np.int64)).to(DEVICE)
        self.facts: dict[int, list[int]] = {}
        for row, turn in enumerate(data["tell.turn"].tolist()):
            self.facts.setdefault(turn, []).append(row)

    def loss(self, network: Reader, rows: Tensor, count: int, chance: np.random.Generator) -> Tensor:
        """Of `count` noted turns with a question of each relation, and of the right turns of questions `rows`."""
        asked = self._of_questions(network, rows)
        return asked + self._of_relations(network, count, chance) if len(self.noted) else asked

    def _of_relations(self, network: Reader, count: int, chance: np.random.Generator) -> Tensor:
        turns = chance.choice(self.noted, count)
        logits, own, begin = self._read(network, torch.tensor(turns).to(DEVICE), chance.random() < 0.5)
        drawn = torch.tensor([rows[int(chance.integers(len(rows)))] for rows in self.by_relation]).to(DEVICE)
        logits = network.glance(logits, self._asked(network, self.asked.take(drawn))).float()
        told = [(place, row) for place, turn in enumerate(turns.tolist()) for row in self.facts.get(turn, [])]
        wanted = torch.zeros_like(logits)
        if told:
            places, rows = (torch.tensor(one).to(DEVICE) for one in zip(*told, strict=True))
            for side in (0, 1):
                at = begin[places] + self.span[rows, side]
                wanted[places, self.relation[rows], at, side] = 1.0
        return self._error(logits, wanted, own)

    def _of_questions(self, network: Reader, rows: Tensor) -> Tensor:
        spans = self.corpus.labels["span"][rows]
        has = spans[:, 0] >= 0
        rows, spans = rows[has], spans[has]
        if not len(rows):
            return spans.sum() * 0.0
        turns = self.first[rows]
        logits, own, begin = self._read(network, turns, True)
        logits = network.glance(logits, self._asked(network, self.corpus.asked.take(rows))).float()
        wanted = torch.zeros_like(logits)
        number = torch.arange(len(rows), device=DEVICE)
        for side in (0, 1):
            wanted[number, number, begin + spans[:, side], side] = 1.0
        # A question of the same bank may be answered there too.
        banks = self.corpus.bank[rows]
        doubtful = (banks[:, None] == banks[None]) & ~torch.eye(len(rows), dtype=torch.bool, device=DEVICE)
        return self._error(logits, wanted, own, ~doubtful)

    def _read(self, network: Reader, turns: Tensor, with_before: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Token vectors of turns, which tokens are their own, and where those begin."""
        own, before = self.corpus.own.take(turns), self.corpus.before.take(turns, 24)
        if not with_before:
            before = (before[0], torch.zeros_like(before[1]))
        nothing = (own[0][:, :1], torch.zeros_like(own[1]))
        ids, mask, types, begin = joined(nothing, before, own)
        told = trimmed(network.told, ids, mask, types)[0]
        columns = torch.arange(ids.shape[1], device=DEVICE)
        is_own = (columns >= begin[:, None]) & (columns < (begin + own[1])[:, None])
        return told, is_own, begin

    def _asked(self, network: Reader, asked: tuple[Tensor, Tensor]) -> Tensor:
        ids, _ = compose([asked])
        with amp():
            return network.asked(ids, ids != 0, torch.zeros_like(ids))

    def _error(self, logits: Tensor, wanted: Tensor, own: Tensor, counted: Tensor | None = None) -> Tensor:
        """The mean over what is told, and for each turn over everything that is not."""
        each = F.binary_cross_entropy_with_logits(logits, wanted, reduction="none") * own[:, None, :, None]
        if counted is not None:
            each = each * counted[:, :, None, None]
        told = (each * wanted).sum() / wanted.sum().clamp(min=1)
        silent = (each * (1 - wanted)).sum() / len(logits)
        return self.WORTH * (told + self.QUIET * silent)


class Renewals:
    """Questions with an earlier and a later turn, and whether the later one replaces what the earlier one says.

    Beside the pairs that are written, questions by hand whose answer stays give others: the right turn, and a later
    candidate that does not answer.
    """

    def __init__(self, corpus: Corpus, near: Tensor) -> None:
        self.corpus = corpus
        self.asked = Rows(corpus.data, "renew.asked")
        self.turns = torch.tensor(corpus.data["renew.turns"].astype(np.int64)).to(DEVICE)
        renews = corpus.data["renew.renews"].astype(np.bool_)
        self.yes, self.no = np.flatnonzero(renews), np.flatnonzero(~renews)
        by_hand = torch.tensor((corpus.data["trust"] == 0) & (corpus.data["kind"] != 3)).to(DEVICE)
        later = (near[:, 1:9] > near[:, :1]) & by_hand[:, None]
        self.rest = later.nonzero()
        self.near = near

    def loss(self, network: Reader, batch: int, chance: np.random.Generator) -> Tensor:
        """A third of the batch renews, a third was written as not renewing, a third is made of other questions."""
        third = batch // 3
        yes, no = (torch.tensor(chance.choice(rows, third)).to(DEVICE) for rows in (self.yes, self.no))
        rest = self.rest[torch.tensor(chance.integers(0, len(self.rest), third)).to(DEVICE)]
        written = torch.cat([yes, no])
        early = torch.cat([self.turns[written, 0], self.near[rest[:, 0], 0]])
        late = torch.cat([self.turns[written, 1], self.near[rest[:, 0], rest[:, 1] + 1]])
        asked = _stacked([self.asked.take(written), self.corpus.asked.take(rest[:, 0])])
        ids, mask, types, _ = joined(asked, self.corpus.own.take(early, OLDER), self.corpus.own.take(late))
        renews = trimmed(network, ids, mask, types)[4].float()
        wanted = torch.zeros_like(renews)
        wanted[:third] = 1.0
        return F.binary_cross_entropy_with_logits(renews, wanted)


def _stacked(parts: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Padded rows of several kinds under each other."""
    width = max(tokens.shape[1] for tokens, _ in parts)
    padded = [F.pad(tokens, (0, width - tokens.shape[1])) for tokens, _ in parts]
    return torch.cat(padded), torch.cat([lengths for _, lengths in parts])


def train_reader(
    network: Reader, corpus: Corpus, near: Tensor, rows: np.ndarray, target: Tensor | None, *, rate: float,
    epochs: float, batch: int, width: int, seed: int, renewals: Renewals | None = None, seconds: float | None = None,
) -> None:  # fmt: skip
    """Train on questions `rows` with `width` candidates each, as many statuses, and `renewals`; `target`: the teacher's
    logits; `seconds`: stop then at the latest."""
    began = time.time()

    def done() -> float:
        return (time.time() - began) / seconds if seconds else 0.0

    drawn = np.random.default_rng(seed)
    statuses = tuple(Rows(corpus.data, f"status.{name}") for name in ("asked", "own", "before"))
    glances = Glances(corpus)
    number = len(corpus.data["status.kind"])
    chance = torch.Generator(device=DEVICE).manual_seed(seed)
    optimizer = torch.optim.AdamW(_groups(network, rate), weight_decay=0.01, fused=DEVICE == "cuda")
    steps = max(2, int(epochs * len(rows) / batch))
    plan = schedule(optimizer, steps, done)
    network.train()
    order = shuffled(rows, epochs, seed)
    aside = shuffled(np.arange(number), max(1.0, steps * batch / number + 1), seed + 1)
    total = 0.0
    for step in range(steps):
        if done() >= 1:
            say(f"stopped after {step} of {steps} steps: the time is over")
            break
        chosen = torch.tensor(order[step * batch : (step + 1) * batch]).to(DEVICE)
        picks = torch.rand(len(chosen), NEAR - 1, generator=chance, device=DEVICE)
        picks[:, : LIKELY // 2] += 0.35  # the likeliest are the hardest
        picks += 0.5 * (near[chosen, 1:] == near[chosen, :1] + 1)  # so are replies to the right turn
        places = right_and_best(picks, width)
        told = near[chosen].gather(1, places)
        of_teacher = target[chosen].gather(1, places) if target is not None else None
        loss = reader_loss(network, corpus, chosen, told, of_teacher, chance)
        some = torch.tensor(aside[step * batch : (step + 1) * batch]).to(DEVICE)
        loss = loss + status_loss(network, corpus, statuses, some)
        loss = loss + glances.loss(network, chosen, batch, drawn)
        if renewals is not None:
            loss = loss + renewals.loss(network, batch, drawn)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        plan.step()
        total += float(loss.detach()) if step % 20 == 0 else 0.0
        if step % 100 == 99:
            say(f"step {step + 1} of {steps}, loss {total / 5:.3f}")
            total = 0.0


def _groups(network: Reader, rate: float) -> list[dict[str, Any]]:
    """New heads learn ten times as fast as what was published, the glance's own layers four times."""
    groups: dict[float, list[Tensor]] = {1.0: [], 4.0: [], 10.0: []}
    for name, values in network.named_parameters():
        part = name.partition(".")[0]
        times = 4.0 if part == "glancing" else 1.0 if part in ("bert", "pooler", "relevance") else 10.0
        if values.requires_grad:
            groups[times].append(values)
    return [{"params": values, "lr": rate * times} for times, values in groups.items()]


@torch.no_grad()
def judged(network: Reader, corpus: Corpus, near: Tensor, batch: int = 4096) -> Tensor:
    """The teacher's logit for every question and candidate."""
    count, width = near.shape
    asked = torch.arange(count, device=DEVICE)[:, None].expand(-1, width).reshape(-1)
    told = near.reshape(-1)
    order = torch.argsort(
        corpus.own.lengths[told] + corpus.asked.lengths[asked] + corpus.before.lengths[told].clamp(max=24)
    )
    out = torch.zeros(count * width, device=DEVICE)
    network.eval()
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        ids, mask, types, _ = corpus.pairs(asked[rows], told[rows])
        with amp():
            out[rows] = network(ids, mask, types)[0].float()
    return out.view(count, width)


def load_reader(network: Reader, weights: dict[str, np.ndarray]) -> None:
    """The published cross-encoder: all its layers, its pooler and its score."""
    load_bert(network.bert, weights, list(range(12)))
    state = network.state_dict()
    for ours, theirs in (("pooler", "pooler.dense"), ("relevance", "classifier")):
        state[f"{ours}.weight"] = torch.tensor(weights[f"{theirs}.weight"].T.copy())
        state[f"{ours}.bias"] = torch.tensor(weights[f"{theirs}.bias"])
    network.load_state_dict(state)
    network.glance_as_it_reads()


def student(teacher: Reader, every: int) -> Reader:
    """Every second (or fourth) layer of the teacher, and its heads."""
    network = Reader(12 // every)
    weights = {
        k.removeprefix("bert."): v.detach().float().cpu().numpy()
        for k, v in teacher.state_dict().items()
        if k.startswith("bert.")
    }
    load_bert(network.bert, weights, list(range(every - 1, 12, every)))
    state = network.state_dict()
    state |= {k: v for k, v in teacher.state_dict().items() if not k.startswith("bert.")}
    network.load_state_dict(state)
    return network.to(DEVICE)
