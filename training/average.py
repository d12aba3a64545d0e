"""Step 5b, average: one network out of two that began at the same weights and learned from different data.

    python training/average.py embedder12 --of FIRST SECOND --share 0.6 --out FOLDER

Every number is `(1 - share) * first + share * second`. Both runs find about the same valley and make different
mistakes in it; the mean of the two is better than either, at the cost of one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from weights import saved


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", help="embedder12, reader6, …")
    parser.add_argument("--of", type=Path, nargs=2, required=True, help="folders that train.py wrote")
    parser.add_argument("--share", type=float, default=0.5, help="of the second")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    first, second = (saved(folder, given.name) for folder in given.of)
    given.out.mkdir(parents=True, exist_ok=True)
    np.savez(given.out / f"{given.name}.0.npz", **average(first, second, given.share))


def average(
    first: dict[str, np.ndarray], second: dict[str, np.ndarray], share: float
) -> dict[str, np.ndarray]:
    """The weighted mean of two networks of the same form."""
    if first.keys() != second.keys():
        raise SystemExit(
            "the two networks do not have the same weights: were both trained with the same layers?"
        )
    return {
        name: ((1 - share) * value.astype(np.float32) + share * second[name].astype(np.float32)).astype(
            np.float16
        )
        for name, value in first.items()
    }


if __name__ == "__main__":
    main()
