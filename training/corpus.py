"""What training reads: turns and questions as tokens, put together as the networks read them; and what every training
does alike."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

CLS, SEP = 101, 102
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


def right_and_best(picks: Tensor, width: int) -> Tensor:
    """Places among the candidates: the right one, which is the first, and the wrong ones with the highest picks."""
    right = torch.zeros(len(picks), 1, dtype=torch.int64, device=DEVICE)
    return torch.cat([right, picks.topk(width - 1).indices + 1], 1)


def shuffled(rows: np.ndarray, epochs: float, seed: int) -> np.ndarray:
    """The rows in a new order for each epoch, one epoch more than is needed."""
    chance = np.random.default_rng(seed)
    return np.concatenate([chance.permutation(rows) for _ in range(math.ceil(epochs) + 1)])
