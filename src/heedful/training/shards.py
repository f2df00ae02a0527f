"""Cutting a batch into shards, and the seed of each: what makes two processes equal one."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence


def cut(rows: Sequence[int], shards: int) -> list[Sequence[int]]:
    """Cut rows into contiguous pieces whose sizes differ by at most one.

    Args:
        rows: rows of a batch.
        shards: number of pieces.

    Returns:
        The pieces in order; the last ones are empty when there are fewer rows than shards.
    """
    size, longer = divmod(len(rows), shards)
    starts = [shard * size + min(shard, longer) for shard in range(shards + 1)]
    return [rows[start:end] for start, end in itertools.pairwise(starts)]


def shard_seed(seed: int, step: int, shard: int) -> int:
    """Return the seed of one shard's dropout, a pure function of its arguments.

    No generator's state has to be saved, and it does not matter which process works on the shard.

    Args:
        seed: the run's seed.
        step: steps already taken.
        shard: which piece of the batch.

    Returns:
        A number below 2⁶³.
    """
    digest = hashlib.blake2b(f"{seed}/{step}/{shard}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
