"""Tensorized attention by matrix products: no score of a single feature is ever built.

With A from phi(q·k) and E from exp(z) (`heedful.attention.tensorized_slab`)::

    out = (A (E ⊙ v)) / (A E)

The work goes head by head and a few sentences at a time, so that the intermediate results stay in cache and memory is
linear in the sentence; a directional mask skips the blocks it hides; the backward pass computes A and E again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from heedful.attention.implementation import without_autocast
from heedful.attention.native import define_operator
from heedful.attention.tensorized_inputs import (
    ARGUMENTS,
    Fields,
    SlabPart,
    TensorizedInputs,
    like_heads,
    save,
)
from heedful.attention.tensorized_reference import differentiated_by
from heedful.attention.tensorized_slab import Block, PairFactor, Slab, blocks, wide_backward, wide_forward

_SLAB_CELLS = 1 << 17
"""Numbers in one [b, L, C] tensor of a slab: a few such tensors fit into a core's cache."""

_LEAST = torch.finfo(torch.float32).tiny
"""Stands in for a sum of factors where a query sees nothing."""


def tensorized_matrix(inputs: TensorizedInputs) -> Tensor:
    """Compute the output of `heedful.attention.tensorized.tensorized_reference` by matrix products.

    It is [B, H, L, C], laid out in memory as [B, L, H, C], in the dtype of query.
    """
    output, _ = _attend(*inputs)
    return output


def forward_part(inputs: TensorizedInputs, part: SlabPart, output: Tensor, inverse: Tensor) -> None:
    """Compute one part of the output and of the inverse of the denominator, [B, H, L, C] each, which are written."""
    pairs = None if inputs.drop_pairs is None else part(inputs.drop_pairs)
    _forward_slab(Slab(inputs, part), _band(inputs, part), pairs, part(output), part(inverse))


def backward_part(
    inputs: TensorizedInputs, part: SlabPart, forward: Sequence[Tensor], grads: Sequence[Tensor]
) -> None:
    """Differentiate one part.

    ``forward`` is the gradient of the output, the output and the inverse; ``grads``, those of query, key, value and
    source, are written. All are [B, H, L, C].
    """
    slab = Slab(inputs, part, centered=inputs.drop_source is None)
    pairs = None if inputs.drop_pairs is None else part(inputs.drop_pairs)
    results = _Backward(slab, _band(inputs, part), pairs).run(*(part(x) for x in forward))
    for whole, result in zip(grads, results, strict=True):
        if slab.valid is not None:
            result.masked_fill_(~slab.valid[..., None], 0)
        part(whole).copy_(result)


def _parts(query: Tensor) -> Iterator[SlabPart]:
    batch, heads, length, width = query.shape
    step = batch if query.is_cuda else max(1, min(batch, _SLAB_CELLS // max(1, length * width)))
    for head in range(heads if query.numel() else 0):
        for start in range(0, batch, max(1, step)):
            yield SlabPart(head, slice(start, start + step))


def _band(inputs: TensorizedInputs, part: SlabPart) -> tuple[int, int]:
    low, high, _ = inputs.bands[3 * part.head : 3 * part.head + 3]
    return low, high


def _working_dtype(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _forward(*given: *Fields) -> tuple[Tensor, Tensor]:
    """Return the output and the inverse of the denominator, 0 where a query sees nothing or a feature is wide."""
    inputs = TensorizedInputs(*given)
    query = inputs.query
    output = like_heads(query, query.dtype)
    inverse = torch.empty(query.shape, dtype=_working_dtype(query.dtype), device=query.device)
    with without_autocast(query.device.type):
        for part in _parts(inputs.query):
            forward_part(inputs, part, output, inverse)
    return output, inverse


def _fake_forward(query: Tensor, *_: object) -> tuple[Tensor, Tensor]:
    inverse = torch.empty(query.shape, dtype=_working_dtype(query.dtype), device=query.device)
    return like_heads(query, query.dtype), inverse


def _backward(
    grad: Tensor,
    output: Tensor,
    inverse: Tensor,
    *given: *Fields,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients of query, key, value and source."""
    inputs = TensorizedInputs(*given)
    query = inputs.query
    grads = tuple(like_heads(query, query.dtype) for _ in range(4))
    with without_autocast(query.device.type):
        for part in _parts(inputs.query):
            backward_part(inputs, part, (grad, output, inverse), grads)
    return grads[0], grads[1], grads[2], grads[3]


def _fake_backward(
    grad: Tensor, output: Tensor, inverse: Tensor, query: Tensor, *_: object
) -> tuple[Tensor, ...]:
    return tuple(like_heads(query, query.dtype) for _ in range(4))


_gradients = define_operator(
    f"tensorized_matrix_backward(Tensor grad, Tensor output, Tensor inverse, {ARGUMENTS}) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    _backward,
    _fake_backward,
    anywhere=True,
)
_attend = define_operator(
    f"tensorized_matrix({ARGUMENTS}) -> (Tensor, Tensor)",
    _forward,
    _fake_forward,
    anywhere=True,
    backward=differentiated_by(_gradients),
    setup_context=save,
)


def _forward_slab(
    slab: Slab, band: tuple[int, int], drop_pairs: Tensor | None, output: Tensor, inverse: Tensor
) -> None:
    pieces = list(blocks(output.shape[1], *band))
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


class _Backward:
    """Gradients of one slab."""

    def __init__(self, slab: Slab, band: tuple[int, int], drop_pairs: Tensor | None) -> None:
        self.slab, self.band, self.drop_pairs = slab, band, drop_pairs
        self.grad_query = torch.zeros_like(slab.value)
        self.grad_key = torch.zeros_like(slab.value)
        self.grad_factor = torch.zeros_like(slab.value)
        self.grad_weighted = torch.zeros_like(slab.value)

    def run(self, grad: Tensor, output: Tensor, inverse: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the gradients of query, key, value and source, [b, L, C] each."""
        slab = self.slab
        for block in blocks(grad.shape[1], *self.band):
            numerator = grad[:, block.rows] * inverse[:, block.rows]
            shifted = output[:, block.rows] if slab.center is None else output[:, block.rows] - slab.center
            denominator = (numerator * shifted).neg_()
            self._block(block, numerator, denominator)
        if slab.drop_source is not None:
            self.grad_weighted.mul_(slab.drop_source)
        # Both terms are nearly opposite: they are added before anything else rounds them.
        grad_source = self.grad_factor.addcmul_(self.grad_weighted, slab.value).mul_(slab.factor)
        weighted = self.grad_weighted.mul_(slab.factor)
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
    factor = pair.factor
    grad_pair.mul_(factor)
    # A factor of a row cancels, so the row adds up to zero; what it adds up to is rounding, and is taken off again.
    excess = grad_pair.sum(-1, keepdim=True) / factor.sum(-1, keepdim=True).clamp_min(_LEAST)
    grad_pair.addcmul_(factor, excess, value=-1)
    if sigmoid:
        value = factor if pair.shift is None else factor * pair.shift.exp()
        grad_pair.addcmul_(grad_pair.clone(), value, value=-1)
    return grad_pair


def _untouched(pieces: list[Block], length: int) -> list[slice]:
    """Queries that no block covers, because nothing is visible to them; the blocks are in order, without gaps."""
    if not pieces:
        return [slice(0, length)]
    return [slice(0, pieces[0].rows.start), slice(pieces[-1].rows.stop, length)]
