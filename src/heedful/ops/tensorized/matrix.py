"""Tensorized attention by matrix products: no score of a single feature is ever built.

With A from phi(q·k) and E from exp(z) (`heedful.ops.tensorized.slab`)::

    out = (A (E ⊙ v)) / (A E)

The work goes head by head and a few sentences at a time, so that the intermediate results stay in cache and memory is
linear in the sentence; a directional mask skips the blocks it hides; the backward pass computes A and E again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from heedful.masks.visibility import Band, Visible
from heedful.ops.tensorized.dropout import FactorDropout
from heedful.ops.tensorized.slab import Block, PairFactor, Slab, blocks
from heedful.ops.tensorized.wide import wide_backward, wide_forward

_SLAB_CELLS = 1 << 17
"""Numbers in one [b, L, C] tensor of a slab: a few such tensors fit into a core's cache."""


def tensorized_matrix(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    source: Tensor,
    valid: Tensor,
    visible: Sequence[Visible],
    *,
    sigmoid: bool,
    scale: float,
    dropout: FactorDropout | None = None,
) -> Tensor:
    """Compute the output of `heedful.ops.tensorized_attention` by matrix products.

    Args:
        query: q, [B, H, L, C].
        key: k, [B, H, L, C].
        value: v, [B, H, L, C].
        source: z, [B, H, L, C].
        valid: True at a real token, [B, L].
        visible: which keys a query may see, one a head.
        sigmoid: whether phi is the sigmoid; otherwise it is exp.
        scale: what q·k is divided by.
        dropout: multipliers of the two factors; None for no dropout.

    Returns:
        output, [B, H, L, C], laid out in memory as [B, L, H, C].
    """
    length = query.shape[2]
    written: dict[Band, Tensor] = {}
    keeps, lows, highs = [], [], []
    for head in visible:
        low, high = -length, length
        if isinstance(head, Band):
            low, high = (low if head.low is None else head.low), (high if head.high is None else head.high)
            if head not in written:
                everything = head == Band()
                written[head] = valid.new_empty(0) if everything else head.keep(length, valid.device)
            keeps.append(written[head])
        else:
            keeps.append(head)
        lows.append(low)
        highs.append(high)
    pairs, features = (None, None) if dropout is None else (dropout.pairs, dropout.source)
    output, _ = _forward(
        query, key, value, source, valid, keeps, lows, highs, pairs, features, scale, sigmoid
    )
    return output


@dataclass(frozen=True)
class _Part:
    """Where one slab lies: a head and a range of sentences."""

    head: int
    sentences: slice
    low: int
    high: int

    def __call__(self, tensor: Tensor) -> Tensor:
        return tensor[self.sentences, self.head]


