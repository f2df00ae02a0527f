"""What tensors a network must have, known before one of them is allocated."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from heedful.errors import HeedfulError, UsageError

_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""What a tensor of real numbers may be kept as; the network has its own precision."""


def fit_tensors(state: Mapping[str, Tensor], build: Callable[[], nn.Module]) -> dict[str, Tensor]:
    """Check that tensors are those of a network, before that network takes any memory.

    The network is built on torch's meta device, where a tensor has a shape and no values; and building stops as soon as
    it has many more parts than there are tensors, so that neither a size nor a number of layers costs anything.

    Returns the tensors, real numbers in the precision of the network. Raises UsageError, naming the first tensor that
    is missing, not wanted, or of another shape or kind, or if no network can be built.
    """
    try:
        with torch.device("meta"), _at_most(8 * len(state) + 1000):
            expected = build().state_dict()
    except HeedfulError:
        raise
    # What torch says of sizes beyond reason, and what a pretrained encoder's class says of settings it cannot use.
    except (RuntimeError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(f"no network can have these settings: {reason:.200}") from error
    for name in sorted(expected.keys() | state.keys()):
        here, wanted = state.get(name), expected.get(name)
        if here is None or wanted is None or not _fits(here, wanted):
            raise UsageError(f"tensor {name!r:.200} is {_spell(here)}, the settings ask for {_spell(wanted)}")
    fitted = {name: tensor.to(expected[name].dtype) for name, tensor in state.items()}
    for name, tensor in fitted.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise UsageError(f"tensor {name!r:.200} holds values that are not finite as {_kind(tensor)}")
    return fitted


def _fits(here: Tensor, wanted: Tensor) -> bool:
    same_kind = here.dtype == wanted.dtype or (here.dtype in _FLOATS and wanted.dtype in _FLOATS)
    return same_kind and here.shape == wanted.shape


def _spell(tensor: Tensor | None) -> str:
    return "missing" if tensor is None else f"{list(tensor.shape)} {_kind(tensor)}"


def _kind(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


@contextmanager
def _at_most(parts: int) -> Iterator[None]:
    """Refuse to build, in this thread, a network of more modules and parameters together."""
    thread, count = threading.get_ident(), 0

    def counted(module: nn.Module, name: str, part: object) -> None:
        nonlocal count
        count += threading.get_ident() == thread
        if count > parts:
            raise UsageError("the settings ask for many more layers than there are tensors")

    handles = [
        register_module_module_registration_hook(counted),
        register_module_parameter_registration_hook(counted),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
