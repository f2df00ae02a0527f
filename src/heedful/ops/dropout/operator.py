"""Dropout as a torch operator: autograd of any order, fake tensors (compile, export); autocast leaves it alone.

Dropout is linear in its input, so its backward pass is the operator itself, with the same seed, on the gradient.
The operator is registered with `torch.library.Library`, because `torch.library.custom_op` costs several times more a
call, which a step with dozens of small dropouts would feel.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor

from heedful.ops.dropout.reference import STEPS, dropout_reference
from heedful.ops.native import LIBRARY

_OPERATORS = torch.library.Library("heedful", "FRAGMENT")
_OPERATORS.define("dropout(Tensor x, Tensor seed, int threshold) -> Tensor")
_KERNEL = None if LIBRARY is None else LIBRARY.heedful_dropout
if _KERNEL is not None:
    _KERNEL.argtypes = (
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64),
        *(ctypes.c_uint32, ctypes.c_float, ctypes.c_int32),
    )


def drop(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    """Drop elements; see `dropout_reference`.

    Args:
        x: floating point, any shape, strides and device.
        seed: int64, [], on the CPU.
        threshold: elements whose 16 random bits are below it are dropped.

    Returns:
        A contiguous tensor with the shape and dtype of x.
    """
    return torch.ops.heedful.dropout.default(x, seed, threshold)


def _forward_cpu(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    if _KERNEL is None or x.dtype == torch.float64:
        return _forward_anywhere(x, seed, threshold)
    single = x.float().contiguous()
    output = torch.empty_like(single)
    _KERNEL(
        *(single.data_ptr(), output.data_ptr(), single.numel(), seed.item()),
        *(threshold, STEPS / (STEPS - threshold), torch.get_num_threads()),
    )
    return output.to(x.dtype)


def _forward_anywhere(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    return dropout_reference(x, int(seed.item()), threshold)


def _forward_fake(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, seed: Tensor, threshold: int) -> Tensor:
        ctx.save_for_backward(seed)
        ctx.threshold = threshold
        return _below_autograd(x, seed, threshold)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (seed,) = ctx.saved_tensors
        return drop(grads[0], seed, ctx.threshold), None, None


def _with_autograd(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    if torch.is_grad_enabled() and x.requires_grad:
        return _Dropout.apply(x, seed, threshold)
    return _below_autograd(x, seed, threshold)


def _below_autograd(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    with torch._C._AutoDispatchBelowAutograd():
        return drop(x, seed, threshold)


_OPERATORS.impl("dropout", _forward_cpu, "CPU")
_OPERATORS.impl("dropout", _forward_anywhere, "CompositeExplicitAutograd")
_OPERATORS.impl("dropout", _with_autograd, "Autograd")
torch.library.register_fake("heedful::dropout", _forward_fake, lib=_OPERATORS)
