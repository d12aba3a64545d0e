"""Training by parts: how inputs are laid out, that losses fall, and which questions stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

import embedder
import networks
import reader
import train
from corpus import save, trimmed
from embedder import LIKELY, NEAR, candidates, train_embedder
from reader import student as student_of
from reader import train_reader

from .conftest import TOKENIZER


@pytest.fixture(autouse=True)
def _same_chance() -> None:
    torch.manual_seed(1)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(TOKENIZER))


def text_of(tokenizer: Tokenizer, ids: torch.Tensor) -> str:
    return str(tokenizer.decode(ids[ids != 0].tolist(), skip_special_tokens=False))


def test_a_turn_stands_behind_the_end_of_the_one_before(corpus: Any, tokenizer: Tokenizer) -> None:
    ids, mask, segments, own = corpus.turns(torch.tensor([0, 1]))
    assert text_of(tokenizer, ids[0]) == "[CLS] ana : i keep the kayak in leeds [SEP]"
    assert text_of(tokenizer, ids[1]) == "[CLS] ana : i keep the kayak in leeds [SEP] cleo : ok [SEP]"
    assert text_of(tokenizer, ids[1] * own[1]) == "cleo : ok [SEP]"
    assert torch.equal(mask, ids != 0)
    assert torch.equal(segments.bool(), own)
    alone, *_ = corpus.turns(torch.tensor([1]), before=False)
    assert text_of(tokenizer, alone[0]) == "[CLS] cleo : ok [SEP]"


def test_the_answer_is_found_where_the_turns_own_words_begin(corpus: Any, tokenizer: Tokenizer) -> None:
    for row, place in ((0, "leeds"), (2, "porto")):
        told = torch.tensor([int(corpus.right[row][0])])
        ids, _, segments, begin = corpus.pairs(torch.tensor([row]), told)
        first, last = corpus.data["span"][row]
        assert text_of(tokenizer, ids[0, int(begin[0]) + first : int(begin[0]) + last + 1]) == place
        question, _, rest = text_of(tokenizer, ids[0]).partition(" [SEP] ")
        assert question.startswith("[CLS] where is the")
        assert text_of(tokenizer, ids[0] * segments[0]) == rest


def test_the_turn_before_may_be_left_out_of_a_pair(corpus: Any, tokenizer: Tokenizer) -> None:
    row, told = torch.tensor([1, 1]), torch.tensor([2, 2])
    ids, *_ = corpus.pairs(row, told, torch.tensor([1, 0]))
    assert "cleo : ok" in text_of(tokenizer, ids[0])
    assert "cleo : ok" not in text_of(tokenizer, ids[1])


def test_candidates_begin_with_the_right_turn_and_stay_in_the_bank(corpus: Any) -> None:
    near = candidates(networks.Embedder(1), corpus).numpy()
    assert near.shape == (len(corpus.right), NEAR)
    for row, several in enumerate(near):
        assert several[0] == corpus.right[row][0]
        assert set(several[1 : LIKELY + 1].tolist()).isdisjoint(corpus.right[row].tolist())
        assert set(corpus.data["bank_of"][several]) == {corpus.data["bank"][row]}


def test_a_batch_cut_by_length_gives_what_the_whole_gives(corpus: Any) -> None:
    rows = torch.arange(20)
    turns = corpus.turns(rows)
    pairs = corpus.pairs(torch.zeros(20, dtype=torch.int64), rows)[:3]
    assert len(set(turns[1].sum(1).tolist())) > 2, "texts of one length are not cut"
    for network, inputs in ((networks.Embedder(2), turns), (networks.Reader(2), pairs)):
        network.eval()
        with torch.no_grad():
            whole, cut = network(*inputs), trimmed(network, *inputs)
        for one, other in zip(whole, cut, strict=True):
            real = inputs[1][..., None] if one.dim() == 3 else torch.ones_like(one)
            assert one.shape == other.shape
            assert torch.allclose(one * real, other * real, atol=1e-5)


def recorded(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[float]:
    """The losses of each step, in order."""
    original, seen = getattr(module, name), []

    def watched(*arguments: Any) -> Any:
        loss = original(*arguments)
        seen.append(float(sum(loss).detach() if isinstance(loss, list) else loss.detach()))
        return loss

    monkeypatch.setattr(module, name, watched)
    return seen


@pytest.mark.parametrize("taught", [False, True])
def test_a_readers_losses_fall(corpus: Any, monkeypatch: pytest.MonkeyPatch, taught: bool) -> None:
    losses, of_statuses = (recorded(monkeypatch, reader, f"{name}_loss") for name in ("reader", "status"))
    network = networks.Reader(2)
    network.bert.embeddings.word_embeddings.weight.requires_grad_(False)
    near = candidates(networks.Embedder(1), corpus)
    target = torch.full(near.shape, -3.0)
    target[:, 0] = 2.0
    rows = np.flatnonzero(corpus.data["trust"] <= 1)
    train_reader(
        network, corpus, near, rows, target if taught else None, rate=3e-4, epochs=4, batch=8, width=4, seed=1
    )
    assert np.mean(losses[-4:]) < 0.8 * np.mean(losses[:4])
    assert np.mean(of_statuses[-4:]) < 0.8 * np.mean(of_statuses[:4])


def test_the_embedders_losses_fall(
    corpus: Any, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = recorded(monkeypatch, embedder, "losses_of")
    network = train.start_embedder(files["model"], [0, 1])
    near = candidates(network, corpus)
    target = torch.full(near.shape, -5.0)
    target[:, 0] = 2.0
    rows = np.flatnonzero(corpus.data["kind"] != 3)
    words = torch.tensor(np.load(files["worded"]))
    train_embedder(network, corpus, near, target, rows, words, rate=1e-4, epochs=6, batch=8, width=4, seed=1)
    assert np.mean(losses[-4:]) < 0.8 * np.mean(losses[:4])


def test_word_vectors_are_not_trained(corpus: Any, files: dict[str, Path]) -> None:
    network = train.start_embedder(files["model"], [0])
    before = network.bert.embeddings.word_embeddings.weight.clone()
    near = candidates(network, corpus)
    words = torch.tensor(np.load(files["worded"]))
    train_embedder(
        network, corpus, near, torch.zeros(near.shape), np.arange(8), words, rate=1e-3, epochs=1, batch=8,
        width=4, seed=1,
    )  # fmt: skip
    assert torch.equal(network.bert.embeddings.word_embeddings.weight, before)


def test_the_teacher_leaves_out_what_it_does_not_find_again(
    corpus: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust, kind = corpus.data["trust"], corpus.data["kind"]
    judged = torch.full((len(trust), NEAR), -4.0)
    judged[:, 0] = 3.0
    (lost, *_), (weak, *_), (beaten_by_two, *_) = (
        np.flatnonzero((trust == level) & (kind == 0))[at:] for level, at in ((2, 0), (1, 0), (2, 1))
    )
    judged[lost, 1:5] = 5.0
    judged[weak, 0] = -2.0
    judged[beaten_by_two, 1:3] = 5.0
    by_hand = np.flatnonzero(trust == 0)
    judged[by_hand[0], 0] = -9.0
    monkeypatch.setattr(train, "judged", lambda *_: judged)
    run = train.Run(tmp_path, False, corpus, corpus, torch.zeros(1))
    near = torch.arange(len(trust) * NEAR).view(len(trust), NEAR)
    train.judge_questions(run, networks.Reader(1), near)
    again, target, kept = run.judgement()
    assert torch.equal(again, near)
    assert torch.equal(target, judged)
    assert set(range(len(trust))) - set(kept.tolist()) == {lost, weak}
    counts = {level: int((trust == level).sum()) for level in (0, 1, 2)}
    assert json.loads((tmp_path / "kept.report.json").read_text()) == {
        "0": [counts[0]] * 2,
        "1": [counts[1] - 1, counts[1]],
        "2": [counts[2] - 1, counts[2]],
    }


def test_what_is_written_by_hand_counts_three_times(corpus: Any, tmp_path: Path) -> None:
    run = train.Run(tmp_path, False, corpus, corpus, torch.zeros(1))
    rows = run.with_hand_written_thrice(np.arange(len(corpus.right)))
    times = np.bincount(rows)
    assert set(times[corpus.data["trust"] == 0]) == {3}
    assert set(times[corpus.data["trust"] > 0]) == {1}


def test_a_student_has_every_fourth_layer_of_its_teacher() -> None:
    teacher = networks.Reader(12)
    student = student_of(teacher, 4).state_dict()
    ours = "bert.encoder.layer.1.output.dense.weight"
    assert torch.equal(student[ours], teacher.state_dict()["bert.encoder.layer.7.output.dense.weight"])
    assert torch.equal(student["span.weight"], teacher.span.weight)


@pytest.mark.parametrize("pool", ["mean", "first"])
def test_a_sentence_is_the_mean_of_its_own_tokens_or_the_first_one(corpus: Any, pool: str) -> None:
    network = networks.Embedder(1, pool).eval()
    ids, mask, types, own = corpus.turns(torch.tensor([1]))
    with torch.no_grad():
        sentence, tokens = network(ids, mask, types, own)
        hidden = network.bert(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state[0]
    expected = hidden[0] if pool == "first" else hidden[own[0]].mean(0)
    assert torch.allclose(sentence[0], torch.nn.functional.normalize(expected, dim=-1), atol=1e-5)
    assert tokens.shape == (1, ids.shape[1], networks.WIDTH)


def test_an_embedder_that_was_saved_chooses_candidates(files: dict[str, Path], tmp_path: Path) -> None:
    trained = train.start_embedder(files["model"], list(range(6)))
    with torch.no_grad():
        trained.project.weight += 1.0
    save(tmp_path, "embedder6", trained)
    miner = train.start_miner(files["model"], tmp_path, "mean").state_dict()
    assert torch.equal(miner["project.weight"], trained.project.weight.half().float())
    words = "bert.embeddings.word_embeddings.weight"
    assert torch.equal(miner[words], trained.state_dict()[words])


def test_coded_vectors_have_sixteen_levels_and_pass_the_gradient() -> None:
    tokens = torch.nn.functional.normalize(torch.randn(200, networks.WIDTH), dim=-1).requires_grad_()
    coded = networks.coded(tokens)
    assert len(torch.unique((coded / networks.STEP).round(decimals=2))) == 16
    coded.sum().backward()
    assert torch.equal(tokens.grad, torch.ones_like(tokens))
