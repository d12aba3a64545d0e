"""Step 5b, average: one network out of several that began at the same weights and learned from different data.

    python training/average.py embedder12 --of FIRST SECOND … --shares 0.4 0.6 … --out FOLDER

Every number is the weighted mean. The runs find about the same valley and make different mistakes in it; their mean
is better than each, at the cost of one. What the first has and another has not (a head that was added later) is the
first's.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from weights import saved


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", help="embedder12, reader6, …")
    parser.add_argument("--of", type=Path, nargs="+", required=True, help="folders that train.py wrote")
    parser.add_argument("--shares", type=float, nargs="+", required=True, help="one for each of them")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if len(given.of) != len(given.shares):
        raise SystemExit(f"{len(given.of)} folders need {len(given.of)} shares, not {len(given.shares)}")
    networks = [saved(folder, given.name) for folder in given.of]
    given.out.mkdir(parents=True, exist_ok=True)
    np.savez(given.out / f"{given.name}.0.npz", **average(networks, given.shares))


def average(networks: Sequence[Mapping[str, np.ndarray]], shares: Sequence[float]) -> dict[str, np.ndarray]:
    """The weighted mean of networks of the same form; the first may have more than the others."""
    first = networks[0]
    if any(other.keys() - first.keys() for other in networks):
        raise SystemExit(
            "a network has weights that the first has not: were all trained with the same layers?"
        )
    return {
        name: mean([one[name] for one in networks], shares) if all(name in one for one in networks) else value
        for name, value in first.items()
    }


def mean(values: Sequence[np.ndarray], shares: Sequence[float]) -> np.ndarray:
    whole = [share * value.astype(np.float32) for share, value in zip(shares, values, strict=True)]
    return np.asarray(np.sum(whole, axis=0) / sum(shares), dtype=np.float16)


if __name__ == "__main__":
    main()
