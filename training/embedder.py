"""How the embedder learns, which candidates it chooses for a question, and how good it is on other conversations."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from corpus import DEVICE, SOFT, Corpus, amp, right_and_best, say, schedule, shuffled, trimmed
from networks import Embedder, coded, maxsim

NEAR, LIKELY = 20, 14
"""Candidates of a question: all, and those by cosine. Then come neighbours; the rest are drawn from the bank."""
AROUND = (-1, 1, -2, 2)
"""Where the neighbours of the right turn stand."""


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
