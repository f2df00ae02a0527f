"""The measure that low precision is held to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from looking_rarely import rarely  # noqa: F401


class RoundEveryResult(TorchDispatchMode):
    """Exact bfloat16 arithmetic: every operation in float32, then one rounding of its result."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        alias = func._schema.returns[0].alias_info if func._schema.returns else None
        if alias is not None and not alias.is_write:
            return result  # a view computes nothing
        if isinstance(result, Tensor) and result.is_floating_point():
            limit = torch.finfo(torch.bfloat16).max
            rounded = result.bfloat16().clamp(-limit, limit).to(result.dtype)
            return result.copy_(rounded) if alias is not None else rounded
        return result


def root_mean_square(x: Tensor) -> float:
    return x.square().mean().sqrt().item()


def check_bfloat16(got: Tensor, compute: Callable[[torch.dtype], Tensor]) -> None:
    """Hold a bfloat16 result to what its arithmetic allows.

    Its error against float64 is at most twice that of rounding every single result once, plus the last rounding.
    The root mean square is compared, since the largest of a few hundred errors is a matter of luck.

    Args:
        got: the result, whatever its dtype.
        compute: the same computation in a given precision, from numbers that bfloat16 holds exactly.
    """
    exact = compute(torch.float64)
    with RoundEveryResult():
        ideal = compute(torch.float32).double()
    unit = torch.finfo(torch.bfloat16).eps / 2
    plain = root_mean_square(ideal - exact)
    assert 0 < plain < 0.1 * root_mean_square(exact), "the measure itself is out of order"
    assert root_mean_square(got.double() - exact) <= 2 * plain + unit * root_mean_square(exact)


@pytest.fixture
def hold_bfloat16() -> Callable[[Tensor, Callable[[torch.dtype], Tensor]], None]:
    """Give `check_bfloat16`."""
    return check_bfloat16


@pytest.fixture(params=["weights", "autocast"])
def in_bfloat16(request: pytest.FixtureRequest) -> Callable[..., Tensor]:
    """Give what computes with a module whose weights are bfloat16: as it stands, or in float32 under autocast."""

    def compute(module: nn.Module, x: Tensor, result: Callable[[nn.Module, Tensor], Tensor]) -> Tensor:
        if request.param == "weights":
            got = result(module, x)
            assert got.dtype == torch.bfloat16
            return got
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return result(module.float(), x.float())

    return compute


@pytest.fixture(autouse=True)
def quick(one_thread: None) -> None:
    """Tensors here are tiny: a second thread only waits."""
