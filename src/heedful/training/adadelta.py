"""Adadelta that updates only the rows a sparse gradient names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn


class Adadelta(torch.optim.Adadelta):
    """Take Adadelta steps (Zeiler 2012), lazily by row where the gradient is sparse.

    ``s ← ρ s + (1-ρ) g²``, ``u = √(a+ε) / √(s+ε) · g``, ``a ← ρ a + (1-ρ) u²``, ``w ← w - lr u``.

    A dense gradient goes to `torch.optim.Adadelta`. A sparse one, as `torch.nn.functional.embedding` makes with
    ``sparse=True``, changes the named rows of ``w``, ``s`` and ``a`` only: the other rows' averages do not decay.
    This is TensorFlow's sparse Adadelta, which the authors' code trains with, and a step costs the same however large
    the table is. The defaults are the papers', not torch's.

    Args:
        params: parameters, or groups of them.
        lr: learning rate.
        rho: decay of both averages.
        eps: constant inside the roots.
        weight_decay: L2 factor added to dense gradients; must be 0 for a group with sparse ones.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 0.5,
        rho: float = 0.95,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay)

    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update every parameter that has a gradient.

        Args:
            closure: computes the loss anew; called before the update.

        Returns:
            What the closure returned.

        Raises:
            RuntimeError: if a sparse gradient meets weight decay.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        sparse = [
            (parameter, parameter.grad, group)
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and parameter.grad.is_sparse
        ]
        for parameter, gradient, group in sparse:
            self._update_rows(parameter, gradient.coalesce(), group)
            parameter.grad = None  # hidden from the dense update below, which refuses sparse gradients
        super().step()
        for parameter, gradient, _ in sparse:
            parameter.grad = gradient
        return loss

    @torch.no_grad()
    def _update_rows(self, parameter: nn.Parameter, gradient: Tensor, group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            raise RuntimeError("weight_decay must be 0 for parameters with sparse gradients")
        state = self.state[parameter]
        if not state:
            state["square_avg"] = torch.zeros_like(parameter)
            state["acc_delta"] = torch.zeros_like(parameter)
        rows, g = gradient.indices()[0], gradient.values()
        rho, eps = group["rho"], group["eps"]
        square = state["square_avg"][rows].mul_(rho).addcmul_(g, g, value=1 - rho)
        accumulated = state["acc_delta"][rows]
        update = accumulated.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(g)
        accumulated.mul_(rho).addcmul_(update, update, value=1 - rho)
        state["square_avg"].index_copy_(0, rows, square)
        state["acc_delta"].index_copy_(0, rows, accumulated)
        parameter.index_add_(0, rows, update, alpha=-group["lr"])
