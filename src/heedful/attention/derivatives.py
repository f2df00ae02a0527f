"""Which derivatives the compiled kernels serve, and how plain torch gives all others.

A kernel serves the value and the first derivative of `torch.autograd`. Three kinds of derivatives are left to plain
torch: those of a derivative (``create_graph=True``), those in forward mode, and everything inside the transforms of
`torch.func`. The first is noticed in the backward pass, the other two where an implementation is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import torch
from torch import Tensor
from torch.autograd import forward_ad

from heedful.errors import UsageError

Saved = TypeVar("Saved", covariant=True)
Kept = TypeVar("Kept")

TRANSFORMED = "a forward derivative or a transform of torch.func is under way"


def transformed() -> bool:
    """Return whether a forward derivative or a transform of `torch.func` (grad, vmap, jvp) is under way."""
    return forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active()


# What torch.compile traces asks while it traces, and keeps the answer.
transformed._dynamo_marked_constant = True  # type: ignore[attr-defined]


def refuse_forward_mode(operator: str) -> None:
    """Refuse to compute an operator that would drop the tangents of its inputs without a word.

    Raises UsageError where a forward derivative is under way.
    """
    if forward_ad._current_level >= 0:
        raise UsageError(
            f"{operator} has no forward derivative; use impl='reference', which has all derivatives"
        )


def plain_is_wanted(*grads: Tensor | None) -> bool:
    """Return, in a backward pass, whether only plain torch can serve: many gradients at once, or another derivative.

    Args:
        *grads: of the outputs; None for one that has none.

    Returns:
        True also inside a transform of `torch.func`.
    """
    batched = any(grad is not None and torch._C._functorch.is_legacy_batchedtensor(grad) for grad in grads)
    return torch.is_grad_enabled() or batched or transformed()


def differentiable_gradients(
    compute: Callable[..., Tensor | tuple[Tensor, ...]],
    inputs: Sequence[Tensor],
    grads: Sequence[Tensor | None],
) -> tuple[Tensor, ...]:
    """Return gradients that can be differentiated in turn, as often as one likes.

    Args:
        compute: plain torch; of the inputs.
        inputs: what to differentiate by.
        grads: gradients of what compute returns; None for one that has none.

    Returns:
        One gradient an input.
    """
    with torch.enable_grad():
        # An alias belongs to the graph of what it stands for, if there is one; the gradient taken here ends at it.
        leaves = [x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in inputs]
        results = compute(*leaves)
        pairs = zip((results,) if isinstance(results, Tensor) else results, grads, strict=True)
        known = [(result, grad) for result, grad in pairs if grad is not None]
        return torch.autograd.grad(
            [result for result, _ in known],
            leaves,
            [grad for _, grad in known],
            create_graph=True,
            allow_unused=True,
            materialize_grads=True,
        )


class Context(Protocol[Saved, Kept]):
    """What torch gives to the forward and to the backward pass of a function, so that the first can leave things.

    It is generic in the tuple of its saved tensors and in the plain values beside them.

    Attributes:
        kept: plain values that the forward pass leaves for the backward pass.
    """

    kept: Kept

    @property
    def saved_tensors(self) -> Saved:
        """The tensors that the forward pass gave to `save_for_backward`."""

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for the backward pass."""

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether the backward pass gets zeros, and not None, for an output without a gradient."""


_Saved = tuple[Tensor, ...]
_Kept = tuple[Callable[..., Tensor], list[Tensor], Tensor]
"""The plain form, the inputs as leaves of their own, and what the fast form made of them."""


class _TwoForms(torch.autograd.Function):
    """See `differentiable_twice`."""

    @staticmethod
    def forward(
        ctx: Context[_Saved, _Kept],
        fast: Callable[..., Tensor],
        plain: Callable[..., Tensor],
        *inputs: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(*inputs)
        with torch.enable_grad():
            leaves = [x.detach().requires_grad_(x.requires_grad) for x in inputs]
            output = fast(*leaves)
        ctx.kept = plain, leaves, output
        return output.detach()

    @staticmethod
    def backward(ctx: Context[_Saved, _Kept], *grads: Tensor) -> tuple[Tensor | None, ...]:
        plain, leaves, output = ctx.kept
        if plain_is_wanted(*grads):
            return None, None, *differentiable_gradients(plain, ctx.saved_tensors, grads)
        wanted = [x for x in leaves if x.requires_grad]
        found = iter(torch.autograd.grad(output, wanted, grads, retain_graph=True))
        return None, None, *(next(found) if x.requires_grad else None for x in leaves)


def differentiable_twice(
    fast: Callable[..., Tensor], plain: Callable[..., Tensor], *inputs: Tensor
) -> Tensor:
    """Compute by a form that has first derivatives alone; further ones come from another form.

    Args:
        fast: of the inputs, gives what is returned and its first derivative.
        plain: the same in operations of torch that can be differentiated as often as one likes.
        *inputs: floating point.

    Returns:
        The result of fast.
    """
    traced = torch.compiler.is_compiling() or torch.jit.is_tracing()
    if traced or not torch.is_grad_enabled() or not any(x.requires_grad for x in inputs):
        return fast(*inputs)
    output: Tensor = _TwoForms.apply(fast, plain, *inputs)
    return output
