"""The two networks in torch: the embedder with its token vectors and comparison, and the reader with its four heads."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertConfig, BertModel
from transformers.models.bert.modeling_bert import BertLayer

HIDDEN, WIDTH, INNER, TOLD = 384, 96, 64, 128
"""Widths of a hidden state, of a token vector, inside the comparison, and of what is told at a glance."""
GLANCING = 2
"""Layers at the end that a glance has for itself: so it costs no more than another run, and takes nothing from it."""
STEP = 0.335 / math.sqrt(WIDTH)
"""The step of a token vector's 4-bit code, as in `everwhen.models.embedder`."""


def bert_config(layers: int) -> BertConfig:
    """MiniLM's widths."""
    return BertConfig(
        vocab_size=30522, hidden_size=HIDDEN, num_hidden_layers=layers, num_attention_heads=12, intermediate_size=1536,
        hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.05, attn_implementation="sdpa",
    )  # fmt: skip


def bert(layers: int) -> BertModel:
    """A BERT of MiniLM's widths with weights by chance."""
    return BertModel(bert_config(layers), add_pooling_layer=False)


def load_bert(network: BertModel, weights: dict[str, np.ndarray], layers: list[int]) -> None:
    """Weights of some layers of a published network, in order; the word vectors are loaded and not trained."""
    wanted = network.state_dict()
    for name in wanted:
        source = name
        if name.startswith("encoder.layer."):
            number, rest = name.removeprefix("encoder.layer.").split(".", 1)
            source = f"encoder.layer.{layers[int(number)]}.{rest}"
        if source in weights:
            wanted[name] = torch.tensor(weights[source])
        elif "position_ids" not in name and "token_type_ids" not in name:
            raise KeyError(source)
    network.load_state_dict(wanted)
    network.embeddings.word_embeddings.weight.requires_grad_(False)


class Embedder(nn.Module):
    """Sentence vector: the mean over a text's own tokens, or its first one (`pool`), as the start was published.
    Token vectors: a projection of the same hidden states."""

    def __init__(self, layers: int, pool: str = "mean") -> None:
        super().__init__()
        self.pool = pool
        self.bert = bert(layers)
        self.project = nn.Linear(HIDDEN, WIDTH)
        self.compare = Compare()

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.bert(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        pooled = hidden[:, 0] if self.pool == "first" else (hidden * own[..., None]).sum(1)
        return F.normalize(pooled.float(), dim=-1), F.normalize(self.project(hidden).float(), dim=-1)


def coded(tokens: Tensor) -> Tensor:
    """Token vectors as they come back from their 4 bits; the gradient passes through."""
    levels = (torch.floor(tokens / STEP) + 8).clamp(0, 15)
    return tokens + ((levels - 7.5) * STEP - tokens).detach()


def maxsim(asked: Tensor, asked_mask: Tensor, told: Tensor, told_mask: Tensor) -> Tensor:
    """Mean over a question's tokens of the best match in each text: questions x texts."""
    alike = torch.einsum("qiw,dtw->qdit", asked, told)
    alike = alike.masked_fill(~told_mask[None, :, None, :], -1.0).amax(-1)
    weight = asked_mask.float() / asked_mask.float().sum(1, keepdim=True).clamp(min=1)
    return torch.einsum("qdi,qi->qd", alike, weight)


class Compare(nn.Module):
    """Late interaction that was learned: what each word of the question finds in a text, and what that says together.

    For a question's token q and what it attends to in the text, c = sum softmax(SHARP q.t) t:
    h = gelu(W [q, c, q * c, best q.t]), then a weighted mean and the maximum over the question's tokens, then a small
    layer.
    """

    SHARP = 16.0

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3 * WIDTH + 1, INNER)
        self.worth = nn.Linear(WIDTH, 1)
        self.outer = nn.Linear(2 * INNER, INNER)
        self.score = nn.Linear(INNER, 1)

    def forward(self, asked: Tensor, asked_mask: Tensor, told: Tensor, told_mask: Tensor) -> Tensor:
        """asked: q x i x w; told: q x c x t x w. A score for each question and candidate."""
        alike = torch.einsum("qiw,qctw->qcit", asked, told).masked_fill(~told_mask[:, :, None, :], -1.0)
        best = alike.amax(-1, keepdim=True)
        attends = torch.softmax(alike * self.SHARP, dim=-1)
        context = torch.einsum("qcit,qctw->qciw", attends, told)
        question = asked[:, None].expand(-1, told.shape[1], -1, -1)
        inner = F.gelu(self.inner(torch.cat([question, context, question * context, best], dim=-1)))
        worth = self.worth(asked)[..., 0].masked_fill(~asked_mask, -1e4).softmax(-1)
        mean = torch.einsum("qcih,qi->qch", inner, worth)
        most = inner.masked_fill(~asked_mask[:, None, :, None], -1e4).amax(2)
        return self.score(F.gelu(self.outer(torch.cat([mean, most], dim=-1))))[..., 0]


