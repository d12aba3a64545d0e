"""Step 5, train: a teacher, then the embedder and the readers that it teaches. For a GPU; `--small` runs on a CPU.

    python training/train.py --data data.npz --eval locomo.npz --worded worded.npy --start model.safetensors \
        --reranker model.onnx --out FOLDER [--stage teacher|embedder|reader6|reader3] [--small]

Without `--stage` all of them, one after the other. The teacher's stage leaves its judgement in FOLDER (`judged.npz`);
the others only read it, so that on a large GPU they can run beside each other.
train_teacher: the published cross-encoder learns relevance, spans, kinds and statuses from what is trusted.
judge_questions: it judges every question against its turn, the turns around it and the likeliest others of the bank;
       what it does not find again is left out (the filter's second half), and its judgement is what the others learn.
train_own_embedder: contrastive over the whole batch, and towards the teacher's judgement, for the sentence vector, the
       token vectors and the comparison at once.
train_student: reader6 or reader3, every second or fourth layer of the teacher, taught by it.
Nothing is learned from `--eval`: the quality that is printed is measured on it. Epochs and batches are meant for about
20 minutes on a large GPU.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from networks import Embedder, Reader, coded, load_bert, maxsim
from weights import from_onnx, published, saved

CLS, SEP = 101, 102
NEAR, LIKELY = 20, 14
"""Candidates of a question: all, and those by cosine. Then come neighbours; the rest are drawn from the bank."""
AROUND = (-1, 1, -2, 2)
"""Where the neighbours of the right turn stand."""
OLDER = 64
"""Tokens of an earlier turn that are read before the one that may replace it."""
WRONG = -1.0
"""The highest logit that the teacher's judgement keeps for a turn that is known not to answer."""
SOFT = 2.0
"""The temperature at which the teacher's judgement is learned."""
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cuda":
    torch.backends.cuda.enable_cudnn_sdp(
        False
    )  # it plans anew for every length, which costs more than it saves
START = time.time()


def say(*words: object) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.time() - START:6.1f}]", *words, flush=True)


class Rows:
    """Token lists of unequal length, on the device."""

    def __init__(self, data: dict[str, np.ndarray], name: str) -> None:
        ends = torch.tensor(data[f"{name}.ends"].astype(np.int64))
        self.flat = torch.tensor(data[f"{name}.flat"].astype(np.int64)).to(DEVICE)
        self.starts = torch.cat([torch.zeros(1, dtype=torch.int64), ends[:-1]]).to(DEVICE)
        self.lengths = ends.to(DEVICE) - self.starts
        if not len(self.flat):
            self.flat = torch.zeros(1, dtype=torch.int64, device=DEVICE)

    def take(self, rows: Tensor, most: int | None = None) -> tuple[Tensor, Tensor]:
        """Padded tokens and lengths of some rows."""
        lengths = self.lengths[rows] if most is None else self.lengths[rows].clamp(max=most)
        width = max(1, int(lengths.max()))
        places = (self.starts[rows][:, None] + torch.arange(width, device=DEVICE)).clamp(
            max=len(self.flat) - 1
        )
        return self.flat[places], lengths


def put(ids: Tensor, at: Tensor, tokens: Tensor, lengths: Tensor) -> None:
    """Write rows of tokens into `ids`, each from its own place."""
    width = tokens.shape[1]
    columns = at[:, None] + torch.arange(width, device=ids.device)
    keep = torch.arange(width, device=ids.device)[None] < lengths[:, None]
    rows = torch.arange(len(ids), device=ids.device)[:, None].expand_as(columns)
    ids[rows[keep], columns[keep]] = tokens[keep]


def compose(parts: list[tuple[Tensor, Tensor]], optional: int | None = None) -> tuple[Tensor, list[Tensor]]:
    """[CLS] part [SEP] part [SEP] …; an empty optional part leaves no separator. Also where each part begins."""
    total = 1 + sum((lengths + 1) for _, lengths in parts)
    if optional is not None:
        total = total - (parts[optional][1] == 0).long()
    ids = torch.zeros(len(total), int(total.max()), dtype=torch.int64, device=DEVICE)
    ids[:, 0] = CLS
    at = torch.ones_like(total)
    begins = []
    for number, (tokens, lengths) in enumerate(parts):
        begins.append(at)
        put(ids, at, tokens, lengths)
        is_there = (lengths > 0) | (number != optional)
        rows = torch.arange(len(ids), device=DEVICE)[is_there]
        ids[rows, (at + lengths)[is_there]] = SEP
        at = at + torch.where(is_there, lengths + 1, lengths)
    return ids, begins


