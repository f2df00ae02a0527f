"""Both implementations of the dot-product heads agree: output and every gradient, on awkward inputs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from heedful.attention.dot_product import head_bias, masked_head_attention
from heedful.attention.visibility import Band

MASKS = {
    "directions": [Band(None, 0), Band(0, None)],
    "strict": [Band(None, -1), Band(1, None)],
    "open": [Band(), Band(diagonal=False)],
}


def make(batch: int, length: int, width: int, spread: float = 1.0) -> tuple[list[Tensor], Tensor, Tensor]:
    """Return q, k, v in float64, valid (a full, a one-token, an empty sentence first) and distances."""
    generator = torch.Generator().manual_seed(length)
    tensors = [
        torch.randn(batch, length, 2, width, generator=generator, dtype=torch.float64).transpose(1, 2)
        * spread
        for _ in range(3)
    ]
    lengths = torch.randint(0, length + 1, (batch,), generator=generator)
    lengths[:3] = torch.tensor([length, 1, 0])
    distances = torch.randint(0, 9, (batch, length, length), generator=generator)
    return tensors, torch.arange(length) < lengths[:, None], distances


def results(
    tensors: list[Tensor], valid: Tensor, mask: str, distances: Tensor, dtype: torch.dtype, impl: str
) -> list[Tensor]:
    """Return the output and the three gradients, in float64."""
    inputs = [x.detach().to(dtype).requires_grad_() for x in tensors]
    bias = head_bias(MASKS[mask], [distances, None], 1.5, valid, dtype)
    output = masked_head_attention(*inputs, valid, bias, impl=impl).output
    weight = torch.linspace(-1, 1, output.numel(), dtype=torch.float64).reshape(output.shape)
    output.backward(weight.to(dtype))
    return [x.double() for x in (output.detach(), *(i.grad for i in inputs))]


@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("spread", [1.0, 20.0])
@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 63, 64, 65])
def test_sdpa_equals_the_reference(mask: str, spread: float, length: int) -> None:
    tensors, valid, distances = make(4, length, 5, spread)
    exact = results(tensors, valid, mask, distances, torch.float64, "reference")
    plain = results(tensors, valid, mask, distances, torch.float32, "reference")
    fast = results(tensors, valid, mask, distances, torch.float32, "torch")
    # torch's kernel keeps the logarithm of the denominator: its rounding grows with the scores.
    largest = max(1.0, float((tensors[0] @ tensors[1].transpose(-1, -2)).abs().max()) / 5**0.5)
    for a, b, c in zip(fast, plain, exact, strict=True):
        slack = 4 * torch.finfo(torch.float32).eps * largest * max(1.0, float(c.abs().max()))
        assert (a - c).abs().max() <= 2 * (b - c).abs().max() + slack
    double = results(tensors, valid, mask, distances, torch.float64, "torch")
    for a, c in zip(double, exact, strict=True):
        torch.testing.assert_close(a, c, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("impl", ["reference", "torch"])
def test_bfloat16_is_finite_and_close(impl: str) -> None:
    tensors, valid, distances = make(4, 20, 8)
    exact = results(tensors, valid, "strict", distances, torch.float64, "reference")
    low = results(tensors, valid, "strict", distances, torch.bfloat16, impl)
    for a, c in zip(low, exact, strict=True):
        assert (a - c).abs().max() <= 0.05 * c.abs().max()


@pytest.mark.parametrize("impl", ["reference", "torch"])
@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_empty_rows_and_padding_are_exactly_zero_whatever_padding_holds(
    impl: str, mask: str, dtype: torch.dtype
) -> None:
    tensors, valid, distances = make(5, 9, 3)
    clean = results(tensors, valid, mask, distances, dtype, impl)
    padding = ~valid[:, None, :, None]
    for poison in (float("nan"), float("inf")):
        spoilt = [x.masked_fill(padding, poison) for x in tensors]
        for a, b in zip(results(spoilt, valid, mask, distances, dtype, impl), clean, strict=True):
            assert torch.equal(a, b)
    for x in clean:
        assert (x * padding == 0).all()
    if mask == "strict":
        assert (clean[0][:, 0, 0] == 0).all()
        assert (clean[0][0, 1, -1] == 0).all()


@pytest.mark.parametrize("impl", ["reference", "torch"])
def test_gradcheck(impl: str) -> None:
    tensors, valid, distances = make(3, 4, 2)
    bias = head_bias(MASKS["strict"], [distances, None], 1.0, valid, torch.float64)
    inputs = [x.clone().requires_grad_() for x in tensors]
    assert torch.autograd.gradcheck(
        lambda *x: masked_head_attention(*x, valid, bias, impl=impl).output, inputs
    )


@pytest.mark.parametrize("impl", ["reference", "torch"])
def test_a_sentence_does_not_depend_on_its_neighbors(impl: str) -> None:
    tensors, valid, distances = make(5, 8, 3)
    bias = head_bias(MASKS["strict"], [distances, None], 1.0, valid, torch.float64)
    together = masked_head_attention(*tensors, valid, bias, impl=impl).output
    for row in range(5):
        part = slice(row, row + 1)
        alone = masked_head_attention(*(x[part] for x in tensors), valid[part], bias[part], impl=impl).output
        torch.testing.assert_close(alone, together[part], rtol=1e-12, atol=1e-14)


def test_weights_sum_to_one_or_are_all_zero() -> None:
    tensors, valid, distances = make(4, 7, 3)
    bias = head_bias(MASKS["strict"], [distances, None], 1.0, valid, torch.float64)
    result = masked_head_attention(*tensors, valid, bias, need_weights=True)
    assert result.weights is not None
    total = result.weights.sum(-1)
    assert (((total - 1).abs() < 1e-12) | (total == 0)).all()
    torch.testing.assert_close(result.output, masked_head_attention(*tensors, valid, bias).output)
