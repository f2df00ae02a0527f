"""Pairs of sentences as long as SNLI's, of invented words: what whole models are timed on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from heedful.data.batching import BucketSampler
from heedful.data.examples import Example

_SIDES = ((14.0, 6.0, 80), (8.0, 3.0, 60))
"""Mean, standard deviation and most tokens of a premise and of a hypothesis; SNLI has 14.1 ± 6.1 and 8.2 ± 3.2."""

_LABELS = ("contradiction", "entailment", "neutral")
_WORDS = 20_000


def snli_like_pairs(count: int, seed: int = 0, *, premise_of: int = 1) -> list[Example]:
    """Draw pairs: gamma-distributed lengths, words with Zipf's frequencies, a random tree over every sentence.

    Args:
        count: pairs, at least 3.
        seed: of everything.
        premise_of: how many pairs in a row have the same premise.

    Returns:
        The pairs, labeled in turn with SNLI's three classes.
    """
    generator = np.random.default_rng(seed)
    frequencies = 1 / np.arange(1, _WORDS + 1)
    cumulated = np.cumsum(frequencies / frequencies.sum())
    sides = [
        [_sentence(generator, length, cumulated) for length in _lengths(generator, count, *side)]
        for side in _SIDES
    ]
    sides[0] = [sides[0][number - number % premise_of] for number in range(count)]
    return [
        Example(
            texts=(premise[0], hypothesis[0]),
            target=_LABELS[number % len(_LABELS)],
            row=number + 1,
            heads=(premise[1], hypothesis[1]),
        )
        for number, (premise, hypothesis) in enumerate(zip(*sides, strict=True))
    ]


def bucketed(
    lengths: NDArray[np.int64], size: int, groups: NDArray[np.int64] | None = None
) -> list[NDArray[np.int64]]:
    """Cut pairs into batches as training on SNLI does.

    Args:
        lengths: tokens of each side, [N, 2].
        size: pairs a batch.
        groups: number of each pair's group, [N]; groups stay together. None for none.

    Returns:
        The full batches, from short to long, each as positions in the data.
    """
    sampler = BucketSampler(lengths, batch_size=size, groups=groups, pool=200)  # as on SNLI itself
    whole = [batch for batch in sampler.batches(0) if len(batch) == size]
    return sorted(whole, key=lambda batch: int(lengths[batch].max(axis=0).sum()))


def evenly_spaced(batches: list[NDArray[np.int64]], count: int) -> list[NDArray[np.int64]]:
    """Take some batches that stand for all.

    Args:
        batches: from short to long.
        count: how many to take.

    Returns:
        Every so many batches, the middle one of each group.
    """
    places = (np.arange(count) + 0.5) / count * len(batches)
    return [batches[int(place)] for place in places]


def padding_share(lengths: NDArray[np.int64], batches: list[NDArray[np.int64]]) -> float:
    """Return the share of the places in batches that holds no word.

    Args:
        lengths: tokens of each side, [N, 2].
        batches: positions of the examples of each.

    Returns:
        0 to 1.
    """
    real = sum(int(lengths[batch].sum()) for batch in batches)
    places = sum(int(lengths[batch].max(axis=0).sum()) * len(batch) for batch in batches)
    return 1 - real / places


def _lengths(
    generator: np.random.Generator, count: int, mean: float, deviation: float, most: int
) -> Iterator[int]:
    shape, scale = (mean / deviation) ** 2, deviation**2 / mean
    yield from np.clip(np.rint(generator.gamma(shape, scale, count)), 2, most).astype(int).tolist()


def _sentence(
    generator: np.random.Generator, length: int, cumulated: NDArray[np.float64]
) -> tuple[str, tuple[int, ...]]:
    words = np.searchsorted(cumulated, generator.random(length))
    heads = (0, *(int(generator.integers(1, place + 1)) for place in range(1, length)))
    return " ".join(f"w{word}" for word in words), heads