class Corpus:
    """Turns and questions of one file."""

    def __init__(self, path: Path) -> None:
        data = dict(np.load(path))
        self.own, self.before, self.asked = (Rows(data, name) for name in ("own", "before", "asked"))
        self.right = np.split(data["right.flat"].astype(np.int64), data["right.ends"][:-1])
        self.bank_of = torch.tensor(data["bank_of"].astype(np.int64)).to(DEVICE)
        self.bank = torch.tensor(data["bank"].astype(np.int64)).to(DEVICE)
        self.data = data
        self.labels = {
            name: torch.tensor(data[name].astype(np.int64)).to(DEVICE)
            for name in ("kind", "span", "status", "status.kind", "status.span", "status.status")
            if name in data
        }
        bounds = np.flatnonzero(np.diff(data["bank_of"])) + 1
        self.begin = np.concatenate([[0], bounds, [len(data["bank_of"])]])

    def turns(self, rows: Tensor, before: bool = True) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Tokens, mask, segments, and which tokens are the turn's own; with the end of the turn before, or without."""
        own, before_ = self.own.take(rows), self.before.take(rows)
        if not before:
            before_ = (before_[0], torch.zeros_like(before_[1]))
        ids, begins = compose([before_, own], optional=0)
        columns = torch.arange(ids.shape[1], device=DEVICE)
        is_own = (columns >= begins[1][:, None]) & (ids != 0)
        return ids, ids != 0, is_own.long(), is_own

    def questions(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Tokens, mask, segments, and which tokens are the question's own: all."""
        ids, _ = compose([self.asked.take(rows)])
        return ids, ids != 0, torch.zeros_like(ids), ids != 0

    def pairs(
        self, asked: Tensor, told: Tensor, keep_before: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Questions with turns, as `joined` gives them; `keep_before` is 0 where the turn before is left out."""
        before = self.before.take(told, 24)
        if keep_before is not None:
            before = (before[0], before[1] * keep_before)
        return joined(self.asked.take(asked), before, self.own.take(told))


def joined(
    asked: tuple[Tensor, Tensor], before: tuple[Tensor, Tensor], own: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Tokens, mask and segments of a question with a turn, and where the turn's own words begin."""
    ids, begins = compose([asked, before, own], optional=1)
    columns = torch.arange(ids.shape[1], device=DEVICE)
    types = ((columns >= begins[1][:, None]) & (ids != 0)).long()
    return ids, ids != 0, types, begins[2]


def save(folder: Path, name: str, network: torch.nn.Module) -> None:
    """Half precision, without the word vectors, which were not changed; pieces of at most 15 MiB."""
    state = {
        k: v.detach().half().cpu().numpy()
        for k, v in network.state_dict().items()
        if "word_embeddings" not in k and "position_ids" not in k and "token_type_ids" not in k
    }
    names, piece, size, number = [], {}, 0, 0
    for key, value in state.items():
        if size + value.nbytes > 15 * 2**20:
            np.savez(folder / f"{name}.{number}.npz", **piece)
            piece, size, number = {}, 0, number + 1
        piece[key] = value
        size += value.nbytes
        names.append(key)
    np.savez(folder / f"{name}.{number}.npz", **piece)
    say(f"saved {name}: {len(names)} arrays")


def schedule(
    optimizer: torch.optim.Optimizer, steps: int, done: Callable[[], float] = lambda: 0.0
) -> torch.optim.lr_scheduler.LambdaLR:
    """The learning rate rises over a fifteenth of the steps and then falls in a straight line; `done` is the share of
    the time that is spent, where that is bounded."""
    warm = max(1, steps // 15)
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / warm) * max(0.02, 1 - max(step / max(1, steps), done()))
    )


CHUNKS = 2
"""Runs that a batch is cut into by length: padding costs as much as words do, and most pairs are short."""


def trimmed(
    network: Callable[..., tuple[Tensor, ...]], ids: Tensor, mask: Tensor, *more: Tensor
) -> tuple[Tensor, ...]:
    """A network's outputs for a batch, in runs of texts of similar length; outputs by token are padded again."""
    lengths = mask.sum(1)
    order = lengths.argsort()
    parts = []
    for rows in order.chunk(min(CHUNKS, len(order))):
        width = int(lengths[rows].max())
        with amp():
            made = network(ids[rows, :width], mask[rows, :width], *(one[rows, :width] for one in more))
        rest = ids.shape[1] - width
        parts.append([F.pad(one, (0, 0, 0, rest)) if one.dim() == 3 else one for one in made])
    back = order.argsort()
    return tuple(torch.cat(several)[back] for several in zip(*parts, strict=True))


def amp() -> torch.autocast:
    """bfloat16 on a GPU, full precision on a CPU."""
    return torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda")


# ---------------------------------------------------------------- candidates


@torch.no_grad()
def vectors_of(
    network: Embedder, corpus: Corpus, what: str, before: bool = True, batch: int = 2048
) -> tuple[Tensor, int]:
    """Sentence vectors of all `turns` or all `questions`, and their number."""
    count = len(corpus.own.lengths) if what == "turns" else len(corpus.asked.lengths)
    lengths = corpus.own.lengths if what == "turns" else corpus.asked.lengths
    order = torch.argsort(lengths)
    out = torch.zeros(count, 384, device=DEVICE)
    network.eval()
    for start in range(0, count, batch):
        rows = order[start : start + batch]
        inputs = corpus.turns(rows, before) if what == "turns" else corpus.questions(rows)
        with amp():
            out[rows] = network(*inputs)[0]
    return out, count


@torch.no_grad()
def candidates(network: Embedder, corpus: Corpus, seed: int = 1) -> Tensor:
    """For each question NEAR turns: its first right one, likely others of the bank, neighbours, and some by chance."""
    turns, _ = vectors_of(network, corpus, "turns", before=False)
    asked, count = vectors_of(network, corpus, "questions")
    chance = np.random.default_rng(seed)
    out = np.zeros((count, NEAR), np.int64)
    banks = corpus.bank.cpu().numpy()
    for bank in np.unique(banks):
        begin, end = int(corpus.begin[bank]), int(corpus.begin[bank + 1])
        rows = np.flatnonzero(banks == bank)
        alike = asked[torch.tensor(rows).to(DEVICE)] @ turns[begin:end].T
        best = (torch.topk(alike, min(LIKELY + 6, end - begin), dim=1).indices + begin).cpu().numpy()
        for row, near in zip(rows, best, strict=True):
            right = corpus.right[row]
            known = set(right.tolist())
            likely = [one for one in near.tolist() if one not in known][:LIKELY]
            around = [
                right[0] + step
                for step in AROUND
                if begin <= right[0] + step < end and right[0] + step not in known
            ]
            rest = chance.integers(begin, end, NEAR).tolist()
            several = list(
                dict.fromkeys(
                    [int(right[0]), *likely, *map(int, around), *[one for one in rest if one not in known]]
                )
            )
            several += [int(one) for one in chance.integers(begin, end, NEAR)]
            out[row] = several[:NEAR]
    return torch.tensor(out).to(DEVICE)


# ---------------------------------------------------------------- reader


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

    WORTH, QUIET = 0.5, 0.1
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
    heads = [
        p
        for n, p in network.named_parameters()
        if not n.startswith("bert.") and "relevance" not in n and "pooler" not in n
    ]
    body = [p for n, p in network.named_parameters() if p.requires_grad and not any(p is h for h in heads)]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": heads, "lr": rate * 10}],
        weight_decay=0.01,
        fused=DEVICE == "cuda",
    )
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
        loss = loss + glances.loss(network, chosen, batch // 2, drawn)
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


def right_and_best(picks: Tensor, width: int) -> Tensor:
    """Places among the candidates: the right one, which is the first, and the wrong ones with the highest picks."""
    right = torch.zeros(len(picks), 1, dtype=torch.int64, device=DEVICE)
    return torch.cat([right, picks.topk(width - 1).indices + 1], 1)


def shuffled(rows: np.ndarray, epochs: float, seed: int) -> np.ndarray:
    """The rows in a new order for each epoch, one epoch more than is needed."""
    chance = np.random.default_rng(seed)
    return np.concatenate([chance.permutation(rows) for _ in range(math.ceil(epochs) + 1)])


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


# ---------------------------------------------------------------- embedder


def train_embedder(
    network: Embedder, corpus: Corpus, near: Tensor, target: Tensor, rows: np.ndarray, worded: Tensor, *, rate: float,
    epochs: float, batch: int, width: int, seed: int,
) -> None:  # fmt: skip
    """Train on questions `rows` with `width` candidates each; every fourth batch goes without the turn before."""
    chance = torch.Generator(device=DEVICE).manual_seed(seed)
    heads = [p for n, p in network.named_parameters() if not n.startswith("bert.")]
    body = [p for n, p in network.named_parameters() if n.startswith("bert.") and p.requires_grad]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": rate}, {"params": heads, "lr": 1e-3}],
        weight_decay=0.01,
        fused=DEVICE == "cuda",
    )
    steps = max(2, int(epochs * len(rows) / batch))
    plan = schedule(optimizer, steps)
    order = shuffled(rows, epochs, seed)
    network.train()
    total = np.zeros(3)
    for step in range(steps):
        chosen = torch.tensor(order[step * batch : (step + 1) * batch]).to(DEVICE)
        picks = torch.rand(len(chosen), NEAR - 1, generator=chance, device=DEVICE)
        picks += 0.4 * (target[chosen, 1:] > -4)  # the hard ones more often
        places = right_and_best(picks, width)
        told, wanted = near[chosen].gather(1, places), target[chosen].gather(1, places)
        q_ids, q_mask, q_types, q_own = corpus.questions(chosen)
        keep_before = step % 4 != 0
        d_ids, d_mask, d_types, d_own = corpus.turns(told.reshape(-1), keep_before)
        with amp():
            q, q_tokens = network(q_ids, q_mask, q_types, q_own)
        d, d_tokens = trimmed(network, d_ids, d_mask, d_types, d_own)
        q_words, d_words = q_own & worded[q_ids], d_own & worded[d_ids]
        d_tokens = coded(d_tokens)
        losses = losses_of(network, corpus, chosen, told, wanted, q, d, q_tokens, q_words, d_tokens, d_words)
        loss = losses[0] + losses[1] + losses[2]
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        plan.step()
        if step % 20 == 0:
            total += [float(one.detach()) for one in losses]
        if step % 100 == 99:
            say(f"step {step + 1} of {steps}, losses {np.round(total / 5, 3)}")
            total[:] = 0


