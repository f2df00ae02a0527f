"""Dropout as a torch operator. It is linear, so its backward pass is dropout of the gradient with the same seed."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from heedful.ops.dropout.reference import STEPS, dropout_reference
from heedful.ops.native import LIBRARY
from heedful.ops.self_adjoint import define_self_adjoint

_KERNEL = None if LIBRARY is None else LIBRARY.heedful_dropout
if _KERNEL is not None:
    _KERNEL.argtypes = (
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64),
        *(ctypes.c_uint32, ctypes.c_float, ctypes.c_int32),
    )


def _anywhere(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    return dropout_reference(x, int(seed.item()), threshold)


def _on_cpu(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    if _KERNEL is None or x.dtype == torch.float64:
        return _anywhere(x, seed, threshold)
    single = x.float().contiguous()
    output = torch.empty_like(single)
    _KERNEL(
        *(single.data_ptr(), output.data_ptr(), single.numel(), seed.item()),
        *(threshold, STEPS / (STEPS - threshold), torch.get_num_threads()),
    )
    return output.to(x.dtype)


drop = define_self_adjoint(
    "dropout", "(Tensor x, Tensor seed, int threshold)", cpu=_on_cpu, anywhere=_anywhere
)
"""drop(x, seed, threshold): see `dropout_reference`; seed is int64, [], on the CPU."""
