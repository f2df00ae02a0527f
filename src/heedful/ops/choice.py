"""The one place where `impl="auto"` is decided, and where an explicit choice that cannot be served is refused."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import get_args

import torch
from torch import Tensor

from heedful.errors import UsageError, nearest
from heedful.ops import native
from heedful.ops.types import Impl

SCALES = (0.01, 20.0)
"""Scores bounded by more than this would leave the range of float32's exponentials."""


@dataclass(frozen=True)
class Choice:
    """Which implementation serves a request.

    Attributes:
        impl: its name; never "auto".
        reason: why this one, as a clause.
    """

    impl: Impl
    reason: str

    def __str__(self) -> str:
        return f"{self.impl}: {self.reason}"


def choose_additive(
    query: Tensor, *, scale: float, need_weights: bool = False, impl: Impl = "auto"
) -> Choice:
    """Choose the implementation of `heedful.ops.additive_attention`.

    Args:
        query: stands for all inputs: its dtype, device and shape [B, L, D] matter.
        scale: c, the bound of the scores.
        need_weights: whether the weights are asked for.
        impl: what the caller asked for.

    Returns:
        The choice and its reason.

    Raises:
        UsageError: if impl is unknown, or was asked for explicitly and cannot serve the request.
    """
    if impl not in get_args(Impl):
        raise UsageError(f"impl={impl!r} is unknown; {nearest(str(impl), get_args(Impl))}")
    obstacle = _fused_obstacle(query, scale)
    if impl == "auto":
        if need_weights:
            return Choice("reference", "the weights are asked for")
        return Choice("chunked", obstacle) if obstacle else Choice("fused", "the kernel serves this request")
    if need_weights and impl != "reference":
        raise UsageError(
            f"impl={impl!r} never builds the weights; need_weights=True needs 'reference' or 'auto'"
        )
    if impl == "fused" and obstacle:
        raise UsageError(f"impl='fused' cannot serve this request: {obstacle}; use 'auto' or 'chunked'")
    return Choice(impl, "asked for")


def _fused_obstacle(query: Tensor, scale: float) -> str:
    """Why the kernel cannot serve; empty where it can."""
    if query.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return f"the kernel computes in float32, and the inputs are {query.dtype}"
    if not SCALES[0] <= scale <= SCALES[1]:
        return f"scale={scale} is outside {SCALES[0]} to {SCALES[1]}"
    if query.device.type == "cuda":
        return "" if find_spec("triton") else "triton is not installed"
    if query.device.type != "cpu":
        return f"there is no kernel for device {query.device.type!r}"
    return native.MISSING
