"""Products of rows whose number is rounded up: equal to torch's, with every derivative, and few programs compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from heedful.nn import Dense
from heedful.nn.linear import linear, rounded_rows

LOW = torch.bfloat16


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_numbers_of_rows_are_few_and_rounded_up_by_little() -> None:
    assert [rounded_rows(rows) for rows in (1, 31, 32, 33, 2048, 4097)] == [32, 32, 32, 64, 2048, 4160]
    assert len({rounded_rows(rows) for rows in range(1, 2**14)}) < 260
    assert all(rows <= rounded_rows(rows) <= rows + max(31, rows / 32) for rows in range(1, 2**14))
    assert {rounded_rows(rounded_rows(rows)) == rounded_rows(rows) for rows in range(1, 2**14)} == {True}


@pytest.mark.parametrize("shape", [(1, 5), (33, 5), (3, 7, 5), (2, 3, 4, 5), (64, 5), (0, 5), (3, 0, 5)])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("lowered", ["by autocast", "itself"])
def test_it_equals_torchs_function_in_value_and_first_and_second_derivative(
    shape: tuple[int, ...], bias: bool, lowered: str
) -> None:
    dtype = torch.float32 if lowered == "by autocast" else LOW
    found = []
    for compute in (linear, functional.linear):
        x, weight, offset = (
            drawn(*size, seed=k).to(dtype).requires_grad_() for k, size in enumerate([shape, (6, 5), (6,)])
        )
        given = [x, weight, *([offset] if bias else [])]
        with torch.autocast("cpu", LOW, enabled=lowered == "by autocast"):
            output = compute(*given)
            assert output.dtype == LOW
            assert output.is_contiguous()
        first = torch.autograd.grad(output.float().square().sum(), given, create_graph=True)
        penalty = torch.stack([grad.float().square().sum() for grad in first]).sum()
        second = torch.autograd.grad(penalty, given)
        found.append([output, *first, *second])
    for mine, torchs in zip(*found, strict=True):
        assert mine.shape == torchs.shape
        assert mine.dtype == torchs.dtype
        largest = torchs.detach().float().abs().max().item() if torchs.numel() else 0.0
        torch.testing.assert_close(mine.float(), torchs.float(), rtol=0, atol=largest * 2**-7)


def test_inputs_with_other_strides_and_rows_that_are_not_finite() -> None:
    x = drawn(5, 37).T.to(LOW)
    x[3] = torch.inf
    x[4] = torch.nan
    weight = drawn(6, 5, seed=1).to(LOW)
    output = linear(x, weight)
    torch.testing.assert_close(
        output, functional.linear(x.contiguous(), weight), equal_nan=True, rtol=2**-7, atol=2**-5
    )
    assert output[[0, 1, 2, 5, 36]].isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_other_precisions_are_torchs_own_to_the_bit(dtype: torch.dtype) -> None:
    x, weight, bias = (drawn(*size, seed=k).to(dtype) for k, size in enumerate([(3, 11, 5), (6, 5), (6,)]))
    assert torch.equal(linear(x, weight, bias), functional.linear(x, weight, bias))


def test_transforms_and_tracing_see_torchs_function_alone() -> None:
    x, weight = drawn(3, 7, 5).to(LOW), drawn(6, 5, seed=1).to(LOW)
    mapped = torch.func.vmap(lambda one: linear(one, weight))(x)
    torch.testing.assert_close(mapped, linear(x, weight), rtol=2**-7, atol=2**-7)
    with torch.no_grad():
        program = torch.export.export(torch.nn.Sequential(Dense(5, 6)).to(LOW), (x,))
    assert "pad" not in str(program.graph)
    assert linear(x.to("meta"), weight.to("meta")).shape == (3, 7, 6)


COUNTED = """
import sys, torch
from torch.nn import functional
from heedful.nn import Dense
from heedful.nn.linear import linear
weight = torch.randn(300, 300).bfloat16()
for rows in range(201, 241):
    x = torch.randn(rows, 300).bfloat16().requires_grad_()
    (linear if sys.argv[1] == "ours" else functional.linear)(x, weight).sum().backward()
"""


def test_torch_compiles_few_programs_for_many_numbers_of_rows() -> None:
    """oneDNN reports what it compiles; that of torch's own function shows that this processor has such programs."""

    def compiled(whose: str) -> int:
        given = {**os.environ, "ONEDNN_VERBOSE": "all", "OMP_NUM_THREADS": "1"}
        ran = subprocess.run(
            [sys.executable, "-c", COUNTED, whose], capture_output=True, text=True, env=given, check=True
        )
        return ran.stdout.count("create:cache_miss")

    if compiled("torch") < 40:
        pytest.skip("on this processor no program is compiled for each number of rows")
    assert compiled("ours") <= 6
