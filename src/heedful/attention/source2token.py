"""Feature-wise softmax over the tokens of a sentence, and the weighted sum it gives (source2token attention)."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from heedful.attention.derivatives import Context, plain_is_wanted, refuse_forward_mode
from heedful.attention.implementation import Impl, check_valid, choose, record_choice
from heedful.attention.native import ADDRESS, INT32, INT64, LIBRARY, MISSING, OPERATORS, members
from heedful.errors import UsageError

LEAST_WIDTH = 16
"""The longest vector of any instruction set: the kernel works on whole ones."""
OPERATORS.define("source_to_token(Tensor value, Tensor score, Tensor valid) -> (Tensor, Tensor)")
OPERATORS.define(
    "source_to_token_backward(Tensor grad, Tensor value, Tensor valid, Tensor output, Tensor weights) "
    "-> (Tensor, Tensor)"
)


class _Pooling(ctypes.Structure):
    """Mirrors `Pooling` in csrc/source_to_token.cpp."""

    _fields_ = (
        *members(ADDRESS, "value score valid output weights grad_output grad_value grad_score"),
        *members(INT64, "batch length width"),
        *members(INT32, "threads"),
    )


def obstacle(value: Tensor, score: Tensor) -> str:
    """Return why the kernel cannot serve; empty where it can."""
    if value.dtype != torch.float32 or score.dtype != torch.float32 or value.device.type != "cpu":
        return "the kernel computes in float32 on the CPU"
    if value.shape[-1] < LEAST_WIDTH:
        return f"the kernel needs {LEAST_WIDTH} features or more"
    return MISSING


def source_to_token_fused(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Compute `source_to_token` with the compiled kernel: float32 on the CPU, at least 16 features."""
    output, weights = torch.ops.heedful.source_to_token.default(value, score, valid)
    return output, weights


def _call(function: str, shape: torch.Size, **arrays: Tensor) -> None:
    batch, length, width = shape
    addresses = {name: array.data_ptr() for name, array in arrays.items()}
    problem = _Pooling(**addresses, batch=batch, length=length, width=width, threads=torch.get_num_threads())
    getattr(LIBRARY, function)(ctypes.byref(problem))


def _forward(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    refuse_forward_mode("heedful::source_to_token")
    value, score, valid = value.contiguous(), score.contiguous(), valid.contiguous()
    output, weights = value.new_empty(value.shape[0], value.shape[2]), torch.empty_like(value)
    arrays = {"value": value, "score": score, "valid": valid, "output": output, "weights": weights}
    _call("heedful_source_to_token_forward", value.shape, **arrays)
    return output, weights


def _backward(
    grad: Tensor, value: Tensor, valid: Tensor, output: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    grad, value, valid = grad.contiguous(), value.contiguous(), valid.contiguous()
    of_value, of_score = torch.empty_like(value), torch.empty_like(value)
    arrays = {"value": value, "valid": valid, "output": output, "weights": weights, "grad_output": grad}
    _call("heedful_source_to_token_backward", value.shape, **arrays, grad_value=of_value, grad_score=of_score)
    return of_value, of_score


_Context = Context[tuple[Tensor, Tensor, Tensor, Tensor], None]
"""It saves value, valid, output and weights."""


class _SourceToToken(torch.autograd.Function):
    @staticmethod
    def forward(ctx: _Context, value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
        with torch._C._AutoDispatchBelowAutograd():
            output, weights = source_to_token_fused(value, score, valid)
        ctx.save_for_backward(value, valid, output, weights)
        ctx.set_materialize_grads(False)
        return output, weights

    @staticmethod
    def backward(ctx: _Context, *grads: Tensor | None) -> object:
        value, valid, output, weights = ctx.saved_tensors
        of_output, of_weights = grads
        of_value = of_score = None
        if of_output is not None and plain_is_wanted(*grads):
            of_value = weights * of_output[:, None]
            of_score = of_value * (value.masked_fill(~valid[..., None], 0) - output[:, None])
        elif of_output is not None:
            of_value, of_score = torch.ops.heedful.source_to_token_backward.default(
                of_output, value, valid, output, weights
            )
        if of_weights is not None:
            change = weights * (of_weights - (weights * of_weights).sum(dim=1, keepdim=True))
            of_score = change if of_score is None else of_score + change
        return of_value, of_score, None


def _with_autograd(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    if torch.is_grad_enabled() and (value.requires_grad or score.requires_grad):
        return _SourceToToken.apply(value, score, valid)
    with torch._C._AutoDispatchBelowAutograd():
        return source_to_token_fused(value, score, valid)


def _fake_forward(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    return value.new_empty(value.shape[0], value.shape[2]), value.new_empty(value.shape)


def _fake_backward(
    grad: Tensor, value: Tensor, valid: Tensor, output: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    return value.new_empty(value.shape), value.new_empty(value.shape)


OPERATORS.impl("source_to_token", _forward, "CPU")
OPERATORS.impl("source_to_token", _with_autograd, "Autograd")
OPERATORS.impl("source_to_token_backward", _backward, "CPU")
torch.library.register_fake("heedful::source_to_token", _fake_forward, lib=OPERATORS)
torch.library.register_fake("heedful::source_to_token_backward", _fake_backward, lib=OPERATORS)


def source_to_token_reference(value: Tensor, score: Tensor, valid: Tensor) -> tuple[Tensor, Tensor]:
    """Compute `source_to_token` in plain torch, in any precision on any device: the specification of the kernel."""
    valid = valid[..., None]
    score = score.masked_fill(~valid, torch.finfo(score.dtype).min)
    # A sentence without words has uniform weights until the mask makes them exact zeros.
    weights = torch.softmax(score, dim=1) * valid
    return (weights * value.masked_fill(~valid, 0)).sum(dim=1), weights


def source_to_token(
    value: Tensor, score: Tensor, valid: Tensor, *, impl: Impl = "auto"
) -> tuple[Tensor, Tensor]:
    """Sum tokens with weights normalized over the tokens separately for every feature (DiSAN, section 2.3).

    ``weight_ik = exp(score_ik) / sum_i exp(score_ik)``, ``output_k = sum_i weight_ik value_ik``, over real tokens i.

    Args:
        value: [B, L, D].
        score: [B, L, D].
        valid: True at a real token, [B, L] bool.
        impl: which implementation; see `heedful.attention.Impl`. The kernel serves float32 on the CPU, and plain torch
            has one form, the reference.

    Returns:
        The sum [B, D], exactly zero for a sentence without words, and the weights [B, L, D], exactly zero at padding.

    Raises:
        UsageError: if shapes disagree, or impl is unknown or cannot serve the request.
    """
    if value.dim() != 3 or value.shape != score.shape or valid.shape != value.shape[:2]:
        raise UsageError(
            f"value and score must be [B, L, D] and valid [B, L]; got {list(value.shape)}, {list(score.shape)}, "
            f"{list(valid.shape)}"
        )
    check_valid(valid, value.shape[:2])
    choice = choose(impl, obstacle=obstacle(value, score), why="one compiled kernel")
    record_choice("source2token pooling", choice)
    compute = source_to_token_fused if choice.impl == "kernel" else source_to_token_reference
    return compute(value, score, valid)
