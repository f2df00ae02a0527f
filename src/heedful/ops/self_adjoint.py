"""Registration of operators that are linear in their first argument and their own adjoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from heedful.ops.operator import OPERATORS


def define_self_adjoint(
    name: str, arguments: str, *, cpu: Callable[..., Tensor], anywhere: Callable[..., Tensor]
) -> Callable[..., Tensor]:
    """Register ``heedful::name`` with autograd of any order and fake tensors (compile, export); autocast leaves it be.

    The gradient is the operator itself, with the same further arguments, applied to the output's gradient.

    Args:
        name: of the operator.
        arguments: its schema's arguments, ``(Tensor x, Tensor other, ...)``; after the second no tensor follows.
        cpu: computes it on the CPU; returns a new contiguous tensor with the shape and dtype of x.
        anywhere: computes it on any other device.

    Returns:
        The operator.
    """
    OPERATORS.define(f"{name}{arguments} -> Tensor")
    operator: Callable[..., Tensor] = getattr(torch.ops.heedful, name).default

    def below_autograd(x: Tensor, other: Tensor, *rest: Any) -> Tensor:
        with torch._C._AutoDispatchBelowAutograd():
            return operator(x, other, *rest)

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, other: Tensor, *rest: Any) -> Tensor:
            ctx.save_for_backward(other)
            ctx.rest = rest
            return below_autograd(x, other, *rest)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return operator(grads[0], *ctx.saved_tensors, *ctx.rest), None, *(None for _ in ctx.rest)

    def with_autograd(x: Tensor, other: Tensor, *rest: Any) -> Tensor:
        if torch.is_grad_enabled() and x.requires_grad:
            output: Tensor = Function.apply(x, other, *rest)
            return output
        return below_autograd(x, other, *rest)

    def fake(x: Tensor, other: Tensor, *rest: Any) -> Tensor:
        return torch.empty_like(x, memory_format=torch.contiguous_format)

    OPERATORS.impl(name, cpu, "CPU")
    OPERATORS.impl(name, anywhere, "CompositeExplicitAutograd")
    OPERATORS.impl(name, with_autograd, "Autograd")
    torch.library.register_fake(f"heedful::{name}", fake, lib=OPERATORS)
    return operator
