"""The compiled form of dense layers equals the reference: forward, every gradient, second derivatives."""

import pytest
import torch
from torch import Tensor

from heedful.attention.native import LIBRARY
from heedful.nn import Dense, HeadDense
from heedful.nn.fused_dense import Activation, activate, compiled_serves, dense, dense_reference

ACTIVATIONS: list[Activation] = ["linear", "elu", "relu"]
compiled = pytest.mark.skipif(LIBRARY is None, reason="the kernels are not compiled")


def make(heads: int, tokens: int, widths: list[int], out: int, *, bias: bool) -> tuple[list, list, list]:
    torch.manual_seed(0)
    inputs = [torch.randn(heads, tokens, width, requires_grad=True) for width in widths]
    weights = [[torch.randn(out, width, requires_grad=True) for _ in range(heads)] for width in widths]
    biases = [torch.randn(out, requires_grad=True) for _ in range(heads)] if bias else []
    return inputs, weights, biases


def leaves(inputs: list, weights: list, biases: list) -> list[Tensor]:
    return [*inputs, *(w for each in weights for w in each), *biases]


def same(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected.to(found.dtype), rtol=1e-5, atol=1e-4)


@compiled
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(
    ("heads", "tokens", "widths", "out"),
    [(1, 1, [1], 1), (1, 37, [19], 33), (3, 21, [7, 5], 16), (2, 0, [4], 3)],
)
@pytest.mark.parametrize("bias", [True, False])
def test_output_and_gradients_equal_those_of_the_reference_in_float64(
    activation: Activation, heads: int, tokens: int, widths: list[int], out: int, bias: bool
) -> None:
    given = make(heads, tokens, widths, out, bias=bias)
    wide = [
        [x.detach().double().requires_grad_() for x in given[0]],
        [[w.detach().double().requires_grad_() for w in each] for each in given[1]],
        [b.detach().double().requires_grad_() for b in given[2]],
    ]
    assert compiled_serves(*leaves(*given))
    found, expected = dense(*given, activation), dense_reference(*wide, activation)
    assert type(found.grad_fn).__name__ == "_DenseBackward"
    same(found, expected)
    weight = torch.randn_like(found)
    for one, two in zip(
        torch.autograd.grad(found, leaves(*given), weight),
        torch.autograd.grad(expected, leaves(*wide), weight.double()),
        strict=True,
    ):
        same(one, two)


@pytest.mark.parametrize("activation", ["elu", "relu"])
def test_every_instruction_set_computes_the_activation(activation: Activation, instruction_set: str) -> None:
    x = torch.tensor([[[-1e30, -100.0, -1.5, -1e-6, -0.0, 0.0, 1e-6, 2.5, 1e30]]], requires_grad=True)
    found = dense([x], [[torch.eye(9, requires_grad=True)]], [torch.zeros(9, requires_grad=True)], activation)
    plain = activate(x, activation)
    torch.testing.assert_close(found, plain, rtol=1e-6, atol=2e-7)
    (grad,), (expected,) = (torch.autograd.grad(y.sum(), x) for y in (found, plain))
    torch.testing.assert_close(grad, expected, rtol=1e-6, atol=2e-7)


@compiled
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_gradient_with_gaps_is_read_by_its_steps(activation: Activation) -> None:
    inputs, weights, biases = make(2, 6, [5], 7, bias=True)
    weight = torch.randn(6, 2, 7).transpose(0, 1)  # heads beside each other, as attention leaves them
    one = torch.autograd.grad(dense(inputs, weights, biases, activation), inputs[0], weight)[0]
    two = torch.autograd.grad(dense(inputs, weights, biases, activation), inputs[0], weight.contiguous())[0]
    assert torch.equal(one, two)
    spread = torch.ones(()).expand(2, 6, 7)
    three = torch.autograd.grad(dense(inputs, weights, biases, activation).sum(), inputs[0])[0]
    four = torch.autograd.grad(dense(inputs, weights, biases, activation), inputs[0], spread.contiguous())[0]
    assert torch.equal(three, four)


@compiled
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_second_derivatives_equal_those_of_plain_torch(activation: Activation) -> None:
    given = make(2, 4, [3, 2], 5, bias=True)
    seconds = []
    for compute in (dense, dense_reference):
        output = compute(*given, activation)
        first = torch.autograd.grad(output.square().sum(), leaves(*given), create_graph=True)
        seconds.append(torch.autograd.grad(sum(g.square().sum() for g in first), leaves(*given)))
    for one, two in zip(*seconds, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-3)


@compiled
def test_a_nan_comes_through() -> None:
    x = torch.tensor([[[float("nan"), 1.0]]], requires_grad=True)
    found = dense([x], [[torch.eye(2, requires_grad=True)]], [torch.zeros(2, requires_grad=True)], "elu")
    assert found.isnan().all()  # a matrix product spreads it over the row


def heads_of_a_layer() -> HeadDense:
    return HeadDense(2, lambda: Dense(4, 3, activation="elu"))


@compiled
def test_what_the_kernel_does_not_serve_is_left_to_torch() -> None:
    layer, x = heads_of_a_layer(), torch.randn(2, 5, 4)
    with torch.no_grad():
        plain = layer(x)
    torch.testing.assert_close(layer(x), plain)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16
    assert layer.double()(x.double()).dtype == torch.float64
    assert not compiled_serves(torch.zeros(1, dtype=torch.float64))
    assert not compiled_serves(torch.empty(1, device="meta"))


@compiled
def test_transforms_of_torch_func_see_plain_operations() -> None:
    layer = heads_of_a_layer()
    parameters = dict(layer.named_parameters())

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        return torch.func.functional_call(layer, parameters, (x,)).square().sum()

    x = torch.randn(6, 5, 4)
    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x[:, None])
    name, weight = next(iter(parameters.items()))
    torch.testing.assert_close(each[name].sum(dim=0), torch.autograd.grad(loss(parameters, x), weight)[0])


def test_heads_read_inputs_side_by_side() -> None:
    layer = HeadDense(2, lambda: Dense(7, 3, activation="relu"))
    shared, own = torch.randn(2, 5, 4), torch.randn(2, 2, 5, 3)
    found = layer(shared, own)
    for head, part in enumerate(layer.parts):
        expected = part(torch.cat([shared, own[:, head]], dim=-1))
        torch.testing.assert_close(found[:, head], expected)