def _parts(query: Tensor, lows: list[int], highs: list[int]) -> Iterator[_Part]:
    batch, heads, length, width = query.shape
    step = batch if query.is_cuda else max(1, min(batch, _SLAB_CELLS // max(1, length * width)))
    for head in range(heads):
        for start in range(0, batch, max(1, step)):
            yield _Part(head, slice(start, start + step), lows[head], highs[head])


def _slab(
    part: _Part,
    tensors: tuple[Tensor, Tensor, Tensor, Tensor],
    valid: Tensor,
    full: list[bool],
    keeps: list[Tensor],
    drop_source: Tensor | None,
    scale: float,
    sigmoid: bool,
) -> Slab:
    keep = keeps[part.head]
    query, key, value, source = (part(x) for x in tensors)
    return Slab(
        query,
        key,
        value,
        source,
        None if all(full[part.sentences]) else valid[part.sentences],
        keep[part.sentences] if keep.dim() == 3 else keep,
        scale,
        sigmoid,
        None if drop_source is None else part(drop_source),
    )


def _like_heads(query: Tensor, dtype: torch.dtype) -> Tensor:
    """Return an empty [B, H, L, C] laid out as [B, L, H, C], so that joining the heads is free."""
    batch, heads, length, width = query.shape
    return query.new_empty(batch, length, heads, width, dtype=dtype).transpose(1, 2)


def _working_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


@torch.library.custom_op("heedful::tensorized_attention", mutates_args=())
def _forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    source: Tensor,
    valid: Tensor,
    keeps: list[Tensor],
    lows: list[int],
    highs: list[int],
    drop_pairs: Tensor | None,
    drop_source: Tensor | None,
    scale: float,
    sigmoid: bool,
) -> tuple[Tensor, Tensor]:
    """Return the output and the inverse of the denominator, 0 where a query sees nothing or a feature is wide."""
    output = _like_heads(query, query.dtype)
    inverse = torch.empty(query.shape, dtype=_working_dtype(query.dtype), device=query.device)
    full = valid.all(1).tolist()
    with torch.autocast(query.device.type, enabled=False):
        for part in _parts(query, lows, highs):
            slab = _slab(part, (query, key, value, source), valid, full, keeps, drop_source, scale, sigmoid)
            _forward_slab(
                slab, part, None if drop_pairs is None else part(drop_pairs), part(output), part(inverse)
            )
    return output, inverse


def _forward_slab(
    slab: Slab, part: _Part, drop_pairs: Tensor | None, output: Tensor, inverse: Tensor
) -> None:
    pieces = list(blocks(output.shape[1], part.low, part.high))
    for rows in _untouched(pieces, output.shape[1]):
        output[:, rows], inverse[:, rows] = 0, 0
    for block in pieces:
        factor = slab.pair_factor(block).factor
        denominator = torch.bmm(factor, slab.factor[:, block.keys])
        if drop_pairs is not None:
            factor.mul_(drop_pairs[:, block.rows, block.keys])
        hidden = denominator == 0
        if slab.valid is not None:
            hidden |= ~slab.valid[:, block.rows, None]
        reciprocal = denominator.reciprocal_().masked_fill_(hidden, 0)
        inverse[:, block.rows] = reciprocal
        output[:, block.rows] = torch.bmm(factor, slab.weighted[:, block.keys]).mul_(reciprocal)
    if slab.wide is not None:
        sentence, feature, columns = wide_forward(slab, drop_pairs)
        if slab.valid is not None:
            columns = columns * slab.valid[sentence]
        output[sentence, :, feature] = columns.to(output.dtype)


@_forward.register_fake
def _(query: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    inverse = torch.empty(query.shape, dtype=_working_dtype(query.dtype), device=query.device)
    return _like_heads(query, query.dtype), inverse


@torch.library.custom_op("heedful::tensorized_attention_backward", mutates_args=())
def _backward(
    grad: Tensor,
    output: Tensor,
    inverse: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    source: Tensor,
    valid: Tensor,
    keeps: list[Tensor],
    lows: list[int],
    highs: list[int],
    drop_pairs: Tensor | None,
    drop_source: Tensor | None,
    scale: float,
    sigmoid: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients of query, key, value and source."""
    grads = tuple(_like_heads(query, query.dtype) for _ in range(4))
    full = valid.all(1).tolist()
    with torch.autocast(query.device.type, enabled=False):
        for part in _parts(query, lows, highs):
            slab = _slab(part, (query, key, value, source), valid, full, keeps, drop_source, scale, sigmoid)
            state = _Backward(slab, part, None if drop_pairs is None else part(drop_pairs))
            results = state.run(part(grad), part(output), part(inverse))
            for whole, result in zip(grads, results, strict=True):
                if slab.valid is not None:
                    result.masked_fill_(~slab.valid[..., None], 0)
                part(whole).copy_(result)
    return grads[0], grads[1], grads[2], grads[3]


@_backward.register_fake
def _(grad: Tensor, output: Tensor, inverse: Tensor, query: Tensor, *_: Any) -> tuple[Tensor, ...]:
    return tuple(_like_heads(query, query.dtype) for _ in range(4))


class _Backward:
    """Gradients of one slab."""

    def __init__(self, slab: Slab, part: _Part, drop_pairs: Tensor | None) -> None:
        self.slab, self.part, self.drop_pairs = slab, part, drop_pairs
        self.grad_query = torch.zeros_like(slab.value)
        self.grad_key = torch.zeros_like(slab.value)
        self.grad_factor = torch.zeros_like(slab.value)
        self.grad_weighted = torch.zeros_like(slab.value)

    def run(self, grad: Tensor, output: Tensor, inverse: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the gradients of query, key, value and source, [b, L, C] each."""
        slab = self.slab
        for block in blocks(grad.shape[1], self.part.low, self.part.high):
            numerator = grad[:, block.rows] * inverse[:, block.rows]
            denominator = (numerator * output[:, block.rows]).neg_()
            self._block(block, numerator, denominator)
        weighted = self.grad_weighted.mul_(slab.factor)
        if slab.drop_source is not None:
            weighted.mul_(slab.drop_source)
        grad_source = self.grad_factor.mul_(slab.factor).addcmul_(weighted, slab.value)
        if slab.wide is not None:
            self._wide(grad, weighted, grad_source)
        return self.grad_query, self.grad_key, weighted, grad_source

    def _block(self, block: Block, numerator: Tensor, denominator: Tensor) -> None:
        slab, keys = self.slab, block.keys
        pair = slab.pair_factor(block)
        factor = pair.factor
        grad_pair = torch.bmm(numerator, slab.weighted[:, keys].transpose(1, 2))
        if self.drop_pairs is None:
            used = factor
        else:
            drop = self.drop_pairs[:, block.rows, keys]
            used = factor * drop
            grad_pair.mul_(drop)
        grad_pair.baddbmm_(denominator, slab.factor[:, keys].transpose(1, 2))
        self.grad_factor[:, keys] += torch.bmm(factor.transpose(1, 2), denominator)
        self.grad_weighted[:, keys] += torch.bmm(used.transpose(1, 2), numerator)
        self._scores(block, _through_phi(grad_pair, pair, slab.sigmoid))

    def _scores(self, block: Block, grad_scores: Tensor) -> None:
        slab = self.slab
        grad_scores.div_(slab.scale)
        self.grad_query[:, block.rows] += torch.bmm(grad_scores, slab.key[:, block.keys])
        self.grad_key[:, block.keys] += torch.bmm(grad_scores.transpose(1, 2), slab.query[:, block.rows])

    def _wide(self, grad: Tensor, grad_value: Tensor, grad_source: Tensor) -> None:
        slab = self.slab
        if slab.valid is not None:
            grad = grad.masked_fill(~slab.valid[..., None], 0)
        extra = wide_backward(slab, self.drop_pairs, grad)
        grad_value += extra.value
        grad_source += extra.source
        everything = slice(0, grad.shape[1])
        self._scores(Block(everything, everything), extra.scores)


def _through_phi(grad_pair: Tensor, pair: PairFactor, sigmoid: bool) -> Tensor:
    """Turn the gradient of A into that of the scores: times A, and for the sigmoid times 1 - sigmoid."""
    grad_pair.mul_(pair.factor)
    if sigmoid:
        value = pair.factor if pair.shift is None else pair.factor * pair.shift.exp()
        grad_pair.addcmul_(grad_pair.clone(), value, value=-1)
    return grad_pair


def _untouched(pieces: list[Block], length: int) -> list[slice]:
    """Queries that no block covers, because nothing is visible to them; the blocks are in order, without gaps."""
    if not pieces:
        return [slice(0, length)]
    return [slice(0, pieces[0].rows.start), slice(pieces[-1].rows.stop, length)]


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    query, key, value, source, valid, keeps, lows, highs, drop_pairs, drop_source, scale, sigmoid = inputs
    drops = () if drop_pairs is None else (drop_pairs, drop_source)
    ctx.save_for_backward(*output, query, key, value, source, valid, *keeps, *drops)
    ctx.lows, ctx.highs, ctx.scale, ctx.sigmoid = lows, highs, scale, sigmoid


def _differentiate(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Any, ...]:
    output, inverse, query, key, value, source, valid, *rest = ctx.saved_tensors
    heads = query.shape[1]
    keeps, drops = rest[:heads], rest[heads:] or [None, None]
    grads = _backward(
        grad,
        output,
        inverse,
        query,
        key,
        value,
        source,
        valid,
        keeps,
        ctx.lows,
        ctx.highs,
        *drops,
        ctx.scale,
        ctx.sigmoid,
    )
    return (*grads, None, [None] * heads, None, None, None, None, None, None)


_forward.register_autograd(_differentiate, setup_context=_save)
