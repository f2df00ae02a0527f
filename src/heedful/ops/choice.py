"""The one place where `impl="auto"` is decided, and where an explicit choice that cannot be served is refused."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Generic, TypeVar, get_args

import torch
from torch import Tensor

from heedful.errors import UsageError, nearest
from heedful.masks.visibility import Band, Visible
from heedful.ops import native
from heedful.ops.types import Impl, TensorizedImpl

Name = TypeVar("Name", Impl, TensorizedImpl)
WHOLE = Band()
SCALES = (0.1, 10.0)
"""Scores bounded by less or more lose accuracy to the kernel's float32 exponentials (measured)."""


@dataclass(frozen=True)
class Choice(Generic[Name]):
    """Which implementation serves a request.

    Attributes:
        impl: its name; never "auto".
        reason: why this one, as a clause.
    """

    impl: Name
    reason: str

    def __str__(self) -> str:
        return f"{self.impl}: {self.reason}"


def choose_additive(
    query: Tensor,
    visible: Visible = WHOLE,
    *,
    scale: float,
    need_weights: bool = False,
    impl: Impl = "auto",
) -> Choice[Impl]:
    """Choose the implementation of `heedful.ops.additive_attention`.

    Args:
        query: stands for all inputs: its dtype and device matter. Its length does not, lest a sentence's result
            depend on its neighbours' lengths; the linear form decides for each sentence itself.
        visible: which keys a query may see; default all.
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
    if impl == "auto":
        return _best(query, visible, scale, need_weights)
    if need_weights and impl != "reference":
        raise UsageError(
            f"impl={impl!r} never builds the weights; need_weights=True needs 'reference' or 'auto'"
        )
    obstacle = ""
    if impl in ("fused", "linear"):
        obstacle = _fused_obstacle(query, scale)
    if impl == "linear" and not obstacle:
        obstacle = _linear_obstacle(query, visible)
    if obstacle:
        raise UsageError(f"impl={impl!r} cannot serve this request: {obstacle}; use 'auto' or 'chunked'")
    return Choice(impl, "asked for")


def choose_tensorized(
    query: Tensor, *, need_weights: bool = False, impl: TensorizedImpl = "auto"
) -> Choice[TensorizedImpl]:
    """Choose the implementation of `heedful.ops.tensorized.tensorized_attention`.

    Args:
        query: stands for all inputs: its dtype and device matter.
        need_weights: whether the weights are asked for.
        impl: what the caller asked for.

    Returns:
        The choice and its reason.

    Raises:
        UsageError: if impl is unknown, or was asked for explicitly and cannot serve the request.
    """
    if impl not in get_args(TensorizedImpl):
        raise UsageError(f"impl={impl!r} is unknown; {nearest(str(impl), get_args(TensorizedImpl))}")
    obstacle = tensorized_obstacle(query)
    if impl == "auto":
        if need_weights:
            return Choice("reference", "the weights are asked for")
        return (
            Choice("matrix", obstacle)
            if obstacle
            else Choice("fused", "one compiled kernel serves all heads")
        )
    if impl != "reference" and need_weights:
        raise UsageError(
            f"impl={impl!r} never builds the weights; for need_weights=True use 'reference' or 'auto'"
        )
    if impl == "fused" and obstacle:
        raise UsageError(f"impl='fused' cannot serve this request: {obstacle}; use 'auto' or 'matrix'")
    return Choice(impl, "asked for")


def tensorized_obstacle(query: Tensor) -> str:
    """Say why the compiled kernel of tensorized attention cannot serve.

    Args:
        query: stands for all inputs.

    Returns:
        The reason as a clause; empty where the kernel can serve.
    """
    if query.device.type != "cpu":
        return f"there is no kernel for device {query.device.type!r}"
    if query.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return f"the kernel computes in float32, and the inputs are {query.dtype}"
    if native.LIBRARY is not None and not hasattr(native.LIBRARY, "heedful_tensorized_forward"):
        return "the compiled kernels are of an older version; build them again"
    return native.MISSING


def _best(query: Tensor, visible: Visible, scale: float, need_weights: bool) -> Choice[Impl]:
    if need_weights:
        return Choice("reference", "the weights are asked for")
    if obstacle := _fused_obstacle(query, scale):
        return Choice("chunked", obstacle)
    if obstacle := _linear_obstacle(query, visible):
        return Choice("fused", obstacle)
    return Choice("linear", "whole directions: linear time in long sentences, pair by pair in short ones")


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


def _linear_obstacle(query: Tensor, visible: Visible) -> str:
    """Why the linear form cannot serve where the fused one does; empty where it can."""
    if query.device.type != "cpu":
        return "the linear form is compiled for the CPU alone"
    if not isinstance(visible, Band):
        return "visibility is a dense tensor, not a band"
    if visible.low not in (None, 0, 1) or visible.high not in (None, -1, 0):
        return "the band is a window, which costs little pair by pair"
    return ""
