"""Fit the projection that token vectors are coded in: `src/everwhen/models/rerank/projection.npy`.

    PYTHONPATH=src python scripts/fit_token_projection.py --locomo FILE --longmemeval FILE [--out FILE.npy]

What is written is 385 x 96 numbers and no text: the principal directions of unit token vectors around their
mean, turned by a fixed rotation (see `everwhen.models.rerank.codes`), and in the last row what the mean becomes.
Each data set gives the same number of tokens, from turns drawn by chance. Given one data set alone, it is fitted
on that one: this is how the loss on the other is measured.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everwhen.ingest.importers.locomo import conversation, samples
from everwhen.ingest.importers.longmemeval import placed, questions
from everwhen.models.embed.base import normalised
from everwhen.models.embed.minilm import MiniLM
from everwhen.models.rerank.codes import PROJECTION, WIDTH

TOKENS = 50_000
"""Of each data set: PCA to 96 directions out of 384 does not change its figures with more."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--longmemeval", type=Path)
    parser.add_argument("--out", type=Path, default=PROJECTION)
    given = parser.parse_args()
    sources = []
    if given.locomo:
        said = [message for sample in samples(given.locomo) for message in conversation(sample).messages]
        sources.append([f"{message.speaker}: {message.text}" for message in said])
    if given.longmemeval:
        said = [message for question in questions(given.longmemeval) for message, _ in placed(question)]
        sources.append([f"{message.speaker}: {message.text}" for message in said])
    if not sources:
        parser.error("give at least one data set")
    units = np.concatenate([normalised(_token_vectors(lines)) for lines in sources]).astype(np.float64)
    matrix, kept = _fitted(units)
    np.save(given.out, matrix)
    print(f"{len(units)} tokens, {kept:.3f} of the variance in {WIDTH} dimensions")


def _token_vectors(lines: Sequence[str]) -> NDArray[np.float32]:
    """Token vectors as they are coded, of one piece of each line."""
    embedder = MiniLM()
    model = embedder._model()
    chance = random.Random(1)
    mixed = sorted(set(lines))
    chance.shuffle(mixed)
    found: list[NDArray[np.float32]] = []
    count = 0
    for line in mixed:
        ids = model.token_ids(chance.choice(embedder.pieces(line)))
        _, hidden = model.sentences_and_tokens([ids])
        found.append(hidden[0][model.worded(ids)])
        count += len(found[-1])
        if count >= TOKENS:
            break
    return np.concatenate(found)[:TOKENS]


def _fitted(units: NDArray[np.float64]) -> tuple[NDArray[np.float16], float]:
    """The matrix with its last row, and the share of the variance that it keeps."""
    mean = units.mean(axis=0)
    values, directions = np.linalg.eigh(np.cov(units.T))
    rotation, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((WIDTH, WIDTH)))
    matrix = directions[:, ::-1][:, :WIDTH] @ rotation
    share = float(values[::-1][:WIDTH].sum() / values.sum())
    return np.vstack([matrix, -mean @ matrix]).astype(np.float16), share


if __name__ == "__main__":
    main()
