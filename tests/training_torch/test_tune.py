"""A reader that learns more: its upper layers and heads change, its lower ones stay, and it judges about as before."""

from __future__ import annotations

import copy
from typing import Any

import torch

import networks
import tune
from embedder import candidates


def test_upper_layers_learn_lower_ones_stay_and_judgements_hardly_move(corpus: Any) -> None:
    torch.manual_seed(1)
    network = networks.Reader(4)
    before = copy.deepcopy(network).eval()
    near = candidates(networks.Embedder(1), corpus)
    tuning = tune.Tuning(network, corpus, near, 1)
    first = {name: float(one) for name, one in tuning.loss().items()}
    tune.tune(tuning, 12, None)
    last = {name: float(one) for name, one in tuning.loss().items()}
    assert last["facts"] + last["glance"] < first["facts"] + first["glance"]
    for number, (layer, old) in enumerate(
        zip(network.bert.encoder.layer, before.bert.encoder.layer, strict=True)
    ):
        same = torch.equal(layer.output.dense.weight, old.output.dense.weight)
        assert same == (number < 4 - tune.UPPER)
    rows = torch.arange(4)
    ids, mask, types, _ = corpus.pairs(rows, near[rows, 0])
    with torch.no_grad():
        now, then = network(ids, mask, types)[0], before(ids, mask, types)[0]
    assert torch.allclose(now, then, atol=0.3)


def test_halves_are_the_whole(corpus: Any) -> None:
    network = networks.Reader(4).eval()
    ids, mask, types, _ = corpus.pairs(torch.arange(8), torch.arange(8))
    halves = tune.Halves(network)
    below = halves.below(ids, mask, types)
    network.eval()
    with torch.no_grad():
        parts, whole = network.judge(halves.above(below, mask)), network(ids, mask, types)
    for one, other in zip(parts, whole, strict=True):
        real = mask[..., None] if one.dim() == 3 else torch.ones_like(one)
        assert torch.allclose(one * real, other * real, atol=1e-4)
