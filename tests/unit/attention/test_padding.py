"""Zeroing padding: exact, whatever lies there, for every type."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from heedful.attention import clear_padding
from heedful.attention import precomputed_scores as padding
from heedful.errors import UsageError

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


def batch(*shape: int, dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    valid = torch.rand(shape[:-1], generator=draw) > 0.4
    x = torch.randn(shape, generator=draw).to(dtype)
    x[~valid] = torch.nan
    return x, valid


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 7), (1, 1, 1), (130, 40, 33), (0, 4, 5), (2, 0, 5), (2, 4, 0)])
def test_equals_masked_fill_forward_and_backward(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x, valid = batch(*shape, dtype=dtype)
    x.requires_grad_()
    y = clear_padding(x, valid)
    assert torch.equal(y, x.masked_fill(~valid[..., None], 0))
    gradient = torch.randn(shape).to(dtype)
    gradient[~valid] = torch.nan
    y.backward(gradient)
    assert x.grad is not None
    assert torch.equal(x.grad, gradient.masked_fill(~valid[..., None], 0))


def test_without_the_kernel_and_with_threads_and_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    x, valid = batch(60, 50, 40)
    expected = clear_padding(x, valid)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert torch.equal(clear_padding(x, valid), expected)
    finally:
        torch.set_num_threads(before)
    turned = clear_padding(x.transpose(0, 1), valid.t())
    assert turned.is_contiguous()
    assert torch.equal(turned.transpose(0, 1), expected)
    monkeypatch.setattr(padding, "_KERNEL", None)
    assert torch.equal(clear_padding(x, valid), expected)


def test_gradients_of_both_orders_and_registration() -> None:
    x, valid = batch(2, 3, 4, dtype=torch.float64)
    x = x.nan_to_num().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: clear_padding(x, valid), x)
    assert torch.autograd.gradgradcheck(lambda x: clear_padding(x, valid) * x, x)
    torch.library.opcheck(torch.ops.heedful.clear_padding.default, (x, valid))
    torch.library.opcheck(torch.ops.heedful.clear_padding.default, (x.detach().transpose(0, 1), valid.t()))


def test_compile_and_export() -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Tensor, valid: Tensor) -> Tensor:
            return clear_padding(x, valid) + 1

    x, valid = batch(3, 4, 5)
    expected = Module()(x, valid)
    assert torch.equal(torch.compile(Module(), fullgraph=True, backend="aot_eager")(x, valid), expected)
    assert torch.equal(torch.export.export(Module(), (x, valid)).module()(x, valid), expected)


@pytest.mark.parametrize("valid", [torch.ones(3, 2).bool(), torch.ones(2, 3), torch.ones(2, 3, 4).bool()])
def test_a_mask_that_does_not_fit_is_refused(valid: Tensor) -> None:
    with pytest.raises(
        UsageError, match=r"valid must be booleans \[B, L\] = \[2, 3\], True at a real token; got"
    ):
        clear_padding(torch.zeros(2, 3, 4), valid)