class Reader(nn.Module):
    """A cross-encoder: relevance, the place of the answer, its kind, the status of what is said, and whether a turn
    replaces what is read before it.

    And at a glance: a turn that is read without a question gives each token two vectors, a question by itself two as
    well, and how rarely it is answered; their products say whether the answer begins, or ends, at that token. So one
    run tells of all relations.
    """

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.bert = bert(layers)
        self.glancing = nn.ModuleList(BertLayer(self.bert.config) for _ in range(GLANCING))
        self.pooler = nn.Linear(HIDDEN, HIDDEN)
        self.relevance = nn.Linear(HIDDEN, 1)
        self.kind = nn.Linear(HIDDEN, 4)
        self.status = nn.Linear(HIDDEN, 7)
        self.span = nn.Linear(HIDDEN, 2)
        self.renews = nn.Linear(HIDDEN, 1)
        self.tells = nn.Linear(HIDDEN, 2 * TOLD)
        self.asks = nn.Linear(HIDDEN, 2 * TOLD + 2)
        with torch.no_grad():
            self.asks.bias[-2:] = -5.0  # few tokens begin or end an answer

    def forward(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, ...]:
        """Relevance, kind, status, span (by token) and renews: logits."""
        hidden = self.bert(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        pooled = torch.tanh(self.pooler(hidden[:, 0]))
        return (
            self.relevance(pooled)[:, 0], self.kind(pooled), self.status(pooled), self.span(hidden),
            self.renews(pooled)[:, 0],
        )  # fmt: skip

    def told(self, ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor]:
        """The vectors of each token of a turn without a question."""
        states = self.bert(
            input_ids=ids, attention_mask=mask, token_type_ids=types, output_hidden_states=True
        ).hidden_states
        hidden = states[-1 - GLANCING]
        unseen = torch.zeros_like(mask, dtype=hidden.dtype).masked_fill(mask == 0, -1e4)[:, None, None]
        for layer in self.glancing:
            made = layer(hidden, unseen)
            hidden = made[0] if isinstance(made, tuple) else made
        return (self.tells(hidden),)

    def glance_as_it_reads(self) -> None:
        """The layers of the glance begin as those that it has instead of."""
        for own, layer in zip(self.glancing, self.bert.encoder.layer[-GLANCING:], strict=True):
            own.load_state_dict(layer.state_dict())

    def asked(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The vectors and the two biases of a question by itself."""
        hidden = self.bert(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        return self.asks(hidden[:, 0])

    def glance(self, told: Tensor, asked: Tensor) -> Tensor:
        """turns x tokens x 2w and questions x (2w + 2): logits, turns x questions x tokens x 2."""
        begins, ends, rare = asked.split((TOLD, TOLD, 2), -1)
        sides = zip(told.split(TOLD, -1), (begins, ends), strict=True)
        alike = torch.stack([torch.einsum("ntw,qw->nqt", t, a) / math.sqrt(TOLD) for t, a in sides], -1)
        return alike + rare[None, :, None]
