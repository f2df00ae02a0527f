"""Fitting a linear model of tags with a chain on top, by the likelihood of whole sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.attention.crf import Chain, crf_expected, edge_counts

if TYPE_CHECKING:
    from scipy import sparse

Floats = NDArray[np.float32]
EPOCHS, BATCH = 12, 16
"""Passes over the sentences, and sentences of a step."""
_BLOCK = 8192
"""Words whose vectors are in memory at a time."""
RATE = 0.2
"""Learning rate of AdaGrad; the last half of the passes is averaged."""


@dataclass(frozen=True, eq=False)
class ChainRows:
    """Sentences as a linear model of tags reads them.

    Attributes:
        words: which features each word has, one row a word, sparse [T, n] of ones.
        table: vectors of distinct words, [V, D]; D may be 0.
        around: of each word the rows of the vectors that are read at it, side by side, [T, k].
        offsets: where each sentence begins, and the end, [N + 1].
    """

    words: sparse.csr_matrix
    table: Floats
    around: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def width(self) -> int:
        """Numbers of the vectors that are read at a word, k D."""
        return self.around.shape[1] * self.table.shape[1]

    def vectors(self, places: NDArray[np.int64]) -> Floats:
        """Return the numbers of the vectors that are read at some words, [n, k D]."""
        found: Floats = self.table[self.around[places]].reshape(len(places), self.width)
        return found

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def places(self, sentences: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the rows of the words of sentences, end to end, and which places of [B, L] they have."""
        lengths = np.diff(self.offsets)[sentences]
        valid = np.arange(max(int(lengths.max(initial=0)), 1)) < lengths[:, None]
        starts = np.repeat(self.offsets[:-1][sentences], lengths)
        within = np.nonzero(valid)[1]
        return starts + within, valid


@dataclass(frozen=True, eq=False)
class ChainFit:
    """The weights of a linear model of tags.

    Attributes:
        words: of features, [n, Y].
        vectors: of further numbers, [D, Y].
        bias: [Y].
        follows: what a tag scores behind another one, [tag, before], [Y, Y].
        first: what it scores at the beginning, [Y].
        last: and at the end, [Y].
    """

    words: Floats
    vectors: Floats
    bias: Floats
    follows: Floats
    first: Floats
    last: Floats

    @classmethod
    def zeros(cls, features: int, width: int, tags: int) -> ChainFit:
        """Return weights of 0."""
        shapes = ((features, tags), (width, tags), (tags,), (tags, tags), (tags,), (tags,))
        return cls(*(np.zeros(shape, np.float32) for shape in shapes))

    def tensors(self) -> tuple[Floats, ...]:
        """Return the arrays in the order of the attributes."""
        return self.words, self.vectors, self.bias, self.follows, self.first, self.last

    def emissions(self, rows: ChainRows) -> Floats:
        """Return what each tag of each word scores by itself, [T, Y]."""
        found: Floats = np.asarray(rows.words @ self.words, np.float32) + self.bias
        for start in range(0, len(found) if rows.width else 0, _BLOCK):
            places = np.arange(start, min(start + _BLOCK, len(found)))
            found[places] += rows.vectors(places) @ self.vectors
        return found

    def chain(self, allowed: Chain) -> Chain:
        """Return the scores of tags side by side; those that may not be are minus infinity."""
        own = (self.follows, self.first, self.last)
        return Chain(*(torch.from_numpy(x).double() + may for x, may in zip(own, allowed, strict=True)))


@dataclass(frozen=True)
class ChainStrength:
    """How strongly weights are drawn to 0: the loss of all sentences has ``|w|² / (2 strength)`` added.

    Attributes:
        words: inverse strength for features and chains.
        vectors: for further numbers.
    """

    words: float = 1.0
    vectors: float = 1.0


