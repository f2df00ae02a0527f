"""MTSA's tensorized attention as the paper writes it: the specification of every faster form."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from heedful.attention.derivatives import Context, differentiable_gradients, plain_is_wanted
from heedful.attention.implementation import AttentionResult
from heedful.attention.tensorized_inputs import FactorDropout, Kept, Scoring, TensorizedInputs, restore
from heedful.attention.visibility import Visible, dense_keep


def tensorized_reference(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    source: Tensor,
    valid: Tensor,
    visible: Sequence[Visible],
    scoring: Scoring,
) -> AttentionResult:
    """Compute `heedful.attention.tensorized_attention` by building every score of every feature.

    The weights are those before dropout.
    """
    dropout = scoring.dropout
    keep_BHQK1 = torch.stack([dense_keep(head, valid) for head in visible], dim=1)[..., None]
    # A padded position may hold anything, even NaN, and 0 * NaN is NaN: clear it before any product.
    padding = ~valid[:, None, :, None]
    query, key, value, source = (x.masked_fill(padding, 0) for x in (query, key, value, source))
    pair_BHQK = query @ key.transpose(-1, -2) / scoring.scale
    token2token = F.logsigmoid(pair_BHQK) if scoring.sigmoid else pair_BHQK
    score = token2token[..., None] + source[:, :, None, :, :]
    # Finite stand-in for -inf: a row without a visible key must not become NaN, here or in its gradient.
    score = score.masked_fill(~keep_BHQK1, torch.finfo(score.dtype).min / 2)
    weights = torch.softmax(score, dim=3) * keep_BHQK1
    used = weights
    if dropout is not None:
        used = weights * dropout.pairs[..., None] * dropout.source[:, :, None, :, :]
    return AttentionResult((used * value[:, :, None, :, :]).sum(dim=3), weights)


def tensorized_gradients(grad: Tensor, inputs: TensorizedInputs) -> tuple[Tensor, ...]:
    """Return the gradients of q, k, v and z, which can be differentiated again, from that of the output."""
    drops = None
    if inputs.drop_pairs is not None and inputs.drop_source is not None:
        drops = FactorDropout(inputs.drop_pairs, inputs.drop_source)
    scoring = Scoring(inputs.sigmoid, inputs.scale, drops)
    visible = [keep if keep.numel() else inputs.band(head) for head, keep in enumerate(inputs.keeps)]

    def compute(query: Tensor, key: Tensor, value: Tensor, source: Tensor) -> Tensor:
        return tensorized_reference(query, key, value, source, inputs.valid, visible, scoring).output

    return differentiable_gradients(compute, inputs[:4], (grad,))


def differentiated_by(gradients: Callable[..., tuple[Tensor, ...]]) -> Callable[..., tuple[object, ...]]:
    """Return the backward pass of an operator that kept its inputs by `save`.

    Args:
        gradients: the operator that computes the gradients of q, k, v and z from that of the output, all outputs and
            the fields of `TensorizedInputs`.

    Returns:
        The function that torch calls; it completes the gradients to one entry an argument, as torch wants them back.
    """

    def differentiate(
        ctx: Context[tuple[Tensor, ...], Kept], grad: Tensor | None, *_: object
    ) -> tuple[object, ...]:
        outputs, inputs = restore(ctx)
        grads: Sequence[Tensor | None] = [None] * 4
        if grad is not None:
            again = plain_is_wanted(grad)
            grads = tensorized_gradients(grad, inputs) if again else gradients(grad, *outputs, *inputs)
        return (*grads, None, [None] * len(inputs.keeps), *([None] * (len(TensorizedInputs._fields) - 6)))

    return differentiate
