"""The compiled pairwise kernel as a torch operator: autograd, fake tensors (compile, export) and autocast.

Each visible pair is visited once and nothing of size L x L is stored: extra memory is one tensor like the output (the
denominators). The backward pass recomputes the weights. Derivation: docs/maths/additive.md.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from heedful.masks.visibility import Band, Visible
from heedful.ops.additive.expansion import native_expansions
from heedful.ops.native import Problem, call
from heedful.ops.operator import OPERATORS, define_operator
from heedful.ops.types import AttentionResult


def additive_fused(
    query: Tensor, key: Tensor, value: Tensor, valid: Tensor, visible: Visible, scale: float
) -> AttentionResult:
    """Compute `heedful.ops.additive_attention` pair by pair with the compiled kernel, on the CPU, in float32.

    Args:
        query: b_i, [B, L, D]; bfloat16 and float16 are computed in float32.
        key: a_j, [B, L, D].
        value: h_j, [B, L, D].
        valid: True at a real token, [B, L].
        visible: which keys a query may see.
        scale: c; scores lie in (-c, c).

    Returns:
        output, in the dtype of query.
    """
    return run(query, key, value, valid, visible, scale, tolerance=0.0, keys_per_rank=0.0)


def run(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    visible: Visible,
    scale: float,
    *,
    tolerance: float,
    keys_per_rank: float,
) -> AttentionResult:
    """Call the compiled kernel.

    Args:
        query: b_i, [B, L, D].
        key: a_j, [B, L, D].
        value: h_j, [B, L, D].
        valid: True at a real token, [B, L].
        visible: which keys a query may see.
        scale: c; scores lie in (-c, c).
        tolerance: largest relative error of a weight that the linear form may make; 0 keeps to the pairwise form.
        keys_per_rank: the linear form needs so many tokens for each of its terms.

    Returns:
        output, in the dtype of query.
    """
    length = query.shape[1]
    band = visible if isinstance(visible, Band) else Band()
    keep = None if isinstance(visible, Band) else visible
    low = -length if band.low is None else band.low
    high = length if band.high is None else band.high
    output, _ = torch.ops.heedful.additive(
        *(query.float(), key.float(), value.float(), valid, keep),
        *(low, high, band.diagonal, float(scale), tolerance, keys_per_rank),
    )
    return AttentionResult(output.to(query.dtype))


def _forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    keep: Tensor | None,
    low: int,
    high: int,
    diagonal: bool,
    scale: float,
    tolerance: float,
    keys_per_rank: float,
) -> tuple[Tensor, Tensor]:
    query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    output, denominator = torch.empty_like(query), torch.empty_like(query)
    valid, keep = valid.contiguous(), None if keep is None else keep.contiguous()
    problem = _problem(query, key, value, valid, keep, (low, high, diagonal), scale)
    if tolerance > 0:
        problem.keys_per_rank = keys_per_rank
        problem.expansions = native_expansions(scale, tolerance)
    call("heedful_additive_forward", problem, output.data_ptr(), denominator.data_ptr())
    return output, denominator


def _backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    keep: Tensor | None,
    output: Tensor,
    denominator: Tensor,
    low: int,
    high: int,
    diagonal: bool,
    scale: float,
    tolerance: float,
    keys_per_rank: float,
) -> tuple[Tensor, Tensor, Tensor]:
    grad, query, key, value = grad.contiguous(), query.contiguous(), key.contiguous(), value.contiguous()
    valid, keep = valid.contiguous(), None if keep is None else keep.contiguous()
    gradients = torch.empty_like(query), torch.empty_like(query), torch.empty_like(query)
    problem = _problem(query, key, value, valid, keep, (low, high, diagonal), scale)
    if tolerance > 0:
        problem.keys_per_rank = keys_per_rank
        problem.expansions = native_expansions(scale, tolerance)
    arrays = (output, denominator, grad, *gradients)
    call("heedful_additive_backward", problem, *(array.data_ptr() for array in arrays))
    return gradients


def _problem(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    valid: Tensor,
    keep: Tensor | None,
    band: tuple[int, int, bool],
    scale: float,
) -> Problem:
    batch, length, width = query.shape
    low, high, diagonal = band
    return Problem(
        query=query.data_ptr(),
        key=key.data_ptr(),
        value=value.data_ptr(),
        valid=valid.data_ptr(),
        keep=None if keep is None else keep.data_ptr(),
        keep_stride=0 if keep is None or keep.dim() == 2 else length * length,
        batch=batch,
        length=length,
        width=width,
        low=low,
        high=high,
        diagonal=diagonal,
        threads=torch.get_num_threads(),
        scale=scale,
    )


def _fake_forward(query: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    return query.new_empty(query.shape), query.new_empty(query.shape)


def _fake_backward(grad: Tensor, query: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    return query.new_empty(query.shape), query.new_empty(query.shape), query.new_empty(query.shape)


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    tensors, ctx.settings = inputs[:5], inputs[5:]
    ctx.save_for_backward(*tensors, *output)
    ctx.set_materialize_grads(False)


def _differentiate(ctx: Any, grad: Tensor | None, _: Tensor | None) -> tuple[Any, ...]:
    if grad is None:
        return (None,) * 11
    gradients = torch.ops.heedful.additive_backward(grad, *ctx.saved_tensors, *ctx.settings)
    return (*gradients, *(None,) * 8)


define_operator(
    "additive_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor valid, Tensor? keep, Tensor output, "
    "Tensor denominator, int low, int high, bool diagonal, float scale, float tolerance, "
    "float keys_per_rank) -> (Tensor, Tensor, Tensor)",
    _backward,
    _fake_backward,
)
define_operator(
    "additive(Tensor query, Tensor key, Tensor value, Tensor valid, Tensor? keep, int low, int high, bool diagonal, "
    "float scale, float tolerance, float keys_per_rank) -> (Tensor, Tensor)",
    _forward,
    _fake_forward,
    backward=_differentiate,
    setup_context=_setup_context,
)
# Under autocast the operator works and answers in float32, as torch's own softmax and exp do.
torch.library.register_autocast("heedful::additive", "cpu", torch.float32, lib=OPERATORS)
