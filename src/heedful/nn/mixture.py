"""Mix two tensors by a gate: sigmoid, mixture and padding in one pass over memory, forward and backward.

The reference in plain torch is the specification, and serves every device, precision and mode. The compiled form serves
training in float32 on the CPU. A second derivative is left to plain torch.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from heedful.attention.derivatives import Context, plain_is_wanted
from heedful.attention.implementation import check_valid
from heedful.attention.native import ADDRESS, INT32, INT64, LIBRARY, members
from heedful.nn.fused_dense import compiled_serves


class _Mixture(ctypes.Structure):
    """One call; mirrors `Mixture` in csrc/pointwise.cpp."""

    _fields_ = (
        *members(ADDRESS, "word context score valid gate output grad grad_word grad_context grad_score"),
        *members(INT64, "word_step context_step output_step grad_step rows width"),
        *members(INT32, "threads"),
    )


def mix_reference(
    word: Tensor, context: Tensor, score: Tensor, valid: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Compute `mix` in plain torch."""
    gate = torch.sigmoid(score).to(word.dtype)
    mixed = torch.lerp(context.to(word.dtype), word, gate)
    return mixed if valid is None else mixed.masked_fill(~valid[:, None], 0), gate


def mix(word: Tensor, context: Tensor, score: Tensor, valid: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Mix two tensors feature by feature: ``g = sigmoid(score)``, output ``g * word + (1 - g) * context``.

    Args:
        word: [H, N, D], floating point: N tokens for each head.
        context: [H, N, D].
        score: [H, N, D].
        valid: True at a real token, [N] bool; None for no padding.

    Returns:
        The mixture [H, N, D] in the dtype of word, exactly zero at padding, and the gate [H, N, D], which may hold
        anything there. The compiled form agrees with the reference to the rounding of float32; its mixture is laid out
        as [N, H, D], so that joining the heads is free.

    Raises:
        UsageError: if valid does not hold a boolean for each token.
    """
    if valid is not None:
        check_valid(valid, word.shape[1:2])
    if not compiled_serves(word, context, score):
        return mix_reference(word, context, score, valid)
    mixed, gate = _Mix.apply(word, context, score, valid)
    return mixed, gate


_Saved = tuple[Tensor, Tensor, Tensor, Tensor | None]


class _Mix(torch.autograd.Function):
    """`mix`, compiled."""

    @staticmethod
    def forward(
        ctx: Context[_Saved, None], word: Tensor, context: Tensor, score: Tensor, valid: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        word, context, score = _rows(word), _rows(context), score.contiguous()
        valid = None if valid is None else valid.contiguous()
        heads, tokens, width = score.shape
        mixed, gate = score.new_empty(tokens, heads, width).transpose(0, 1), torch.empty_like(score)
        for head in range(heads):
            given = {"word": word[head], "context": context[head], "score": score[head], "valid": valid}
            _call("forward", gate[head], **given, output=mixed[head])
        ctx.save_for_backward(word, context, gate, valid)
        ctx.set_materialize_grads(False)
        return mixed, gate

    @staticmethod
    def backward(
        ctx: Context[_Saved, None], *grads: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None, None]:
        word, context, gate, valid = ctx.saved_tensors
        grad, of_gate = grads
        of_score = None if of_gate is None else of_gate * gate * (1 - gate)
        if grad is None:
            return None, None, of_score, None
        if plain_is_wanted(grad):
            grad = grad if valid is None else grad.masked_fill(~valid[:, None], 0)
            parts = [grad * gate, grad * (1 - gate), grad * (word - context) * gate * (1 - gate)]
        else:
            grad, parts = _rows(grad), [torch.empty_like(gate) for _ in range(3)]
            for head in range(len(gate)):
                given = {"word": word[head], "context": context[head], "grad": grad[head], "valid": valid}
                made = {"grad_word": parts[0], "grad_context": parts[1], "grad_score": parts[2]}
                _call("backward", gate[head], **given, **{name: part[head] for name, part in made.items()})
        return parts[0], parts[1], parts[2] if of_score is None else parts[2] + of_score, None


def _rows(tensor: Tensor) -> Tensor:
    """Make the features of a token lie side by side; the kernel takes any step between tokens."""
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


def _call(name: str, gate: Tensor, **arrays: Tensor | None) -> None:
    """Call the kernel for the tokens of one head, [N, D] each."""
    given = {key: array for key, array in arrays.items() if array is not None}
    steps = {
        f"{key}_step": given[key].stride(0) for key in ("word", "context", "output", "grad") if key in given
    }
    problem = _Mixture(
        gate=gate.data_ptr(),
        rows=gate.shape[0],
        width=gate.shape[1],
        threads=torch.get_num_threads(),
        **{key: array.data_ptr() for key, array in given.items()},
        **steps,
    )
    assert LIBRARY is not None  # `compiled_serves`
    getattr(LIBRARY, f"heedful_mixture_{name}")(ctypes.byref(problem))
