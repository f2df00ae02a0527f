"""The factors of one head of a few sentences, scaled so that matrix products of them are exact.

A weight is ``A_ij * E_jl`` over its sum, where A comes from phi(q·k) and E from exp(z). Any factor of a row of A and
any factor of a feature of E cancels, so both are divided by their largest value. Where z of a feature varies by at
most ``SAFE_RANGE`` over the tokens, the denominator is then at least ``exp(-SAFE_RANGE - 10)`` for a query that sees
anything, far above the smallest float32, and nothing that matters underflows. Features that vary more are `wide`: their
E is zero here, and `heedful.attention.tensorized_slab` computes them without factoring.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.attention.tensorized_inputs import SlabPart, TensorizedInputs

SAFE_RANGE = 40.0
"""Largest spread of z over the tokens of a sentence for which a feature is computed by matrix products."""

LOW_SCORE = -10.0
"""A row of sigmoids whose largest score lies below this is rescaled; above it the sigmoid is safe as it is."""

_ROWS = 96
"""Queries a block: long enough for fast products, short enough to skip what a directional mask hides."""


@dataclass(frozen=True)
class Block:
    """Queries ``rows`` and the range of ``keys`` that may hold one visible to them."""

    rows: slice
    keys: slice


def blocks(length: int, low: int, high: int) -> Iterator[Block]:
    """Cut the queries, and give each piece the keys with ``low <= j - i <= high``.

    Yields Blocks that cover every visible pair, in order of the queries.
    """
    count = max(1, round(length / _ROWS))
    if count == 1:
        yield Block(slice(0, length), slice(0, length))
        return
    for n in range(count):
        start, stop = length * n // count, length * (n + 1) // count
        first, last = max(0, start + low), min(length, stop + high)
        if first < last:
            yield Block(slice(start, stop), slice(first, last))


@dataclass
class PairFactor:
    """phi of the scores of one block, each row divided by something that cancels.

    Attributes:
        factor: A, [b, rows, keys]; 0 where not visible.
        shift: log of what a row of sigmoids was divided by, [b, rows, 1]; None where it is 1 everywhere.
    """

    factor: Tensor
    shift: Tensor | None


class Slab:
    """One head of consecutive sentences of a batch.

    Args:
        inputs: of all heads and sentences.
        part: which of them.
        centered: whether the mean of the values is taken off them. It changes no weight and so no gradient, yet the
            gradients of the weights are differences of values and outputs, and lose fewer digits without it.

    Attributes:
        center: what was taken off, [b, 1, C]; None for nothing.
    """

    def __init__(self, inputs: TensorizedInputs, part: SlabPart, *, centered: bool = False) -> None:
        keep, all_valid = inputs.keep(part.head), inputs.valid[part.sentences]
        keep = keep[part.sentences] if keep.dim() == 3 else keep  # empty when every pair is visible
        valid = None if bool(all_valid.all()) else all_valid
        drop_source = None if inputs.drop_source is None else part(inputs.drop_source)
        exact = torch.float64 if inputs.query.dtype == torch.float64 else torch.float32
        query, key, value, source = (part(x).to(exact) for x in inputs[:4])
        if valid is not None:
            padding = ~valid[..., None]
            # Padding may hold anything, even NaN, and 0 * NaN is NaN: clear it before any product.
            query, key, value = (x.masked_fill(padding, 0) for x in (query, key, value))
            smallest = source.masked_fill(padding, torch.inf).amin(1, keepdim=True)
            source = source.masked_fill(padding, -torch.inf)
        else:
            smallest = source.amin(1, keepdim=True)
        largest = source.amax(1, keepdim=True)
        self.center = _mean(value, valid) if centered else None
        if self.center is not None:
            value = value - self.center  # at padding too, where every factor is zero
        self.query, self.key, self.value, self.source = query, key, value, source
        self.valid, self.keep, self.scale, self.sigmoid = valid, keep, inputs.scale, inputs.sigmoid
        wide = largest - smallest > SAFE_RANGE
        self.wide = wide[:, 0] if bool(wide.any()) else None
        if valid is not None:
            largest = largest.clamp_min(
                torch.finfo(exact).min
            )  # a sentence without words: -inf - -inf is NaN
        self.factor = (source - largest).exp_()
        if self.wide is not None:
            self.factor.masked_fill_(wide, 0)
        self.drop_source = drop_source
        self.weighted = self.factor * value
        if drop_source is not None:
            self.weighted.mul_(drop_source)

    def scores(self, block: Block) -> Tensor:
        """Return q·k/scale, -inf where not visible, [b, rows, keys]."""
        scores = torch.bmm(self.query[:, block.rows], self.key[:, block.keys].transpose(1, 2)).div_(
            self.scale
        )
        if self.keep.numel():
            scores.masked_fill_(~self.keep[..., block.rows, block.keys], -torch.inf)
        if self.valid is not None:
            scores.masked_fill_(~self.valid[:, None, block.keys], -torch.inf)
        return scores

    def pair_factor(self, block: Block) -> PairFactor:
        """Return A of a block, safe for scores of any size."""
        scores = self.scores(block)
        top = scores.amax(-1, keepdim=True)
        if not self.sigmoid:
            return PairFactor(scores.sub_(top.clamp_min_(torch.finfo(top.dtype).min)).exp_(), None)
        low = (top < LOW_SCORE) & (top > -torch.inf)
        if not bool(low.any()):
            return PairFactor(scores.sigmoid_(), None)
        shift = torch.where(low, top, 0.0)
        # sigmoid(r) exp(-s) = 1 / (exp(s) + exp(s - r)), which neither overflows to NaN nor loses a low row.
        return PairFactor(scores.neg_().add_(shift).exp_().add_(shift.exp()).reciprocal_(), shift)


def _mean(value: Tensor, valid: Tensor | None) -> Tensor:
    """Return the mean over the real tokens, [b, 1, C]; padding holds zeros."""
    count = value.shape[1] if valid is None else valid.sum(1)[:, None, None].clamp_min(1)
    return value.sum(1, keepdim=True) / count


_CELLS = 1 << 22
"""Scores held at once."""


@dataclass(frozen=True)
class WideGradients:
    """Gradients of the wide features alone.

    Attributes:
        scores: of q·k/scale, [b, Q, K].
        value: [b, L, C]; zero at the other features.
        source: [b, L, C]; zero at the other features.
    """

    scores: Tensor
    value: Tensor
    source: Tensor


def wide_forward(slab: Slab, drop_pairs: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Attend for every wide feature.

    Args:
        slab: one head of some sentences; ``slab.wide`` is not None.
        drop_pairs: multipliers of phi, [b, Q, K], or None.

    Returns:
        sentence and feature of each of the M columns, [M] int64 each, and their outputs, [M, Q].
    """
    token2token = _log_phi(slab, slab.scores(_whole(slab)))
    parts = [
        (sentence, feature, torch.bmm(_dropped(slab, weights, drop_pairs, sentence, feature), value)[..., 0])
        for sentence, feature, value, weights in _columns(slab, token2token)
    ]
    sentences, features, outputs = zip(*parts, strict=True)
    return torch.cat(sentences), torch.cat(features), torch.cat(outputs)


