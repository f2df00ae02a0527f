"""Keeps what the caller has set in torch out of a training: its results depend on its settings alone.

Gradients may be off, inference mode or autocast on, and the default dtype and device may be any. All of these but the
default dtype belong to a thread, and so does everything that is set here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_CPU = torch.device("cpu")
_PLACED = frozenset(
    (
        *(torch.arange, torch.as_tensor, torch.empty, torch.eye, torch.full, torch.linspace, torch.ones),
        *(torch.rand, torch.randint, torch.randn, torch.randperm, torch.tensor, torch.zeros),
    )
)
"""What makes tensors on the default device."""


@contextlib.contextmanager
def own_torch_state() -> Iterator[None]:
    """Compute as in a fresh process within a ``with`` block: gradients on, tensors in float32 and on the CPU."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        if torch.is_autocast_enabled("cpu"):
            stack.enter_context(torch.autocast("cpu", enabled=False))
        if torch.is_autocast_enabled("cuda"):
            stack.enter_context(torch.autocast("cuda", enabled=False))
        if torch.get_default_dtype() != torch.float32 or torch.get_default_device() != _CPU:
            stack.enter_context(_FreshDefaults())
        yield


class _FreshDefaults(TorchFunctionMode):
    """Makes tensors as torch does by default; it slows every call, so it is used only where a default is another."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        given = dict(kwargs or {})
        if func in _PLACED and given.get("device") is None:
            given["device"] = _like(args) or _CPU
        default = torch.get_default_dtype()
        if default == torch.float32:
            return func(*args, **given)
        named = any(value is default for value in (*args, *given.values()))
        draws = func in (torch.rand, torch.randn)
        if draws and given.get("dtype") is None:
            given["dtype"] = torch.float32  # drawn so, and not rounded
        result = func(*args, **given)
        known = named or func is Tensor.double or any(_has(value, default) for value in args)
        if isinstance(result, Tensor) and result.dtype == default and not known:
            return result.to(torch.float32)
        return result


def _like(args: Sequence[object]) -> torch.device | None:
    """Return the device of a tensor that is copied."""
    return next((value.device for value in args if isinstance(value, Tensor)), None)


def _has(value: object, dtype: torch.dtype) -> bool:
    """Return whether a tensor, an array or one of a list is of a type."""
    if isinstance(value, list | tuple):
        return any(_has(item, dtype) for item in value)
    return str(getattr(value, "dtype", "")).removeprefix("torch.") == str(dtype).removeprefix("torch.")