def losses_of(
    network: Embedder, corpus: Corpus, chosen: Tensor, told: Tensor, wanted: Tensor, q: Tensor, d: Tensor,
    q_tokens: Tensor, q_words: Tensor, d_tokens: Tensor, d_words: Tensor,
) -> list[Tensor]:  # fmt: skip
    """Of the sentence vectors, of the token vectors by MaxSim, and of the learned comparison."""
    count, width = told.shape
    own = torch.arange(count * width, device=DEVICE).view(count, width)
    blocked = torch.zeros(count, count * width, dtype=torch.bool, device=DEVICE)
    # Another question's candidates of the same bank may answer this one too, unless they are among its own.
    blocked |= corpus.bank[chosen][:, None] == corpus.bank_of[told.reshape(-1)][None]
    blocked.scatter_(1, own, wanted > wanted[:, :1] - 1.0)
    blocked.scatter_(1, own[:, :1], torch.zeros_like(own[:, :1], dtype=torch.bool))
    teacher = F.softmax(wanted / SOFT, -1)

    def both(scores: Tensor, sharp: float) -> Tensor:
        contrast = F.cross_entropy((scores * sharp).masked_fill(blocked, -1e4), own[:, 0])
        return contrast + 2.0 * F.kl_div(
            F.log_softmax(scores.gather(1, own) * sharp, -1), teacher, reduction="batchmean"
        )

    late = maxsim(q_tokens, q_words, d_tokens, d_words)
    shape = (count, width, *d_tokens.shape[1:])
    compared = network.compare(q_tokens, q_words, d_tokens.view(shape), d_words.view(shape[:3]))
    right = torch.zeros(count, dtype=torch.int64, device=DEVICE)
    false = blocked.gather(1, own)
    third = F.cross_entropy(compared.masked_fill(false, -1e4), right) + 2.0 * F.kl_div(
        F.log_softmax(compared, -1), F.softmax(wanted, -1), reduction="batchmean"
    )
    return [both(q @ d.T, 1 / 0.03), both(late, 1 / 0.02), third]


