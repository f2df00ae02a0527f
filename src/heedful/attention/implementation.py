"""What every operation has in common: its result, the check of its inputs, and the choice of its implementation."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from heedful.attention.derivatives import TRANSFORMED, transformed
from heedful.errors import UsageError, nearest

Impl = Literal["auto", "reference", "torch", "kernel"]
"""``reference`` is the specification; ``torch`` a fast form in plain torch, on any device; ``kernel`` is compiled code,
on the CPU, and for feature-wise attention on a GPU; ``auto`` takes the kernel where it can serve, else torch. All of
them give the same result. Only the reference builds attention weights, so that it serves every request for them. It
also serves forward derivatives and the transforms of `torch.func`; second derivatives are right with each of them."""

TorchImpl = Literal["auto", "reference", "torch"]
"""`Impl` for an operation that has no compiled code."""


@dataclass(frozen=True)
class AttentionResult:
    """Output of an attention operation.

    Attributes:
        output: [B, L, D] or [B, H, L, C]; exactly zero where a query has nothing to attend to.
        weights: with one more axis K behind that of the queries, or None unless asked for. They sum to 1 over K, or are
            all 0.
    """

    output: Tensor
    weights: Tensor | None = None


@dataclass(frozen=True)
class ImplementationChoice:
    """Which implementation serves a request, and why, as a clause."""

    impl: Literal["reference", "torch", "kernel"]
    reason: str

    def __str__(self) -> str:
        return f"{self.impl}: {self.reason}"


def choose(impl: Impl, *, obstacle: str, why: str = "", need_weights: bool = False) -> ImplementationChoice:
    """Choose the implementation of an operation; see `Impl`.

    Args:
        impl: what the caller asked for.
        obstacle: why the kernel cannot serve the request, as a clause; empty where it can.
        why: what the kernel does, as a clause.
        need_weights: whether the weights are asked for.

    Returns:
        The choice and its reason.

    Raises:
        UsageError: if impl is unknown, or names the kernel where it cannot serve.
    """
    if impl not in get_args(Impl):
        raise UsageError(f"impl={impl!r} is unknown; {nearest(str(impl), get_args(Impl))}")
    if impl == "kernel" and transformed():
        raise UsageError(f"impl='kernel' cannot serve this request: {TRANSFORMED}; use impl='reference'")
    if impl == "kernel" and obstacle:
        raise UsageError(f"impl='kernel' cannot serve this request: {obstacle}; use 'auto' or 'torch'")
    if need_weights:
        return ImplementationChoice("reference", "the weights are asked for")
    if impl != "reference" and transformed():
        return ImplementationChoice("reference", TRANSFORMED)
    if impl != "auto":
        return ImplementationChoice(impl, "asked for")
    return ImplementationChoice("torch", obstacle) if obstacle else ImplementationChoice("kernel", why)


def check_inputs(axes: str, valid: Tensor, query: Tensor, **others: Tensor) -> None:
    """Refuse inputs whose shapes or types disagree.

    Args:
        axes: those of the query, such as "[B, L, D]": B first, L last but one.
        valid: must be booleans [B, L].
        query: must be floating point.
        **others: further inputs by name; must have the shape and dtype of the query.

    Raises:
        UsageError: naming the first that is wrong.
    """
    if query.dim() != axes.count(",") + 1:
        raise UsageError(f"query must be {axes}; got {list(query.shape)}")
    if not query.is_floating_point():
        raise UsageError(f"query must be floating point; got {query.dtype}")
    for name, tensor in others.items():
        if tensor.shape != query.shape or tensor.dtype != query.dtype:
            raise UsageError(
                f"{name} must match query, {query.dtype} {list(query.shape)}; got {tensor.dtype} {list(tensor.shape)}"
            )
    check_valid(valid, (query.shape[0], query.shape[-2]))


def check_valid(valid: Tensor, shape: Sequence[int], name: str = "valid") -> None:
    """Refuse what does not say of each token of [B, L] whether it is real."""
    if valid.shape != tuple(shape) or valid.dtype != torch.bool:
        raise UsageError(
            f"{name} must be booleans [B, L] = {list(shape)}, True at a real token; got {valid.dtype} "
            f"{list(valid.shape)}"
        )


def padding_of(x: Tensor, valid: Tensor) -> Tensor:
    """Return where a batch is padding.

    Args:
        x: [B, L, D].
        valid: True at a real token, [B, L] bool.

    Returns:
        True at padding, [B, L, 1] bool.

    Raises:
        UsageError: if it is not boolean, where ``~`` means another thing, or of another batch, which would be spread.
    """
    if valid.shape != x.shape[:-1] or valid.dtype != torch.bool:
        raise UsageError(
            f"valid must be booleans [B, L] = {list(x.shape[:-1])}, True at a real token; got {valid.dtype} "
            f"{list(valid.shape)}"
        )
    return ~valid[..., None]


def lowered_by_autocast(device: str) -> bool:
    """Return whether autocast lowers products on a device; it knows none of tensors without content ("meta")."""
    return device != "meta" and torch.is_autocast_enabled(device)


def without_autocast(device: str) -> contextlib.AbstractContextManager[object]:
    """Compute in the dtype of the inputs, whatever autocast says; see `lowered_by_autocast`."""
    return contextlib.nullcontext() if device == "meta" else torch.autocast(device, enabled=False)


def check_scale(scale: float) -> None:
    """Refuse a divisor of the scores that is not a finite number above 0."""
    if not 0 < scale < math.inf:
        raise UsageError(f"scale must be positive and finite; got {scale}")


def check_dropout(probability: float, name: str = "dropout") -> None:
    """Refuse a probability of dropping that is not in [0, 1)."""
    if not 0 <= probability < 1:
        raise UsageError(f"{name} is the probability of dropping, in [0, 1); got {probability}")


_COLLECTORS: list[dict[str, list[str]]] = []


def record_choice(operation: str, choice: ImplementationChoice) -> None:
    """Record what an operation uses for every `collect_choices` block; costs nothing where there is none."""
    for choices in _COLLECTORS:
        known = choices.setdefault(operation, [])
        if str(choice) not in known:
            known.append(str(choice))


@contextmanager
def collect_choices() -> Iterator[dict[str, list[str]]]:
    """Collect what is used within a ``with`` block.

    Yields Operation to the distinct choices, in the order of their first use; filled as the block runs.
    """
    choices: dict[str, list[str]] = {}
    _COLLECTORS.append(choices)
    try:
        yield choices
    finally:
        _COLLECTORS[:] = [other for other in _COLLECTORS if other is not choices]


def joined_choices(choices: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Join what `collect_choices` yielded by "; " where parts of the computation differ."""
    return {operation: "; ".join(each) for operation, each in choices.items()}
