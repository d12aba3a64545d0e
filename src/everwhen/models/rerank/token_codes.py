"""Token vectors small enough to keep: a token's 96 floats become 48 bytes.

    code = clip(floor(y / STEP) + 8, 0, 15)            4 bits a dimension
    y'   = (code - 7.5) STEP                           what is compared

The network gives vectors of 96 dimensions and length one, and was trained with these codes in between.

A long text keeps 64 vectors, each the mean of neighbouring tokens. That bounds its bytes, and it is fairer: the
more vectors a text has, the better the best of them matches anything (docs/models.md has the figures).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed.base import Vectors, normalised

WIDTH = 96
TOKEN_BYTES = WIDTH // 2
STEP = np.float32(0.335 / WIDTH**0.5)
"""The step with the least squared error for a normal variable in 16 levels is 0.335 of its deviation (Max 1960);
a dimension of a unit vector deviates by 1 / sqrt(96)."""
MOST = 64
"""Vectors of a text. Tuned on LongMemEval dev, where 48 to 96 are alike; a turn of LoCoMo seldom has as many."""
MOST_OF_PIECE = 16
"""What each piece may add once this is more: a text of many pages is not drawn together to 64."""
FORMAT = b"\x02"
"""The first byte of every code: another network or step is another format."""


def encode(projected: Vectors) -> bytes:
    """A text's tokens in bytes; no tokens give the format alone."""
    return FORMAT + pack(pooled(projected)).tobytes()


def pack(projected: Vectors) -> NDArray[np.uint8]:
    """48 bytes for each row: dimension i in the low half of byte i, dimension i + 48 in its high half."""
    levels = np.clip(np.floor(projected * (1 / STEP)) + 8, 0, 15).astype(np.uint8)
    return np.asarray(levels[:, :TOKEN_BYTES] | (levels[:, TOKEN_BYTES:] << 4), dtype=np.uint8)


def pooled(projected: Vectors, most: int = MOST) -> Vectors:
    """At most so many rows: each the mean, again of length one, of a run of neighbours, all runs about as long."""
    if len(projected) <= most:
        return projected
    starts = np.arange(most) * len(projected) // most
    return normalised(np.add.reduceat(projected, starts, axis=0))


def join(codes: Sequence[bytes]) -> bytes:
    """The codes of a text's pieces as those of one text."""
    most = max(MOST, MOST_OF_PIECE * len(codes))
    if sum(map(len, codes)) <= most * TOKEN_BYTES + len(codes):
        return FORMAT + b"".join(code[1:] for code in codes)
    return FORMAT + pack(pooled(decode(codes)[0], most)).tobytes()


def decode(codes: Sequence[bytes]) -> tuple[Vectors, NDArray[np.int64]]:
    """The tokens of several texts in one matrix, and how many belong to each; none where the format is another."""
    readable = [code[1:] if is_readable(code) else b"" for code in codes]
    counts = np.array([len(code) // TOKEN_BYTES for code in readable], dtype=np.int64)
    packed = np.frombuffer(b"".join(readable), np.uint8).reshape(-1, TOKEN_BYTES)
    levels = np.empty((len(packed), WIDTH), np.uint8)
    np.bitwise_and(packed, 15, out=levels[:, :TOKEN_BYTES])
    np.right_shift(packed, 4, out=levels[:, TOKEN_BYTES:])
    tokens = levels.astype(np.float32)
    tokens -= np.float32(7.5)
    tokens *= STEP
    return tokens, counts


def is_readable(code: bytes) -> bool:
    return code[:1] == FORMAT and len(code) % TOKEN_BYTES == 1