# ---------------------------------------------------------------- what is printed


@torch.no_grad()
def evaluate(network: Embedder, corpus: Corpus, worded: Tensor, every: int = 1) -> dict[str, list[float]]:
    """Recall@10 and NDCG@10 over each question's own bank, for every `every`-th question."""
    found: dict[str, list[tuple[float, float]]] = {}
    network.eval()
    for before in (False, True):
        turns, _ = vectors_of(network, corpus, "turns", before)
        asked, count = vectors_of(network, corpus, "questions")
        for row in range(0, count, every):
            bank = int(corpus.bank[row])
            begin, end = int(corpus.begin[bank]), int(corpus.begin[bank + 1])
            right = torch.tensor(corpus.right[row] - begin).to(DEVICE)
            cosine = turns[begin:end] @ asked[row]
            add_result(found, f"cosine{' before' * before}", cosine, right)
            if not before:
                continue
            first = cosine.topk(min(100, end - begin)).indices
            q = corpus.questions(torch.tensor([row], device=DEVICE))
            d = corpus.turns(first + begin)
            with amp():
                q_tokens, d_tokens = network(*q)[1], coded(network(*d)[1])
            q_words, d_words = q[3] & worded[q[0]], d[3] & worded[d[0]]
            late = torch.full_like(cosine, -1e3)
            late[first] = maxsim(q_tokens, q_words, d_tokens, d_words)[0]
            add_result(found, "maxsim of 100", late, right)
            compared = torch.full_like(cosine, -1e3)
            compared[first] = network.compare(q_tokens, q_words, d_tokens[None], d_words[None])[0]
            add_result(found, "compare of 100", compared, right)
            both = compared.clone()
            both[first] = (
                standardised(compared[first]) + standardised(cosine[first]) + standardised(late[first])
            )
            add_result(found, "all three", both, right)
    return {name: [round(float(x), 4) for x in np.mean(values, axis=0)] for name, values in found.items()}


