"""Gradients with respect to word vectors: gradient times input, and integrated gradients. Needs torch."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.errors import UsageError
from heedful.explain.attribution import Attribution
from heedful.explain.explained_value import ExplainedValue
from heedful.models import Network
from heedful.nn import Embedding, PretrainedEmbedding
from heedful.structures import Batch, Embedded, Sentences

STEPS = 50
"""Steps of integrated gradients."""
AnyNetwork = TypeVar("AnyNetwork", bound=Network)


@dataclass(frozen=True, eq=False)
class OnVectors:
    """An answer as a function of the word vectors of one example.

    Attributes:
        vectors: of each side, [1, n, D].
        value: takes vectors of each side, [M, n, D]; returns numbers, [M].
        of: what the number is; see `heedful.explain.methods.answer_function.Question`.
        lengths: words of each side; what is behind them is padding.
    """

    vectors: tuple[Tensor, ...]
    value: Callable[[tuple[Tensor, ...]], Tensor]
    of: str
    lengths: tuple[int, ...]


def on_vectors(network: Network, batch: Batch, value: Callable[[Tensor], Tensor], of: str) -> OnVectors:
    """Let a network answer vectors in place of words. The network itself is not changed; the weights are shared.

    Args:
        network: in evaluation mode.
        batch: one example.
        value: the network's logits, [M, ...], to the number that is explained, [M].
        of: what it is.

    Returns:
        The function.

    Raises:
        UsageError: if the network has no word vectors.
    """
    embedding = network.sentence_encoder.embedding
    if isinstance(embedding, PretrainedEmbedding):
        raise UsageError(
            "this model reads through a pretrained encoder and has no word vectors to take gradients of; choose the "
            "method occlusion or shapley"
        )
    with torch.no_grad():
        vectors = tuple(embedding.embed(side).tokens.float() for side in batch.sides)

    def answer(points: tuple[Tensor, ...]) -> Tensor:
        many = replace(batch, sides=tuple(_repeated(side, len(points[0])) for side in batch.sides), rows=())
        given = _ComputedEmbedding(embedding, list(zip(many.sides, points, strict=True)))
        return value(_with_embedding(network, given)(many).logits.float())

    return OnVectors(vectors, answer, of, tuple(int(side.valid.sum()) for side in batch.sides))


def log_odds(logits: Tensor, value: ExplainedValue) -> Tensor:
    """Return ``log(p / (1 - p))`` of one class, or one parent of classes, of a softmax over logits [N, Y], [N]."""
    others = value.others(logits.shape[1])
    return logits[:, value.own].logsumexp(dim=1) - logits[:, others].logsumexp(dim=1)


def gradient(problem: OnVectors) -> Attribution:
    """Explain by gradient times input, ``x_i · dv/dx_i``, summed over features (Shrikumar et al., 2016).

    Args:
        problem: the answer and its word vectors.

    Returns:
        What each word contributes, to first order.
    """
    values, gradients = _gradients(problem, problem.vectors)
    found = _summed(problem, [g * x for g, x in zip(gradients, problem.vectors, strict=True)])
    return _completed(problem, Attribution("gradient", problem.of, found, whole=float(values[0])))


def integrated(problem: OnVectors, *, steps: int = STEPS) -> Attribution:
    """Explain by integrated gradients from zero vectors, ``x_i · ∫ dv/dx_i (a x) da`` (Sundararajan et al., 2017).

    The integral over a from 0 to 1 is a Gauss-Legendre sum. A zero vector is what an unknown word has. By completeness
    the contributions add up to the value of the text less that of zero vectors; `Attribution.together` is what the sum
    over the steps misses.

    Args:
        problem: the answer and its word vectors.
        steps: points of the sum.

    Returns:
        What each word contributes.
    """
    points, weights = np.polynomial.legendre.leggauss(steps)
    share = torch.from_numpy((points + 1) / 2).float()[:, None, None].to(problem.vectors[0].device)
    weight = torch.from_numpy(weights / 2).to(share)[:, None, None]
    _, gradients = _gradients(problem, tuple(share * x for x in problem.vectors))
    found = _summed(
        problem,
        [
            ((g * weight).sum(dim=0, keepdim=True)) * x
            for g, x in zip(gradients, problem.vectors, strict=True)
        ],
    )
    made = Attribution("integrated", problem.of, found, whole=0.0, samples=steps)
    return _completed(problem, made)


def _completed(problem: OnVectors, made: Attribution) -> Attribution:
    """Add the number with all words and with vectors of zero, and what the contributions miss between them."""
    with torch.no_grad():
        ends = problem.value(tuple(torch.cat([x, torch.zeros_like(x)]) for x in problem.vectors)).tolist()
    return replace(made, whole=ends[0], start=ends[1], together=ends[0] - ends[1] - made.total)


def _gradients(problem: OnVectors, points: tuple[Tensor, ...]) -> tuple[Tensor, Sequence[Tensor]]:
    with torch.enable_grad():
        leaves = tuple(x.detach().requires_grad_() for x in points)
        values = problem.value(leaves)
        gradients = torch.autograd.grad(values.sum(), leaves, allow_unused=True)
    pairs = zip(gradients, leaves, strict=True)
    return values.detach(), [torch.zeros_like(x) if g is None else g for g, x in pairs]


def _summed(problem: OnVectors, products: Sequence[Tensor]) -> tuple[NDArray[np.float64], ...]:
    """Return one number for each word of each side, [n], from products of [1, L, D]."""
    sums = [product[0].detach().double().sum(dim=-1).cpu().numpy() for product in products]
    return tuple(side[:length] for side, length in zip(sums, problem.lengths, strict=True))


class _ComputedEmbedding(Embedding):
    """Vectors that were computed before, in place of an embedding.

    Args:
        embedding: what they came from.
        columns: sentences and the vectors of their words.
    """

    def __init__(self, embedding: Embedding, columns: list[tuple[Sentences, Tensor]]) -> None:
        super().__init__()
        self._width, self._columns = embedding.width, columns

    @property
    def width(self) -> int:
        """See `Embedding.width`."""
        return self._width

    def embed(self, sentences: Sentences) -> Embedded:
        """See `Embedding.embed`."""
        return Embedded(next(vectors for own, vectors in self._columns if own is sentences))


def _with_embedding(network: AnyNetwork, embedding: Embedding) -> AnyNetwork:
    """Return a network that shares everything with another one but its embedding."""
    other, reader = copy.copy(network), copy.copy(network.sentence_encoder)
    reader._modules = {**network.sentence_encoder._modules, "embedding": embedding}
    other._modules = {**network._modules, "sentence_encoder": reader}
    return other


def _repeated(side: Sentences, count: int) -> Sentences:
    def of(part: Tensor | None) -> Tensor | None:
        return None if part is None else part.expand(count, *part.shape[1:])

    return replace(
        side,
        ids=side.ids.expand(count, -1),
        valid=side.valid.expand(count, -1),
        tree_distance=of(side.tree_distance),
        words=of(side.words),
        heads=of(side.heads),
        spellings=None,
    )
