"""Feature-wise additive attention in plain torch and bounded memory: any device, any floating dtype.

A chunk of queries at a time meets the keys its band can reach; the backward pass recomputes. Memory beyond inputs and
outputs is a few times `CHUNK_ELEMENTS`, or one query's scores where those are more.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from heedful.attention.choice import AttentionResult
from heedful.attention.native import Context
from heedful.attention.visibility import Band, Visible

CHUNK_ELEMENTS = 1 << 22
_Context = Context[tuple[Tensor, ...], tuple[Band | None, float]]
"""It keeps the band, or None where visibility is a tensor, and the scale."""


def additive_chunked(
    query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> AttentionResult:
    """Compute `heedful.attention.additive_attention`, whose arguments these are, a chunk of queries at a time."""
    # Padding may hold anything, and 0 * NaN is NaN.
    padding_BL1 = ~valid[..., None]
    query, key, value = (x.masked_fill(padding_BL1, 0) for x in (query, key, value))
    output: Tensor = _Chunked.apply(query, key, value, valid, visible, scale)
    return AttentionResult(output)


class _Chunked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: _Context,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        valid: Tensor,
        visible: Visible,
        scale: float,
    ) -> Tensor:
        output = torch.zeros_like(query)
        for queries, keys in _chunks(query, visible):
            keep = _keep(valid, visible, queries, keys)
            weights, _ = _weights(query[:, queries], key[:, keys], keep, scale)
            output[:, queries] = (weights * value[:, None, keys]).sum(dim=2)
        band, dense = (visible, ()) if isinstance(visible, Band) else (None, (visible,))
        ctx.save_for_backward(query, key, value, valid, output, *dense)
        ctx.kept = band, scale
        return output

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: _Context, grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, valid, output, *dense = ctx.saved_tensors
        band, scale = ctx.kept
        visible = dense[0] if band is None else band
        grad_query, grad_key, grad_value = (torch.zeros_like(x) for x in (query, key, value))
        grad = grad.masked_fill(~valid[..., None], 0)
        for queries, keys in _chunks(query, visible):
            keep = _keep(valid, visible, queries, keys)
            weights, tanh = _weights(query[:, queries], key[:, keys], keep, scale)
            grad_BQ1D = grad[:, queries, None]
            grad_value[:, keys] += (weights * grad_BQ1D).sum(dim=1)
            # Softmax, then c tanh(z / c): d score = P (dP - sum P dP), d z = d score (1 - tanh^2).
            pull = grad_BQ1D * (value[:, None, keys] - output[:, queries, None])
            grad_BQKD = weights * pull * (1 - tanh * tanh)
            grad_query[:, queries] = grad_BQKD.sum(dim=2)
            grad_key[:, keys] += grad_BQKD.sum(dim=1)
        return grad_query, grad_key, grad_value, None, None, None


def _weights(query: Tensor, key: Tensor, keep: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """The weights [B, Q, K, D] and the tanh inside the scores."""
    keep_BQK1 = keep[..., None]
    tanh = torch.tanh((query[:, :, None] + key[:, None]) / scale)
    # Finite stand-in for -inf: a row without a visible key must not become NaN.
    score = (scale * tanh).masked_fill(~keep_BQK1, torch.finfo(query.dtype).min / 2)
    return torch.softmax(score, dim=2) * keep_BQK1, tanh


def _chunks(query: Tensor, visible: Visible) -> Iterator[tuple[slice, slice]]:
    """Slices of queries, each with the keys that any of them may see."""
    batch, length, width = query.shape
    step = max(1, CHUNK_ELEMENTS // max(1, batch * length * width))
    for start in range(0, length, step):
        stop = min(start + step, length)
        first, last = 0, length
        if isinstance(visible, Band):
            first = 0 if visible.low is None else max(0, start + visible.low)
            last = length if visible.high is None else min(length, stop + visible.high)
        if first < last:
            yield slice(start, stop), slice(first, last)


def _keep(valid: Tensor, visible: Visible, queries: slice, keys: slice) -> Tensor:
    """Visibility of one chunk, [B, Q, K]."""
    if isinstance(visible, Band):
        i = torch.arange(queries.start, queries.stop, device=valid.device)
        j = torch.arange(keys.start, keys.stop, device=valid.device)
        keep = visible.sees(j[None, :] - i[:, None])
    else:
        keep = visible[..., queries, keys]
    return keep & valid[:, queries, None] & valid[:, None, keys]