def wide_backward(slab: Slab, drop_pairs: Tensor | None, grad: Tensor) -> WideGradients:
    """Differentiate `wide_forward`; the weights are computed again.

    Args:
        slab: one head of some sentences; ``slab.wide`` is not None.
        drop_pairs: multipliers of phi, [b, Q, K], or None.
        grad: gradient of the output, [b, Q, C].

    Returns:
        The gradients.
    """
    scores = slab.scores(_whole(slab))
    token2token = _log_phi(slab, scores)
    grad_pairs = torch.zeros_like(scores)
    grad_value, grad_source = torch.zeros_like(slab.value), torch.zeros_like(slab.value)
    for sentence, feature, value, weights in _columns(slab, token2token):
        grad_output = grad[sentence, :, feature][..., None].to(weights.dtype)
        used = _dropped(slab, weights, drop_pairs, sentence, feature)
        grad_value[sentence, :, feature] = torch.bmm(used.transpose(1, 2), grad_output)[..., 0]
        grad_weights = _dropped(slab, grad_output * value.transpose(1, 2), drop_pairs, sentence, feature)
        mean = (grad_weights * weights).sum(-1, keepdim=True)
        grad_scores = (grad_weights - mean) * weights
        grad_source[sentence, :, feature] = grad_scores.sum(1)
        grad_pairs.index_add_(0, sentence, grad_scores)
    if slab.sigmoid:
        grad_pairs *= torch.sigmoid(-scores)
    return WideGradients(grad_pairs, grad_value, grad_source)


def _whole(slab: Slab) -> Block:
    everything = slice(0, slab.query.shape[1])
    return Block(everything, everything)


def _log_phi(slab: Slab, scores: Tensor) -> Tensor:
    return F.logsigmoid(scores) if slab.sigmoid else scores


def _columns(slab: Slab, token2token: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield sentence [m], feature [m], value [m, K, 1] and weights [m, Q, K] of a few wide features at a time."""
    assert slab.wide is not None  # the caller has looked
    sentences, features = slab.wide.nonzero(as_tuple=True)
    step = max(1, _CELLS // token2token[0].numel())
    for start in range(0, len(sentences), step):
        sentence, feature = sentences[start : start + step], features[start : start + step]
        scores = token2token[sentence] + slab.source[sentence, :, feature][:, None, :]
        top = scores.amax(-1, keepdim=True).clamp_min(torch.finfo(scores.dtype).min)
        weights = (scores - top).exp_()
        total = weights.sum(-1, keepdim=True)
        weights /= torch.where(total > 0, total, 1.0)
        yield sentence, feature, slab.value[sentence, :, feature][..., None], weights


def _dropped(
    slab: Slab, weights: Tensor, drop_pairs: Tensor | None, sentence: Tensor, feature: Tensor
) -> Tensor:
    if drop_pairs is None or slab.drop_source is None:
        return weights
    return weights * drop_pairs[sentence] * slab.drop_source[sentence, :, feature][:, None, :]