def standardised(values: Tensor) -> Tensor:
    """Mean 0, standard deviation 1."""
    return (values - values.mean()) / values.std().clamp(min=1e-6)


def add_result(found: dict[str, list[tuple[float, float]]], name: str, scores: Tensor, right: Tensor) -> None:
    """Recall@10 and NDCG@10 of one question."""
    best = scores.topk(min(10, len(scores))).indices
    hit = torch.isin(best, right).float()
    gain = (hit / torch.log2(torch.arange(2, len(best) + 2, device=DEVICE))).sum()
    ideal = sum(1 / math.log2(i + 2) for i in range(min(10, len(right))))
    found.setdefault(name, []).append((float(hit.sum()) / len(right), float(gain) / ideal))


# ---------------------------------------------------------------- stages


def load_reader(network: Reader, weights: dict[str, np.ndarray]) -> None:
    """The published cross-encoder: all its layers, its pooler and its score."""
    load_bert(network.bert, weights, list(range(12)))
    state = network.state_dict()
    for ours, theirs in (("pooler", "pooler.dense"), ("relevance", "classifier")):
        state[f"{ours}.weight"] = torch.tensor(weights[f"{theirs}.weight"].T.copy())
        state[f"{ours}.bias"] = torch.tensor(weights[f"{theirs}.bias"])
    network.load_state_dict(state)


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


