"""Dense layers of several heads and inputs, with bias and activation in one pass over memory.

The reference in plain torch is the specification, and serves every device, precision and mode. The compiled form serves
training in float32 on the CPU. Its matrix products are torch's. A second derivative is left to plain torch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention.derivatives import Context, plain_is_wanted, transformed
from heedful.attention.native import ADDRESS, INT32, INT64, LIBRARY, members
from heedful.nn.linear import linear

Activation = Literal["elu", "relu", "linear"]

_FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "elu": functional.elu,
    "relu": functional.relu,
    "linear": lambda x: x,
}
_NUMBERS = {"linear": 0, "elu": 1, "relu": 2}
"""The activations as csrc/dense.h numbers them."""


class _Activated(ctypes.Structure):
    """One call; mirrors `Activated` in csrc/pointwise.cpp."""

    _fields_ = (
        *members(ADDRESS, "output bias grad grad_input"),
        *members(INT64, "grad_step rows width"),
        *members(INT32, "activation threads"),
    )


def activate(x: Tensor, name: Activation) -> Tensor:
    """Apply an activation by name: "elu" (alpha 1), "relu" or "linear" (none)."""
    return _FUNCTIONS[name](x)


def compiled_serves(*tensors: Tensor) -> bool:
    """Whether the compiled forms serve: gradients are on, and all tensors are plain ones in float32 on the CPU."""
    return (
        LIBRARY is not None
        and torch.is_grad_enabled()
        and all(type(x) in (Tensor, nn.Parameter) and x.dtype == torch.float32 and x.is_cpu for x in tensors)
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and not transformed()
        and not torch.jit.is_tracing()
        and not torch._C._len_torch_dispatch_stack()  # whoever records operations would not see a kernel
    )


def dense_reference(
    inputs: Sequence[Tensor],
    weights: Sequence[Sequence[Tensor]],
    biases: Sequence[Tensor],
    activation: Activation,
) -> Tensor:
    """Compute `dense` in plain torch."""
    heads = []
    for head in range(len(weights[0])):
        total = linear(inputs[0][head], weights[0][head], biases[head] if biases else None)
        for x, w in zip(inputs[1:], weights[1:], strict=True):
            total = total + linear(x[head], w[head])
        heads.append(activate(total, activation))
    return torch.stack(heads)


def dense(
    inputs: Sequence[Tensor],
    weights: Sequence[Sequence[Tensor]],
    biases: Sequence[Tensor],
    activation: Activation,
) -> Tensor:
    """Apply one dense layer a head: ``activation(sum_k x_k W_k + b)``.

    Args:
        inputs: K tensors [H, N, D_k], floating point.
        weights: of each input one matrix [E, D_k] a head.
        biases: one a head, [E]; or none.
        activation: applied last.

    Returns:
        [H, N, E]. The compiled form agrees with the reference to the rounding of float32.
    """
    flat = [w for each in weights for w in each]
    if not compiled_serves(*inputs, *flat, *biases):
        return dense_reference(inputs, weights, biases, activation)
    output: Tensor = _Dense.apply(activation, len(inputs), len(weights[0]), *inputs, *flat, *biases)
    return output


_Saved = tuple[Tensor, ...]


class _Dense(torch.autograd.Function):
    """`dense`, compiled."""

    @staticmethod
    def forward(
        ctx: Context[_Saved, tuple[Activation, int, int]],
        activation: Activation,
        count: int,
        heads: int,
        *tensors: Tensor,
    ) -> Tensor:
        inputs, weights, biases = _apart(tensors, count, heads)
        output = inputs[0].new_empty(heads, inputs[0].shape[1], len(weights[0][0]))
        for head in range(heads):
            torch.mm(inputs[0][head], weights[0][head].t(), out=output[head])
            for x, w in zip(inputs[1:], weights[1:], strict=True):
                output[head].addmm_(x[head], w[head].t())
            if biases or activation != "linear":
                bias = biases[head].contiguous() if biases else None
                _activated("forward", activation, output[head], bias=bias)
        ctx.save_for_backward(*inputs, *(w for each in weights for w in each), output)
        ctx.kept = activation, count, heads
        return output

    @staticmethod
    def backward(
        ctx: Context[_Saved, tuple[Activation, int, int]], *grads: Tensor
    ) -> tuple[Tensor | None, ...]:
        activation, count, heads = ctx.kept
        *tensors, output = ctx.saved_tensors
        inputs, weights, _ = _apart(tensors, count, heads)
        grad = _slope(activation, output, grads[0])
        needed: Sequence[bool] = ctx.needs_input_grad[3:]  # type: ignore[attr-defined]
        of_inputs = [_products(grad, w) if need else None for w, need in zip(weights, needed, strict=False)]
        of_weights = [grad[head].t() @ x[head] for x in inputs for head in range(heads)]
        of_biases = (
            [grad[head].sum(dim=0) for head in range(heads)] if len(needed) > count * (1 + heads) else []
        )
        return None, None, None, *of_inputs, *of_weights, *of_biases


def _apart(
    tensors: Sequence[Tensor], count: int, heads: int
) -> tuple[Sequence[Tensor], list[Sequence[Tensor]], Sequence[Tensor]]:
    """Take the inputs, the matrices of each and the biases out of one row of tensors."""
    ends = [count + k * heads for k in range(count + 1)]
    return tensors[:count], [tensors[end : end + heads] for end in ends[:-1]], tensors[ends[-1] :]


def _products(left: Tensor, right: Sequence[Tensor]) -> Tensor:
    """Multiply the matrices of each head, [H, N, E] and [E, D], to [H, N, D]."""
    if plain_is_wanted(left):
        return torch.stack([x @ y for x, y in zip(left, right, strict=True)])
    output = left.new_empty(*left.shape[:2], right[0].shape[1])
    for x, y, z in zip(left, right, output, strict=True):
        torch.mm(x, y, out=z)
    return output


def _slope(activation: Activation, output: Tensor, grad: Tensor) -> Tensor:
    """Return the gradient before the activation."""
    if activation == "linear":
        return grad
    if plain_is_wanted(grad):
        return grad * torch.where(output > 0, 1.0, output + 1 if activation == "elu" else 0.0)
    grad = grad if grad.stride(-1) == 1 else grad.contiguous()
    before = torch.empty_like(output)
    for each, y, z in zip(grad, output, before, strict=True):
        _activated("backward", activation, y, grad=each, grad_input=z, grad_step=each.stride(0))
    return before


def _activated(
    name: str, activation: Activation, output: Tensor, grad_step: int = 0, **arrays: Tensor | None
) -> None:
    """Call a kernel for a matrix [N, E] without gaps."""
    addresses = {key: array.data_ptr() for key, array in arrays.items() if array is not None}
    problem = _Activated(
        output=output.data_ptr(),
        grad_step=grad_step,
        rows=output.shape[0],
        width=output.shape[1],
        activation=_NUMBERS[activation],
        threads=torch.get_num_threads(),
        **addresses,
    )
    assert LIBRARY is not None  # `compiled_serves`
    getattr(LIBRARY, f"heedful_activation_{name}")(ctypes.byref(problem))
