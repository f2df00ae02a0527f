"""The compiled Adadelta step: many parameters in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heedful.ops.native import LIBRARY, MISSING


class Update(NamedTuple):
    """One parameter's part of a step.

    Attributes:
        weight: the parameter.
        gradient: of its shape; or of the rows below only, [R, ...].
        square_avg: average of the squared gradients, of the parameter's shape.
        acc_delta: average of the squared updates, of the parameter's shape.
        rows: which rows the gradient is of, each once, [R] int64; None for all.
        rho: decay of both averages.
        eps: constant inside the roots.
        lr: learning rate.
        weight_decay: L2 factor.
    """

    weight: Tensor
    gradient: Tensor
    square_avg: Tensor
    acc_delta: Tensor
    rows: Tensor | None
    rho: float
    eps: float
    lr: float
    weight_decay: float


class _Update(ctypes.Structure):
    """Mirrors `AdadeltaUpdate` in csrc/adadelta.cpp."""

    _fields_ = (
        ("weight", ctypes.c_void_p),
        ("gradient", ctypes.c_void_p),
        ("square_avg", ctypes.c_void_p),
        ("acc_delta", ctypes.c_void_p),
        ("rows", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("width", ctypes.c_int64),
        ("rho", ctypes.c_float),
        ("new_share", ctypes.c_float),
        ("eps", ctypes.c_float),
        ("lr", ctypes.c_float),
        ("weight_decay", ctypes.c_float),
    )


def obstacle(update: Update) -> str:
    """Say why the kernel cannot serve an update; empty where it can."""
    tensors = (update.weight, update.gradient, update.square_avg, update.acc_delta)
    if any(tensor.dtype != torch.float32 or not tensor.is_cpu for tensor in tensors):
        return "the kernel updates float32 on the CPU"
    if not (
        update.weight.is_contiguous()
        and update.square_avg.is_contiguous()
        and update.acc_delta.is_contiguous()
    ):
        return "the kernel needs weights and averages without gaps"
    return MISSING


def run(updates: Sequence[Update]) -> None:
    """Update several parameters in place.

    Args:
        updates: each without an `obstacle`.
    """
    updates = [update for update in updates if update.gradient.numel()]
    if LIBRARY is None or not updates:
        return
    # Copies of what has gaps; they must outlive the call.
    gradients = [update.gradient.contiguous() for update in updates]
    rows = [None if update.rows is None else update.rows.contiguous() for update in updates]
    records = (_Update * len(updates))(*map(_record, updates, gradients, rows))
    LIBRARY.heedful_adadelta(records, ctypes.c_int64(len(updates)), ctypes.c_int32(torch.get_num_threads()))
    # What torch's own in-place operations do: a backward pass through the old values is then refused.
    for update in updates:
        torch.autograd.graph.increment_version(update.weight)


def _record(update: Update, gradient: Tensor, rows: Tensor | None) -> _Update:
    return _Update(
        update.weight.data_ptr(),
        gradient.data_ptr(),
        update.square_avg.data_ptr(),
        update.acc_delta.data_ptr(),
        None if rows is None else rows.data_ptr(),
        gradient.numel(),
        1 if rows is None else gradient[:1].numel(),
        update.rho,
        1 - update.rho,
        update.eps,
        update.lr,
        update.weight_decay,
    )