@dataclass
class Run:
    """What every stage needs: where to write, how much to do, what to learn from and what to measure on."""

    out: Path
    small: bool
    corpus: Corpus
    held_out: Corpus
    worded: Tensor
    epochs: float | None = None
    """Of a reader, where not as usual."""
    seconds: float | None = None
    """After which a reader is done at the latest."""

    def evaluate(self, embedder: Embedder) -> dict[str, list[float]]:
        return evaluate(embedder, self.held_out, self.worded, 100 if self.small else 3)

    def judgement(self) -> tuple[Tensor, Tensor, np.ndarray]:
        """Candidates, the teacher's logits for them, and the questions that stay."""
        if not (self.out / "judged.npz").exists():
            raise SystemExit(f"there is no judged.npz in {self.out}: run --stage teacher first")
        held = np.load(self.out / "judged.npz")
        return (
            torch.tensor(held["near"].astype(np.int64)).to(DEVICE),
            torch.tensor(held["target"].astype(np.float32)).to(DEVICE),
            held["kept"].astype(np.int64),
        )

    def tell(self, name: str, figures: object) -> None:
        """Print figures and keep them in a file of their own."""
        say(name, json.dumps(figures))
        (self.out / f"{name}.report.json").write_text(json.dumps(figures, indent=1))

    def with_hand_written_thrice(self, rows: np.ndarray) -> np.ndarray:
        """What was written by hand counts three times."""
        by_hand = rows[self.corpus.data["trust"][rows] == 0]
        return np.concatenate([rows, by_hand, by_hand])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("data", "eval", "worded", "start", "reranker", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument(
        "--stage",
        choices=("teacher", "embedder", "reader6", "reader3"),
        help="only this one",
    )
    parser.add_argument("--layers", default="0,1,2,3,4,5", help="of the embedder's start, in order")
    parser.add_argument(
        "--pool",
        choices=("mean", "first"),
        default="first",
        help="a sentence vector; quantise.py knows `first`",
    )
    parser.add_argument("--rate", type=float, default=1e-4, help="the embedder's learning rate")
    parser.add_argument("--epochs", type=float, help="of the embedder (5) or of a reader (2.5)")
    parser.add_argument("--seconds", type=float, help="stop a reader's training then at the latest")
    parser.add_argument(
        "--mine", type=Path, help="folder of an embedder, trained from --start, that chooses the candidates"
    )
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    corpus, held_out = Corpus(given.data), Corpus(given.eval)
    worded = torch.tensor(np.load(given.worded)).to(DEVICE)
    run = Run(given.out, given.small, corpus, held_out, worded, given.epochs, given.seconds)
    say(f"{len(corpus.own.lengths)} turns, {len(corpus.asked.lengths)} questions, on {DEVICE}")
    if given.stage in (None, "teacher"):
        near = candidates(start_miner(given.start, given.mine, given.pool), corpus)
        say("candidates", tuple(near.shape))
        judge_questions(run, train_teacher(run, given.reranker, near), near)
    if given.stage in (None, "embedder"):
        layers = [int(one) for one in given.layers.split(",")]
        train_own_embedder(
            run, start_embedder(given.start, layers, given.pool), given.rate, given.epochs or 5.0
        )
    for layers in (6, 3):
        if given.stage in (None, f"reader{layers}"):
            train_student(run, given.reranker, layers)
    say("done")


def start_embedder(path: Path, layers: list[int], pool: str = "mean") -> Embedder:
    """Some layers of the published embedder, with new heads."""
    embedder = Embedder(len(layers), pool)
    load_bert(embedder.bert, published(path), layers)
    return embedder.to(DEVICE)


def start_miner(words: Path, folder: Path | None, pool: str) -> Embedder:
    """What chooses the candidates: the published embedder, or one that was trained before (harder candidates)."""
    if folder is None:
        return start_embedder(words, list(range(6)))
    layers = 12 if (folder / "embedder12.0.npz").exists() else 6
    embedder = start_embedder(words, list(range(layers)), pool)
    load_trained(embedder, folder, f"embedder{layers}")
    return embedder.to(DEVICE)


def load_trained(network: Embedder | Reader, folder: Path, name: str) -> None:
    """What `save` wrote; the word vectors stay as they are."""
    state = network.state_dict()
    network.load_state_dict(state | {key: torch.tensor(value) for key, value in saved(folder, name).items()})


def train_teacher(run: Run, path: Path, near: Tensor) -> Reader:
    """The published cross-encoder, trained on questions by hand and on those that the filter kept.

    A `reader12` that lies in the folder is where it goes on from.
    """
    teacher = Reader(12)
    load_reader(teacher, from_onnx(path))
    earlier = (run.out / "reader12.0.npz").exists()
    if earlier:
        load_trained(teacher, run.out, "reader12")
    teacher = teacher.to(DEVICE)
    rows = run.with_hand_written_thrice(np.flatnonzero(run.corpus.data["trust"] <= 1))
    say(f"teacher: {len(rows)} questions")
    train_reader(
        teacher, run.corpus, near, rows, None, rate=4e-5 if earlier else 6e-5,
        epochs=0.02 if run.small else 1.0 if earlier else 2.0,
        batch=8 if run.small else 192, width=4 if run.small else 8, seed=1,
    )  # fmt: skip
    save(run.out, "reader12", teacher)
    return teacher


def load_teacher(run: Run, path: Path) -> Reader:
    """The teacher that an earlier stage left."""
    teacher = Reader(12)
    load_reader(teacher, from_onnx(path))
    load_trained(teacher, run.out, "reader12")
    return teacher.to(DEVICE)


def judge_questions(run: Run, teacher: Reader, near: Tensor) -> None:
    """Write the teacher's logits for all candidates, and the questions that stay.

    By hand: all. Others: if the right turn is beaten by at most two candidates and is not clearly refused; those that
    cannot be answered (`none`): if the turn is not clearly accepted. The small run keeps 200 by chance and judges
    nothing.
    """
    if run.small:
        kept = np.random.default_rng(0).permutation(len(near))[:200]
        target = torch.full((len(near), NEAR), -5.0, device=DEVICE)
        target[:, 0] = 2.0
    else:
        trust, kind = run.corpus.data["trust"], run.corpus.data["kind"]
        target = judged(teacher, run.corpus, near)
        # Of what is written by hand it is known that no other turn answers.
        by_hand = torch.tensor(trust == 0, device=DEVICE)[:, None]
        target[:, 1:] = torch.where(by_hand, target[:, 1:].clamp(max=WRONG), target[:, 1:])
        found = (target[:, 0:1] >= target[:, 1:]).float().mean(1).cpu().numpy()
        sure = target[:, 0].cpu().numpy() > -1.0
        none = kind == 3
        again = (found >= (NEAR - 3) / (NEAR - 1)) & sure & ~none
        refused = none & (target[:, 0].cpu().numpy() < 1.5)
        kept = np.flatnonzero((trust == 0) | again | refused)
        numbers = {
            str(level): [int((trust[kept] == level).sum()), int((trust == level).sum())]
            for level in (0, 1, 2)
        }
        run.tell("kept", numbers)
    np.savez(
        run.out / "judged.npz",
        near=near.cpu().numpy().astype(np.int32), target=target.half().cpu().numpy(), kept=kept.astype(np.int32),
    )  # fmt: skip
    say("judged")


def train_own_embedder(run: Run, embedder: Embedder, rate: float, epochs: float) -> None:
    """The embedder, on the kept questions that can be answered; then its quality."""
    near, target, kept = run.judgement()
    rows = run.with_hand_written_thrice(kept[run.corpus.data["kind"][kept] != 3])
    name = f"embedder{len(embedder.bert.encoder.layer)}"
    say(f"{name}: {len(rows)} questions")
    train_embedder(
        embedder, run.corpus, near, target, rows, run.worded, rate=rate, epochs=0.1 if run.small else epochs,
        batch=8 if run.small else 256, width=4 if run.small else 7, seed=2,
    )  # fmt: skip
    save(run.out, name, embedder)
    run.tell(name, run.evaluate(embedder))


def train_student(run: Run, path: Path, layers: int) -> None:
    """A reader of six or of three layers, on all kept questions."""
    near, target, kept = run.judgement()
    network = student(load_teacher(run, path), 12 // layers)
    train_reader(
        network, run.corpus, near, run.with_hand_written_thrice(kept), target, rate=1.5e-4,
        epochs=0.02 if run.small else run.epochs or 2.5, batch=8 if run.small else 192,
        width=4 if run.small else 8, seed=3,
        renewals=Renewals(run.corpus, near) if run.corpus.data["renew.renews"].any() else None,
        seconds=run.seconds,
    )  # fmt: skip
    save(run.out, f"reader{layers}", network)


if __name__ == "__main__":
    main()
