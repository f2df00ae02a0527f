"""Features whose z varies too much over a sentence to be factored: a softmax for each, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.ops.tensorized.slab import Block, Slab

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