def fit_chain(
    rows: ChainRows,
    gold: NDArray[np.int64],
    allowed: Chain,
    strength: ChainStrength,
    *,
    weights: NDArray[np.float64] | None = None,
    epochs: int = EPOCHS,
    seed: int = 0,
) -> ChainFit:
    """Fit a linear model of tags with a chain on top.

    The negative log-likelihood of the sentences and the squares of the weights fall by AdaGrad (Duchi et al., 2011) in
    small batches; of the features only those of a batch are touched, and their squares count as often as they occur.
    The weights are the mean of those after each pass of the second half.

    Args:
        rows: the sentences.
        gold: the number of each word's tag, [T].
        allowed: 0 where tags may stand side by side, minus infinity where they may not, double precision.
        strength: of regularization.
        weights: how much each sentence counts, [N], 1 on average; None where all count alike.
        epochs: passes.
        seed: of the order of the sentences.

    Returns:
        The weights; the same input gives the same.
    """
    tags, n = len(allowed.first), rows.words.shape[1]
    fit = ChainFit.zeros(n, rows.width, tags)
    squares = tuple(np.full_like(each, 1e-6) for each in fit.tensors())
    total, kept = [np.zeros(each.shape) for each in fit.tensors()], 0
    steps = -(-len(rows) // BATCH)
    occurs = np.bincount(rows.words.indices, minlength=n)
    pull = (1 / strength.words / np.clip(occurs, 1, steps)).astype(np.float32)
    generator = np.random.default_rng(seed)
    for epoch in range(epochs):
        for sentences in _batches(np.diff(rows.offsets), generator):
            own = None if weights is None else weights[sentences]
            _descend(fit, squares, rows, gold, sentences, allowed, pull, strength, steps, own)
        if epoch >= epochs // 2:
            kept += 1
            for sum_, each in zip(total, fit.tensors(), strict=True):
                sum_ += each
    return ChainFit(*((each / max(kept, 1)).astype(np.float32) for each in total))


def _batches(lengths: NDArray[np.int64], generator: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the sentences in batches of similar length, in a random order."""
    order = generator.permutation(len(lengths))
    order = order[np.argsort(lengths[order], kind="stable")]
    cut = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    return [cut[k] for k in generator.permutation(len(cut))]


def _descend(
    fit: ChainFit,
    squares: tuple[Floats, ...],
    rows: ChainRows,
    gold: NDArray[np.int64],
    sentences: NDArray[np.int64],
    allowed: Chain,
    pull: Floats,
    strength: ChainStrength,
    steps: int,
    weights: NDArray[np.float64] | None,
) -> None:
    """Take one step, in place."""
    places, valid = rows.places(sentences)
    if not len(places):
        return
    own, tags = rows.words[places], len(fit.bias)
    known, columns = np.unique(own.indices, return_inverse=True)
    own = type(own)((own.data, columns, own.indptr), shape=(len(places), len(known)))
    features, vectors = fit.words[known], rows.vectors(places)
    scores = np.zeros((*valid.shape, tags))
    scores[valid] = own @ features + fit.bias + vectors @ fit.vectors
    mask = torch.from_numpy(valid)
    shares = None if weights is None else torch.from_numpy(weights)
    expected = crf_expected(torch.from_numpy(scores), mask, fit.chain(allowed), shares)
    wanted = np.zeros_like(scores)
    right = np.zeros(valid.shape, np.int64)
    right[valid] = gold[places]
    counted = np.ones(len(valid)) if weights is None else weights
    np.put_along_axis(wanted, right[..., None], counted[:, None, None], axis=2)
    wanted[~valid] = 0
    differs = expected.marginals.numpy() - wanted
    slope = differs[valid].astype(np.float32)
    pairs = valid[:, 1:]
    follows = expected.follows.numpy().copy()
    each = np.broadcast_to(counted[:, None], pairs.shape)[pairs]
    np.subtract.at(follows, (right[:, 1:][pairs], right[:, :-1][pairs]), each)
    first, last = edge_counts(torch.from_numpy(differs), mask)
    share = 1 / (strength.words * steps)
    slopes = (
        np.asarray(own.T @ slope) + pull[known, None] * features,
        vectors.T @ slope + fit.vectors / (strength.vectors * steps),
        slope.sum(axis=0),
        follows + share * fit.follows,
        first.numpy() + share * fit.first,
        last.numpy() + share * fit.last,
    )
    targets: list[Any] = [known, *[slice(None)] * 5]
    for place, square, change, weight in zip(targets, squares, slopes, fit.tensors(), strict=True):
        change = change.astype(np.float32)
        now = square[place] + change * change
        square[place] = now
        weight[place] -= RATE * change / np.sqrt(now)
