"""Proves that every timed implementation computes the reference before a single time is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from heedful.attention import Impl
from heedful.attention.additive import additive_reference
from heedful.attention.tensorized import tensorized_attention
from heedful.errors import ExitCode, HeedfulError
from heedful_lab.bench.cases import DIRECTIONS, SCALE, Case, additive_forms

_LENGTHS = (1, 17, 64)
_SLACK = 16
"""Roundings of the largest number allowed beyond twice the error of the plain computation."""


class BenchRefused(HeedfulError):
    """An implementation is wrong, so its speed means nothing."""

    exit_code = ExitCode.GATE_FAILED


def verify(cases: Sequence[Case]) -> list[str]:
    """Compare output and gradients with the float64 reference, on small sentences with padding and empty rows.

    Args:
        cases: what is to be timed; only our operations are checked, as layers are built of them.

    Returns:
        Names of what was checked.

    Raises:
        BenchRefused: if one differs by more than twice the error of plain float32, or nothing was checked.
    """
    checked = []
    for case in cases:
        if not case.ours or case.group != "operation":
            continue
        family, _, impl = case.name.partition(" ")
        run, count = _FAMILIES[family]
        for length in _LENGTHS:
            _check(case.name, run, count, impl, length)
        checked.append(case.name)
    if not checked:
        raise BenchRefused(
            "the benchmark checked no implementation; install heedful with its kernels or torch"
        )
    return checked


def _disa(inputs: list[Tensor], valid: Tensor, impl: str) -> Tensor:
    query, key, value = (x.transpose(1, 2).flatten(2) for x in inputs)
    form = additive_reference if impl == "reference" else additive_forms()[impl]
    return form(query, key, value, valid, DIRECTIONS[0], SCALE).output


def _mtsa(inputs: list[Tensor], valid: Tensor, impl: str) -> Tensor:
    query, key, value, source = inputs
    named: Impl = "reference" if impl == "reference" else "torch" if impl == "matrix" else "kernel"
    return tensorized_attention(query, key, value, source, valid, DIRECTIONS, impl=named).output


_Run = Callable[[list[Tensor], Tensor, str], Tensor]
_FAMILIES: dict[str, tuple[_Run, int]] = {"DiSA": (_disa, 3), "MTSA": (_mtsa, 4)}


def _check(name: str, run: _Run, count: int, impl: str, length: int) -> None:
    generator = torch.Generator().manual_seed(length)
    tensors = [torch.randn(4, 2, length, 9, generator=generator, dtype=torch.float64) for _ in range(count)]
    valid = torch.arange(length) < torch.tensor([length, 1, 0, (length + 1) // 2])[:, None]
    exact = _results(run, tensors, valid, "reference", torch.float64)
    plain = _results(run, tensors, valid, "reference", torch.float32)
    fast = _results(run, tensors, valid, impl, torch.float32)
    for a, b, c in zip(fast, plain, exact, strict=True):
        slack = _SLACK * torch.finfo(torch.float32).eps * max(1.0, float(c.abs().max()))
        limit = 2 * float((b - c).abs().max()) + slack
        error = float((a - c).abs().max())
        if not error <= limit:
            raise BenchRefused(
                f"{name} at length {length} is off by {error:.1e} from the float64 reference, where {limit:.1e} is "
                "allowed; nothing is timed. Please report this with the output of heedful info."
            )


def _results(run: _Run, tensors: list[Tensor], valid: Tensor, impl: str, dtype: torch.dtype) -> list[Tensor]:
    inputs = [x.detach().to(dtype).requires_grad_() for x in tensors]
    output = run(inputs, valid, impl)
    output.backward(torch.linspace(-1, 1, output.numel(), dtype=dtype).reshape(output.shape))
    grads = [x.grad for x in inputs if x.grad is not None]
    return [x.detach().double() for x in (output, *grads)]
