"""Dropout: masks, gradients, and the same numbers whatever computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import instruction_sets
from heedful.attention import dropout, native
from heedful.attention import dropouts as operator
from heedful.attention.dropouts import STEPS, drop, dropout_reference, random_bits
from heedful.errors import UsageError

compiled = pytest.mark.skipif(native.LIBRARY is None, reason="the kernels are not compiled")
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


@pytest.fixture
def any_kernel() -> Iterator[Callable[[str], bool]]:
    """Use an instruction set; False where this processor lacks it."""
    before = native.status()["instruction_set"]

    yield instruction_sets.use
    native.use_instruction_set(str(before))


def draw(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


@compiled
def test_every_instruction_set_and_number_of_threads_equals_the_reference(
    any_kernel: Callable[[str], bool],
) -> None:
    threads, tested = torch.get_num_threads(), 0
    try:
        for name in filter(any_kernel, native.INSTRUCTION_SETS):
            for count in (0, 1, 7, 8, 63, 64, 65, 300, 16384, 5 * 16384 + 77):
                for threshold, dtype in product(
                    (0, 1, STEPS // 4, STEPS - 1), (torch.float32, torch.bfloat16)
                ):
                    x, seed = draw(count, dtype=dtype), torch.tensor(2**62 + count)
                    expected = dropout_reference(x, int(seed), threshold)
                    for number in (1, 2, 3):
                        torch.set_num_threads(number)
                        assert torch.equal(drop(x, seed, threshold), expected), (
                            name,
                            count,
                            threshold,
                            dtype,
                            number,
                        )
                        tested += 1
    finally:
        torch.set_num_threads(threads)
    assert tested >= 240


@given(st.integers(0, 300), st.integers(0, 2**63 - 1), st.integers(0, STEPS - 1), st.sampled_from(DTYPES))
@settings(max_examples=60, deadline=None)
def test_the_operator_equals_the_reference(count: int, seed: int, threshold: int, dtype: torch.dtype) -> None:
    x = draw(count, dtype=dtype)
    assert torch.equal(drop(x, torch.tensor(seed), threshold), dropout_reference(x, seed, threshold))


def test_without_the_kernel_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    x = draw(9, 50)
    torch.manual_seed(3)
    first = dropout(x, 0.4, True)
    monkeypatch.setattr(operator, "_KERNEL", None)
    torch.manual_seed(3)
    assert torch.equal(dropout(x, 0.4, True), first)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kept_elements_are_scaled_and_the_mask_is_that_of_the_bits(dtype: torch.dtype) -> None:
    x = draw(40, 30, dtype=dtype)
    y = drop(x, torch.tensor(5), STEPS // 4)
    dropped = (random_bits(5, 1200) < STEPS // 4).view(40, 30)
    assert y.dtype == dtype
    assert not y[dropped].any()
    wide = x.double() if dtype == torch.float64 else x.float()
    assert torch.equal(y[~dropped], (wide * (4 / 3)).to(dtype)[~dropped])


def test_strides_do_not_matter() -> None:
    x, seed = draw(6, 70, 9), torch.tensor(1)
    for view in (x.transpose(0, 2), x[:, ::3], x[:, None].expand(-1, 4, -1, -1), x[0, 0, 0]):
        y = drop(view, seed, STEPS // 2)
        assert y.is_contiguous()
        assert torch.equal(y, drop(view.contiguous(), seed, STEPS // 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("what", [torch.nan, -torch.nan, torch.inf, -torch.inf])
def test_a_dropped_element_is_zero_whatever_it_was(dtype: torch.dtype, what: float) -> None:
    x = torch.full((1000,), what, dtype=dtype)
    y = dropout(x, 0.5, True)
    assert 400 < (y == 0).sum() < 600
    assert ((y == 0) | y.isclose(x, equal_nan=True)).all()


def test_the_seed_repeats_and_every_call_draws_anew() -> None:
    x = torch.ones(5000)
    torch.manual_seed(0)
    first, second = dropout(x, 0.5, True), dropout(x, 0.5, True)
    torch.manual_seed(0)
    assert torch.equal(dropout(x, 0.5, True), first)
    # Independent fair masks agree on half of the elements.
    assert abs((first == second).double().mean() - 0.5) < 5 * 0.5 / 5000**0.5


def test_nothing_to_drop_returns_x_itself_and_draws_no_seed() -> None:
    x = draw(4)
    state = torch.get_rng_state()
    assert dropout(x, 0.5, False) is x
    assert dropout(x, 0.0, True) is x
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("p", [0.5, 0.1, 0.25, 0.9, 2.0**-16, 1 - 2.0**-16, 1 - 1e-9])
def test_expectation_is_x_and_the_share_is_p(p: float) -> None:
    count = 1_000_000
    y = dropout(torch.ones(count, dtype=torch.float64), p, True)
    rounded = min(round(p * STEPS) / STEPS, 1 - 1 / STEPS)
    assert abs(rounded - p) <= 2.0**-16
    assert set(y.unique().tolist()) <= {0.0, 1 / (1 - rounded)}
    deviation = (rounded * (1 - rounded) / count) ** 0.5
    assert abs((y == 0).double().mean() - rounded) < 5 * deviation
    assert abs(y.mean() - 1) < 5 * deviation / (1 - rounded)


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, float("nan")])
def test_p_must_be_a_probability_below_one(p: float) -> None:
    with pytest.raises(UsageError, match=r"p is the probability of dropping, in \[0, 1\)"):
        dropout(draw(2), p, True)


def test_x_must_be_floating_point() -> None:
    with pytest.raises(UsageError, match=r"floating point; got torch.int64"):
        dropout(torch.ones(2, dtype=torch.int64), 0.5, True)


def test_gradients_of_first_and_second_order() -> None:
    x, seed = draw(7, 11, dtype=torch.float64).requires_grad_(), torch.tensor(9)
    assert torch.autograd.gradcheck(lambda x: drop(x, seed, 20000), x)
    assert torch.autograd.gradgradcheck(lambda x: drop(x, seed, 20000) * x, x)


def test_backward_uses_the_mask_of_forward_and_stores_none() -> None:
    x = torch.ones(3, 500, requires_grad=True)
    stored: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: stored.append(t.numel()) or t, lambda t: t):
        y = dropout(x, 0.3, True)
    y.backward(torch.ones_like(y))
    assert x.grad is not None
    assert torch.equal(x.grad, y.detach())
    assert stored == [1]


def test_registration_is_complete() -> None:
    seed = torch.tensor(4)
    for x in (draw(5, 6), draw(5, 6).t(), draw(5, 6).requires_grad_(), draw(0, 3)):
        torch.library.opcheck(torch.ops.heedful.dropout.default, (x, seed, 20000))


def test_compile_and_export() -> None:
    def work(x: Tensor) -> Tensor:
        return (dropout(x * 2, 0.3, True) * dropout(x, 0.5, True)).sum()

    class Module(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return work(x)

    x = draw(30, 20)
    torch.manual_seed(0)
    expected = work(x)
    for made in (
        torch.compile(work, fullgraph=True, backend="aot_eager"),
        torch.export.export(Module(), (x,)).module(),
    ):
        torch.manual_seed(0)
        assert torch.equal(made(x), expected)
    leaf = draw(30, 20).requires_grad_()
    torch.manual_seed(0)
    torch.compile(work, fullgraph=True, backend="aot_eager")(leaf).backward()
    compiled_grad, leaf.grad = leaf.grad, None
    torch.manual_seed(0)
    work(leaf).backward()
    assert compiled_grad is not None
    torch.testing.assert_close(compiled_grad, leaf.grad)


def test_autocast_and_inference_mode_leave_the_dtype() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        assert dropout(draw(4), 0.5, True).dtype == torch.float32
        assert dropout(draw(4).bfloat16(), 0.5, True).dtype == torch.bfloat16
    with torch.inference_mode():
        assert dropout(draw(4), 0.5, True).shape == (4,)


@pytest.mark.gpu
def test_the_gpu_draws_the_same_mask() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    for dtype in DTYPES:
        x = draw(301, 77, dtype=dtype)
        assert torch.equal(drop(x.cuda(), torch.tensor(8), 20000).cpu(), drop(x, torch.tensor(8), 20000))


@compiled
def test_the_named_implementations_draw_the_same_mask_and_gradient() -> None:
    found = []
    for impl in ("auto", "reference", "torch", "kernel"):
        x = draw(9, 50).requires_grad_()
        torch.manual_seed(3)
        y = dropout(x, 0.4, True, impl=impl)
        y.sum().backward()
        found.append((y.detach(), x.grad))
    for y, grad in found[1:]:
        assert torch.equal(y, found[0][0])
        assert torch.equal(grad, found[0][1])
    with pytest.raises(UsageError, match="impl='kernel' cannot serve"):
        dropout(draw(3).double(), 0.4, True, impl="kernel")
