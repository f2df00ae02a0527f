"""The compiled mixture equals the reference: forward, every gradient, padding, second derivatives."""

import pytest
import torch
from torch import Tensor

from heedful.attention.native import LIBRARY
from heedful.nn.mixture import mix, mix_reference

compiled = pytest.mark.skipif(LIBRARY is None, reason="the kernels are not compiled")


def make(heads: int, tokens: int, width: int) -> list[Tensor]:
    torch.manual_seed(0)
    return [(3 * torch.randn(heads, tokens, width)).requires_grad_() for _ in range(3)]


@pytest.mark.parametrize(("heads", "tokens", "width"), [(1, 1, 1), (1, 40, 33), (3, 17, 16), (2, 0, 5)])
@pytest.mark.parametrize("padded", [True, False])
def test_output_and_gradients_equal_those_of_the_reference_in_float64(
    instruction_set: str, heads: int, tokens: int, width: int, padded: bool
) -> None:
    given = make(heads, tokens, width)
    valid = torch.rand(tokens) < 0.7 if padded else None
    wide = [x.detach().double().requires_grad_() for x in given]
    found, gate = mix(*given, valid)
    expected, wide_gate = mix_reference(*wide, valid)
    assert type(found.grad_fn).__name__ == "_MixBackward"
    torch.testing.assert_close(found, expected.float(), rtol=1e-5, atol=1e-5)
    real = slice(None) if valid is None else valid
    torch.testing.assert_close(gate[:, real], wide_gate[:, real].float(), rtol=1e-6, atol=1e-7)
    weight = torch.randn_like(found)
    for one, two in zip(
        torch.autograd.grad(found, given, weight),
        torch.autograd.grad(expected, wide, weight.double()),
        strict=True,
    ):
        torch.testing.assert_close(one, two.float(), rtol=1e-5, atol=1e-5)


@compiled
def test_padding_may_hold_anything_and_gives_zero() -> None:
    given = make(1, 3, 4)
    valid = torch.tensor([True, False, True])
    with torch.no_grad():
        for x in given:
            x[:, 1] = float("nan")
    found, _ = mix(*given, valid)
    assert found[:, 1].eq(0).all()
    assert found[:, ::2].isfinite().all()
    for grad in torch.autograd.grad(found.sum(), given):
        assert grad[:, 1].eq(0).all()
        assert grad.isfinite().all()


@compiled
def test_large_scores_choose_one_side_exactly() -> None:
    word, context = (
        torch.full((1, 1, 4), 2.0, requires_grad=True),
        torch.full((1, 1, 4), -3.0, requires_grad=True),
    )
    score = torch.tensor([[[1e30, 200.0, -200.0, -1e30]]], requires_grad=True)
    found, gate = mix(word, context, score)
    assert found.tolist() == [[[2.0, 2.0, -3.0, -3.0]]]
    torch.testing.assert_close(gate, torch.sigmoid(score), rtol=0, atol=1e-37)


@compiled
def test_the_gate_has_a_gradient_too() -> None:
    given = make(2, 5, 3)
    for compute in (mix, mix_reference):
        found, gate = compute(*given)
        both = torch.autograd.grad((found + 2 * gate).sum(), given)
        alone = torch.autograd.grad(compute(*given)[1].sum(), given[2])[0]
        if compute is mix:
            kept = (*both, alone)
    for one, two in zip(kept, (*both, alone), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)


@compiled
def test_inputs_and_gradients_with_gaps_are_read_by_their_steps() -> None:
    tight = make(2, 5, 3)
    loose = [x.detach().transpose(0, 1).contiguous().transpose(0, 1).requires_grad_() for x in tight]
    weight = torch.randn(5, 2, 3).transpose(0, 1)
    one = torch.autograd.grad(mix(*tight)[0], tight, weight.contiguous())
    two = torch.autograd.grad(mix(*loose)[0], loose, weight)
    assert all(torch.equal(x, y) for x, y in zip(one, two, strict=True))
    assert mix(*tight)[0].transpose(0, 1).is_contiguous()  # joining the heads is free


@compiled
def test_second_derivatives_equal_those_of_plain_torch() -> None:
    given, valid = make(1, 4, 3), torch.tensor([True, True, False, True])
    seconds = []
    for compute in (mix, mix_reference):
        found, _ = compute(*given, valid)
        first = torch.autograd.grad(found.square().sum(), given, create_graph=True)
        seconds.append(torch.autograd.grad(sum(g.square().sum() for g in first), given))
    for one, two in zip(*seconds, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)


def test_in_half_precision_the_mixture_has_the_dtype_of_the_word() -> None:
    word, score = torch.randn(1, 2, 3), torch.randn(1, 2, 3, dtype=torch.bfloat16)
    mixed, gate = mix(word, word.bfloat16(), score)
    assert mixed.dtype == gate.dtype == torch.float32
