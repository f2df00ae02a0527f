"""The factors of one head of a few sentences, scaled so that matrix products of them are exact.

A weight is ``A_ij * E_jl`` over its sum, where A comes from phi(q·k) and E from exp(z). Any factor of a row of A and
any factor of a feature of E cancels, so both are divided by their largest value. Where z of a feature varies by at
most ``SAFE_RANGE`` over the tokens, the denominator is then at least ``exp(-SAFE_RANGE - 10)`` for a query that sees
anything, far above the smallest float32, and nothing that matters underflows. Features that vary more are `wide`: their
E is zero here, and `heedful.ops.tensorized.wide` computes them without factoring.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

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

    Args:
        length: L.
        low: smallest visible offset.
        high: largest visible offset.

    Yields:
        Blocks that cover every visible pair, in order of the queries.
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
        query: [b, L, C].
        key: [b, L, C].
        value: [b, L, C].
        source: z, [b, L, C].
        valid: [b, L]; None when every token is real.
        keep: visible pairs, [L, L] or [b, L, L]; an empty tensor when every pair is visible.
        scale: what q·k is divided by.
        sigmoid: whether phi is the sigmoid; otherwise exp.
        drop_source: multipliers of E, [b, L, C], or None.
        centred: whether the mean of the values is taken off them. It changes no weight and so no gradient, yet the
            gradients of the weights are differences of values and outputs, and lose fewer digits without it.

    Attributes:
        centre: what was taken off, [b, 1, C]; None for nothing.
    """

    def __init__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        source: Tensor,
        valid: Tensor | None,
        keep: Tensor,
        scale: float,
        sigmoid: bool,
        drop_source: Tensor | None,
        *,
        centred: bool = False,
    ) -> None:
        exact = torch.float64 if query.dtype == torch.float64 else torch.float32
        query, key, value, source = (x.to(exact) for x in (query, key, value, source))
        if valid is not None:
            padding = ~valid[..., None]
            # Padding may hold anything, even NaN, and 0 * NaN is NaN: clear it before any product.
            query, key, value = (x.masked_fill(padding, 0) for x in (query, key, value))
            smallest = source.masked_fill(padding, torch.inf).amin(1, keepdim=True)
            source = source.masked_fill(padding, -torch.inf)
        else:
            smallest = source.amin(1, keepdim=True)
        largest = source.amax(1, keepdim=True)
        self.centre = _mean(value, valid) if centred else None
        if self.centre is not None:
            value = value - self.centre  # at padding too, where every factor is zero
        self.query, self.key, self.value, self.source = query, key, value, source
        self.valid, self.keep, self.scale, self.sigmoid = valid, keep, scale, sigmoid
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
