"""Zeroing the rows of padding, as a torch operator."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.ops.native import LIBRARY
from heedful.ops.self_adjoint import define_self_adjoint

_KERNEL = None if LIBRARY is None else LIBRARY.heedful_clear_padding
if _KERNEL is not None:
    _KERNEL.argtypes = (
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
        *(ctypes.c_int64, ctypes.c_int64, ctypes.c_int32),
    )


def clear_padding(x: Tensor, valid: Tensor) -> Tensor:
    """Set the features of padding to zero: ``x.masked_fill(~valid[..., None], 0)`` at the speed of a copy.

    Args:
        x: [B, L, D]; at padding it may hold anything, also NaN.
        valid: True at a real token, [B, L] bool.

    Returns:
        [B, L, D], contiguous. The gradient at padding is exactly zero.

    Raises:
        UsageError: if shapes or dtype disagree.
    """
    if valid.shape != x.shape[:-1] or valid.dtype != torch.bool:
        raise UsageError(
            f"valid must be booleans of the shape of x without its last axis, {list(x.shape[:-1])}; got {valid.dtype} "
            f"{list(valid.shape)}"
        )
    return _clear(x, valid)


def _anywhere(x: Tensor, valid: Tensor) -> Tensor:
    return x.masked_fill(~valid[..., None], 0).contiguous()


def _on_cpu(x: Tensor, valid: Tensor) -> Tensor:
    if _KERNEL is None:
        return _anywhere(x, valid)
    x, valid = x.contiguous(), valid.contiguous()
    output = torch.empty_like(x)
    _KERNEL(
        *(x.data_ptr(), valid.data_ptr(), output.data_ptr()),
        *(valid.numel(), x.shape[-1] * x.element_size(), torch.get_num_threads()),
    )
    return output


_clear = define_self_adjoint("clear_padding", "(Tensor x, Tensor valid)", cpu=_on_cpu, anywhere=_anywhere)
