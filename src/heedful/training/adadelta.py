"""Adadelta that updates only the rows a sparse gradient names."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from heedful.attention.native import ADDRESS, FLOAT, INT64, LIBRARY, MISSING, members


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
        *members(ADDRESS, "weight gradient square_avg acc_delta rows"),
        *members(INT64, "count width"),
        *members(FLOAT, "rho new_share eps lr weight_decay"),
    )


def obstacle(update: Update) -> str:
    """Return why the kernel cannot serve an update; empty where it can."""
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


class Adadelta(torch.optim.Optimizer):
    """Take Adadelta steps (Zeiler 2012), lazily by row where the gradient is sparse.

    ``s ← ρ s + (1-ρ) g²``, ``u = √(a+ε) / √(s+ε) · g``, ``a ← ρ a + (1-ρ) u²``, ``w ← w - lr u``.

    A dense gradient moves all weights, as in `torch.optim.Adadelta`. A sparse one, as `torch.nn.functional.embedding`
    makes with ``sparse=True``, changes the named rows of ``w``, ``s`` and ``a`` only: the other rows' averages do not
    decay. This is TensorFlow's sparse Adadelta, which the authors' code trains with, and a step costs the same however
    large the table is. The defaults are the papers', not torch's.

    Float32 on the CPU is updated by the compiled kernel, all parameters in one pass over their memory; everything else
    in plain torch. Both round once an operation, in one order: the weights do not depend on which of them ran. They
    agree with `torch.optim.Adadelta` to rounding, not to the bit, because it fuses some products and sums, and which
    ones depends on the processor.

    Args:
        params: parameters, or groups of them.
        lr: learning rate.
        rho: decay of both averages.
        eps: constant inside the roots.
        weight_decay: L2 factor added to dense gradients; must be 0 for a group with sparse ones.
        fused: False keeps to plain torch; for tests and measurements.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, object]],
        lr: float = 0.5,
        rho: float = 0.95,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        fused: bool = True,
    ) -> None:
        super().__init__(params, {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay})
        self.fused = fused

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update every parameter that has a gradient.

        Returns what the closure returned. Raises RuntimeError if a sparse gradient meets weight decay.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        updates = [
            self._update(parameter, group["rho"], group["eps"], group["lr"], group["weight_decay"])
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        served = [self.fused and not obstacle(update) for update in updates]
        run([update for update, native in zip(updates, served, strict=True) if native])
        for update, native in zip(updates, served, strict=True):
            if not native:
                update_reference(update)
        return loss

    def _update(
        self, parameter: nn.Parameter, rho: float, eps: float, lr: float, weight_decay: float
    ) -> Update:
        gradient, rows = parameter.grad, None
        assert gradient is not None  # `step` asks only for parameters with one
        if gradient.is_sparse:
            if weight_decay:
                raise RuntimeError("weight_decay must be 0 for parameters with sparse gradients")
            gradient = gradient.coalesce()
            gradient, rows = gradient.values(), gradient.indices()[0]
        state = self.state[parameter]
        if not state:
            state["square_avg"] = torch.zeros_like(parameter)
            state["acc_delta"] = torch.zeros_like(parameter)
        return Update(
            *(parameter, gradient, state["square_avg"], state["acc_delta"], rows),
            *(rho, eps, lr, weight_decay),
        )


def update_reference(update: Update) -> None:
    """Update one parameter in place in plain torch."""
    if update.rows is None:
        _update_dense(update, update.weight, update.square_avg, update.acc_delta)
        return
    tables = (update.weight, update.square_avg, update.acc_delta)
    named = [table[update.rows] for table in tables]
    _update_dense(update, *named)
    for table, values in zip(tables, named, strict=True):
        table.index_copy_(0, update.rows, values)


def _update_dense(update: Update, weight: Tensor, square_avg: Tensor, acc_delta: Tensor) -> None:
    """Never a product and a sum in one operation: processors differ in whether they round between the two."""
    g, rho, eps = update.gradient, update.rho, update.eps
    if update.weight_decay:
        g = g + weight * update.weight_decay
    square_avg.mul_(rho).add_((g * (1 - rho)).mul_(g))
    u = _square_root_(acc_delta + eps).div_(_square_root_(square_avg + eps)).mul_(g)
    acc_delta.mul_(rho).add_((u * (1 - rho)).mul_(u))
    weight.sub_(u.mul_(update.lr))


def _square_root_(x: Tensor) -> Tensor:
    """Take the square root in place, to the nearest float32: torch's own, on the CPU, may be the next one."""
    if x.is_cpu and x.dtype == torch.float32:
        np.sqrt(x.numpy(), out=x.numpy())
        return x
    return x.sqrt_()
