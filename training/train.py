"""Step 5, train: a teacher, then the embedder and the readers that it teaches. For a GPU; `--small` runs on a CPU.

    python training/train.py --data data.npz --eval locomo.npz --worded worded.npy --start model.safetensors \
        --reranker model.onnx --out FOLDER [--stage teacher|judge|embedder|reader6|reader3] [--again FOLDER] [--small]

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
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from corpus import DEVICE, Corpus, save, say
from embedder import NEAR, candidates, evaluate, train_embedder
from networks import Embedder, Reader, load_bert
from reader import Renewals, judged, load_reader, student, train_reader
from weights import from_onnx, published, saved

WRONG = -1.0
"""The highest logit that the teacher's judgement keeps for a turn that is known not to answer."""


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
        choices=("teacher", "judge", "embedder", "reader6", "reader3"),
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
    parser.add_argument(
        "--again", type=Path, help="folder of a reader that learns more, instead of the teacher's layers"
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
    if given.stage in (None, "teacher", "judge"):
        near = candidates(start_miner(given.start, given.mine, given.pool), corpus)
        say("candidates", tuple(near.shape))
        is_there = given.stage == "judge"
        teacher = load_teacher(run, given.reranker) if is_there else train_teacher(run, given.reranker, near)
        judge_questions(run, teacher, near)
    if given.stage in (None, "embedder"):
        layers = [int(one) for one in given.layers.split(",")]
        train_own_embedder(
            run, start_embedder(given.start, layers, given.pool), given.rate, given.epochs or 5.0
        )
    for layers in (6, 3):
        if given.stage in (None, f"reader{layers}"):
            train_student(run, given.reranker, layers, given.again)
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


def train_student(run: Run, path: Path, layers: int, again: Path | None = None) -> None:
    """A reader of six or of three layers, on all kept questions; `again`: where one lies that goes on learning."""
    near, target, kept = run.judgement()
    if again is None:
        network = student(load_teacher(run, path), 12 // layers)
    else:
        start = Reader(12)
        load_reader(start, from_onnx(path))  # for the word vectors
        network = student(start, 12 // layers)
        load_trained(network, again, f"reader{layers}")
        if not any(name.startswith("glancing.") for name in saved(again, f"reader{layers}")):
            network.glance_as_it_reads()
    train_reader(
        network, run.corpus, near, run.with_hand_written_thrice(kept), target, rate=1.5e-4 if again is None else 6e-5,
        epochs=0.02 if run.small else run.epochs or 2.5, batch=8 if run.small else 192,
        width=4 if run.small else 8, seed=3,
        renewals=Renewals(run.corpus, near) if run.corpus.data["renew.renews"].any() else None,
        seconds=run.seconds,
    )  # fmt: skip
    save(run.out, f"reader{layers}", network)


if __name__ == "__main__":
    main()
