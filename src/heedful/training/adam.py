"""Adam on the CPU, of dense weights and of the rows of word tables, with the numbers of torch's to the bit.

Any optimizer of torch's own imports its compiler, which takes longer than a small training; and its Adam of rows writes
each moment through a sparse tensor, which takes twice as long as the rows themselves.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class PlainAdam(ABC):
    """What both have in common with an optimizer of torch: groups, states and steps.

    Args:
        groups: parameters, each with what differs from the defaults.
        **defaults: "lr", "betas", "eps" and "weight_decay".

    Attributes:
        param_groups: the groups, complete.
        state: of each parameter: "step", "exp_avg" and "exp_avg_sq"; empty before its first step.
    """

    def __init__(self, groups: Sequence[dict[str, Any]], **defaults: object) -> None:
        self.param_groups: list[dict[str, Any]] = [{**defaults, **group} for group in groups]
        self.state: defaultdict[nn.Parameter, dict[str, Any]] = defaultdict(dict)

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        for group in self.param_groups:
            if moving := [parameter for parameter in group["params"] if parameter.grad is not None]:
                self._update(moving, [self._state_of(parameter) for parameter in moving], group)

    @abstractmethod
    def _update(
        self, moving: Sequence[nn.Parameter], states: Sequence[dict[str, Any]], group: dict[str, Any]
    ) -> None:
        """Update parameters of a group, all of which have gradients."""

    @abstractmethod
    def _start(self) -> object:
        """Return the number of steps before the first one."""

    def _state_of(self, parameter: nn.Parameter) -> dict[str, Any]:
        state = self.state[parameter]
        if not state:
            state |= {"step": self._start()}
            state |= {name: torch.zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
        return state


class DenseAdam(PlainAdam):
    """`torch.optim.Adam` with ``fused=True``."""

    def _start(self) -> Tensor:
        return torch.zeros((), dtype=torch.float32)

    def _update(
        self, moving: Sequence[nn.Parameter], states: Sequence[dict[str, Any]], group: dict[str, Any]
    ) -> None:
        steps = [state["step"] for state in states]
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            list(moving),
            [parameter.grad for parameter in moving if parameter.grad is not None],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            steps,
            lr=group["lr"],
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=False,
            maximize=False,
        )


class RowAdam(PlainAdam):
    """`torch.optim.SparseAdam`: only the rows of a batch move, and so do their averages alone."""

    def _start(self) -> int:
        return 0

    def _update(
        self, moving: Sequence[nn.Parameter], states: Sequence[dict[str, Any]], group: dict[str, Any]
    ) -> None:
        for parameter, state in zip(moving, states, strict=True):
            assert parameter.grad is not None  # the caller looked
            state["step"] += 1
            gradient = parameter.grad.coalesce()
            if gradient._nnz():
                _move_rows(parameter, gradient.indices()[0], gradient.values(), state, group)


def _move_rows(
    table: Tensor, rows: Tensor, values: Tensor, state: dict[str, Any], group: dict[str, Any]
) -> None:
    moments = []
    for name, seen, beta in zip(
        ("exp_avg", "exp_avg_sq"), (values, values.pow(2)), group["betas"], strict=True
    ):
        before = state[name].index_select(0, rows)
        moments.append(seen.sub(before).mul_(1 - beta).add_(before))
        state[name].index_copy_(0, rows, moments[-1])
    first, second = (1 - beta ** state["step"] for beta in group["betas"])
    length = group["lr"] * math.sqrt(second) / first
    table.index_add_(0, rows, -length * moments[0].div_(moments[1].sqrt_().add_(group["eps"])))
