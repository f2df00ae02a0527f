"""Every operator and every encoder has right derivatives of every kind: second, forward, of each example, traced."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from heedful.attention import clear_padding, dropout, source_to_token
from heedful.attention.additive import additive_attention
from heedful.attention.dot_product import head_attention, head_bias, masked_head_attention
from heedful.attention.dropouts import drop, dropout_reference
from heedful.attention.source2token import source_to_token_reference
from heedful.attention.tensorized import tensorized_attention
from heedful.attention.visibility import Band
from heedful.errors import UsageError
from heedful.models import ENCODERS
from heedful.nn import Gru, Lstm
from heedful.nn.fused_dense import dense, dense_reference
from heedful.nn.mixture import mix, mix_reference
from heedful.nn.recurrent_steps import gru_steps, lstm_steps
from heedful.structures import Sentences
from plain_wheel import without_kernels

pytestmark = pytest.mark.filterwarnings(
    "ignore:`torch.jit.script` is deprecated"
)  # jvp of torch scripts its rules
B, H, L, D = 3, 2, 6, 16
VALID = torch.arange(L) < torch.tensor([[6], [3], [0]])
DENSE = torch.rand(L, L, generator=torch.Generator().manual_seed(1)) < 0.5
BIAS = head_bias(
    [Band(high=0), Band()], [None, (torch.arange(L)[:, None] - torch.arange(L)).abs()], 0.5, VALID
)
SEED = torch.tensor(11)


@dataclass(frozen=True)
class Operator:
    """A fast form and its specification, as functions of the same tensors.

    Attributes:
        fast: what is used by default, or a form that is asked for by name.
        reference: plain torch.
        shapes: of the tensors.
    """

    fast: Callable[..., Tensor]
    reference: Callable[..., Tensor]
    shapes: tuple[tuple[int, ...], ...]


def additive(impl: str, visible: Band | Tensor) -> Callable[..., Tensor]:
    return lambda q, k, v: additive_attention(q, k, v, VALID, visible, impl=impl).output


def tensorized(impl: str, phi: str) -> Callable[..., Tensor]:
    seen = [Band(high=-1), DENSE]
    return lambda *x: tensorized_attention(*x, VALID, seen, token2token=phi, impl=impl).output


def heads(impl: str) -> Callable[..., Tensor]:
    return lambda q, k, v: masked_head_attention(q, k, v, VALID, BIAS.to(q.dtype), impl=impl).output


def between(impl: str) -> Callable[..., Tensor]:
    return lambda q, k, v: head_attention(q, k, v, VALID[:, None, None], impl=impl).output


def pooled(compute: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., Tensor]:
    def both(value: Tensor, score: Tensor) -> Tensor:
        vector, weights = compute(value, score, VALID)
        return torch.cat([vector[:, None], weights], dim=1)

    return both


def layer(compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, w, b: compute([x], [list(w)], list(b), "elu")


def mixed(compute: Callable[..., tuple[Tensor, Tensor]]) -> Callable[..., Tensor]:
    real = VALID[:, 0].repeat(2)

    def both(word: Tensor, context: Tensor, score: Tensor) -> Tensor:
        states, gate = compute(word, context, score, real)
        return torch.cat([states, gate.masked_fill(~real[:, None], 0)])  # at padding it may hold anything

    return both


def recurrent(cell: nn.Module, steps: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def compute(x: Tensor) -> Tensor:
        weights = cell.cell.of_torch() if isinstance(cell, Lstm) else list(cell.parameters())
        return steps(x, [weight.to(x.dtype) for weight in weights])

    return compute


QKV = ((B, L, D),) * 3
HEADS = ((B, H, L, D),) * 3
torch.manual_seed(0)
LSTM, GRU = (kind(D, D).requires_grad_(False) for kind in (Lstm, Gru))
OPERATORS = {
    **{
        f"additive, {impl}, {name}": Operator(additive(impl, seen), additive("reference", seen), QKV)
        for impl in ("auto", "torch")
        for name, seen in {"direction": Band(high=-1), "window": Band(-2, 2), "dense": DENSE}.items()
    },
    **{
        f"tensorized, {impl}, {phi}": Operator(
            tensorized(impl, phi), tensorized("reference", phi), ((B, H, L, D),) * 4
        )
        for impl in ("auto", "torch")
        for phi in ("sigmoid", "exp")
    },
    "dot-product heads": Operator(heads("auto"), heads("reference"), HEADS),
    "heads between two texts": Operator(between("auto"), between("reference"), HEADS),
    "source2token": Operator(pooled(source_to_token), pooled(source_to_token_reference), QKV[:2]),
    "padding": Operator(
        lambda x: clear_padding(x, VALID), lambda x: x.masked_fill(~VALID[..., None], 0), QKV[:1]
    ),
    "dense": Operator(layer(dense), layer(dense_reference), ((H, 6, D), (H, 7, D), (H, 7))),
    "mixture": Operator(mixed(mix), mixed(mix_reference), ((H, 6, D),) * 3),
    "lstm": Operator(LSTM, recurrent(LSTM, lstm_steps), QKV[:1]),
    "gru": Operator(GRU, recurrent(GRU, gru_steps), QKV[:1]),
}
operator = pytest.mark.parametrize("name", OPERATORS)
encoder = pytest.mark.parametrize("name", ENCODERS)


def close(got: Tensor, want: Tensor, slack: float = 1e-4) -> None:
    """Compare float32 with float64; slack is relative to the largest number, or to 1."""
    assert (got.double() - want).abs().max() <= slack * max(1.0, want.abs().max().item())


def inputs(shapes: tuple[tuple[int, ...], ...], seed: int = 2) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def second(compute: Callable[..., Tensor], given: list[Tensor]) -> list[Tensor]:
    """Differentiate a penalty on the gradients."""
    leaves = [x.clone().requires_grad_() for x in given]
    first = torch.autograd.grad(compute(*leaves).tanh().sum(), leaves, create_graph=True)
    return list(torch.autograd.grad(sum(x.square().sum() for x in first), leaves))


@operator
def test_second_derivatives_of_an_operator(name: str) -> None:
    tried, given = OPERATORS[name], inputs(OPERATORS[name].shapes)
    want = second(tried.reference, [x.double() for x in given])
    for got, exact in zip(second(tried.fast, given), want, strict=True):
        close(got, exact)


def test_third_derivatives() -> None:
    tried, given = OPERATORS["additive, auto, direction"], inputs(QKV)

    def third(compute: Callable[..., Tensor], given: list[Tensor]) -> Tensor:
        query = given[0].clone().requires_grad_()
        grad = compute(query, *given[1:]).tanh().sum()
        for _ in range(3):
            (found,) = torch.autograd.grad(grad, query, create_graph=True)
            grad = found.square().sum()
        return found

    close(third(tried.fast, given), third(tried.reference, [x.double() for x in given]), 1e-3)


@operator
def test_forward_derivatives_of_an_operator(name: str) -> None:
    tried, given = OPERATORS[name], inputs(OPERATORS[name].shapes)
    along = inputs(tried.shapes, seed=3)
    exact = tuple(x.double() for x in given), tuple(x.double() for x in along)
    value, want = torch.func.jvp(tried.reference, *exact)
    for got, expected in zip(
        torch.func.jvp(tried.fast, tuple(given), tuple(along)), (value, want), strict=True
    ):
        close(got, expected)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(x, t) for x, t in zip(given, along, strict=True)]
        close(forward_ad.unpack_dual(tried.fast(*duals)).tangent, want)


@operator
def test_transforms_of_an_operator(name: str) -> None:
    tried, given = OPERATORS[name], inputs(OPERATORS[name].shapes)
    many = [torch.stack([x, x + 0.1]) for x in given]

    def loss(*x: Tensor) -> Tensor:
        return tried.fast(*x).tanh().sum()

    found = torch.func.vmap(torch.func.grad(loss, tuple(range(len(given)))))(*many)
    for place in range(2):
        leaves = [x[place].double().requires_grad_() for x in many]
        want = torch.autograd.grad(tried.reference(*leaves).tanh().sum(), leaves)
        for got, exact in zip(found, want, strict=True):
            close(got[place], exact)


@operator
def test_many_gradients_at_once(name: str) -> None:
    tried = OPERATORS[name]
    leaves = [x.requires_grad_() for x in inputs(tried.shapes)]
    output = tried.fast(*leaves)
    grads = torch.stack([torch.ones_like(output), output.detach()])
    both = torch.autograd.grad(output, leaves, grads, is_grads_batched=True, retain_graph=True)
    for place in range(2):
        alone = torch.autograd.grad(output, leaves, grads[place], retain_graph=True)
        for got, want in zip(both, alone, strict=True):
            close(got[place], want.double(), 1e-5)


def test_dropout_has_every_derivative() -> None:
    (x,) = inputs(QKV[:1])
    (got,) = second(lambda x: drop(x, SEED, 1 << 14), [x])
    (want,) = second(lambda x: dropout_reference(x, int(SEED), 1 << 14), [x.double()])
    close(got, want)
    value, tangent = torch.func.jvp(lambda x: dropout(x, 0.5, True), (x,), (2 * x,))
    assert torch.equal(tangent, 2 * value)
    assert value.eq(0).any()


@pytest.mark.parametrize("compute", [additive("kernel", Band()), tensorized("kernel", "exp")])
def test_a_kernel_by_name_refuses_forward_derivatives(compute: Callable[..., Tensor]) -> None:
    given = tuple(inputs(HEADS[:1] * 4 if compute is not None else QKV))
    given = given if "tensorized" in compute.__qualname__ else tuple(inputs(QKV))
    with pytest.raises(UsageError, match="impl='reference'") as caught:
        torch.func.jvp(compute, given, given)
    assert "\n" not in str(caught.value)


def test_a_bare_operator_refuses_to_drop_tangents() -> None:
    (x,) = inputs(QKV[:1])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        for call in (
            lambda: torch.ops.heedful.clear_padding(dual, VALID),
            lambda: torch.ops.heedful.source_to_token(dual, dual, VALID),
            lambda: torch.ops.heedful.additive(*(dual,) * 3, VALID, None, -9, 9, True, 5.0, 0.0, 0.0),
        ):
            with pytest.raises(UsageError, match="impl='reference'"):
                call()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.float32])
def test_a_mask_of_numbers_is_refused_in_one_line(dtype: torch.dtype) -> None:
    x, heads_of_x = inputs(((B, L, D), (B, H, L, D)))
    valid, seen, everything = VALID.to(dtype), DENSE.to(dtype), Band()
    shut = torch.zeros(L, L).masked_fill(~DENSE, -math.inf) if dtype.is_floating_point else seen
    calls: list[Callable[[], object]] = [
        lambda: source_to_token(x, x, valid),
        lambda: clear_padding(x, valid),
        lambda: additive_attention(x, x, x, valid, everything),
        lambda: additive_attention(x, x, x, VALID, shut),
        lambda: tensorized_attention(*(heads_of_x,) * 4, valid, [everything] * H),
        lambda: tensorized_attention(*(heads_of_x,) * 4, VALID, [everything, shut]),
        lambda: masked_head_attention(*(heads_of_x,) * 3, valid),
        lambda: head_attention(*(heads_of_x,) * 3, shut),
        lambda: mix(*(heads_of_x[0],) * 3, valid.flatten()[:L]),
    ]
    for call in calls:
        with pytest.raises(UsageError) as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_refuses_a_mask_of_numbers(name: str) -> None:
    """``~`` of whole numbers is a mask of nothing, and what torch says of it names no argument."""
    module, x = Encoding(build(name)), words()
    for dtype in (torch.int64, torch.uint8, torch.float32):
        with pytest.raises(UsageError, match=r"valid must be booleans.*; got torch\."):
            module(x, REAL.to(dtype))


@encoder
def test_an_encoder_spreads_no_mask_over_other_texts(name: str) -> None:
    module, x = Encoding(build(name)), words()
    for valid in (REAL[:1], REAL[:, :1], REAL[0]):
        with pytest.raises(UsageError, match=r"valid must be booleans \[B, L\] = \[4, 7\]"):
            module.encoder(x, Sentences(REAL.long(), valid))


@encoder
def test_tensors_without_content_get_the_right_shape(name: str) -> None:
    """Counters of operations and planners of memory run a module on the device "meta"."""
    module, x = Encoding(build(name)), words()
    expected = module(x, REAL).shape
    assert module.to("meta")(x.to("meta"), REAL.to("meta")).shape == expected


@encoder
def test_stacked_models_answer_as_each_alone(name: str) -> None:
    first, second, x = Encoding(build(name)), Encoding(build(name)), words()
    if not list(first.parameters()):
        return
    with torch.no_grad():
        for weight in second.parameters():
            weight.mul_(1.1)
    stacked = torch.func.stack_module_state([first, second])
    found = torch.func.vmap(lambda *state: torch.func.functional_call(first, state, (x, REAL)))(*stacked)
    for got, module in zip(found, (first, second), strict=True):
        close(got, module(x, REAL).double())


@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_a_scale_that_is_no_finite_number_is_refused(scale: float) -> None:
    x, heads_of_x = inputs(((B, L, D), (B, H, L, D)))
    for call in (
        lambda: additive_attention(x, x, x, VALID, Band(), scale=scale),
        lambda: tensorized_attention(*(heads_of_x,) * 4, VALID, [Band()] * H, scale=scale),
        lambda: masked_head_attention(*(heads_of_x,) * 3, VALID, scale=scale),
    ):
        with pytest.raises(UsageError, match="scale must be"):
            call()


WIDTH = 12
LENGTHS = torch.tensor([[5], [3], [1], [0]])
REAL = torch.arange(7) < LENGTHS


def build(name: str, **options: object) -> nn.Module:
    torch.manual_seed(0)
    settings, make = ENCODERS[name]
    sizes = {"heads": 3, "head_width": 4} if name == "multi-head" else {}
    return make(WIDTH, settings(**sizes | HEADS_OF.get(name, {}) | options)).eval()


HEADS_OF: dict[str, dict[str, object]] = {
    "deep-att": {"heads": 3, "layers": 2},
    "mtsa-deep-att": {"heads": 4, "layers": 2},
    "mtsa-stacked": {"heads": 4, "layers": 2},
    "mtsa-transformer": {"heads": 4, "layers": 2},
    "transformer": {"heads": 4, "layers": 2},
}
"""Settings that fit the small width, and few layers."""
ONE_LAYER: dict[str, dict[str, object]] = {
    name: {"layers": 1} for name, options in HEADS_OF.items() if "layers" in options
}
"""Further layers are traced for as long again, and hold nothing new."""


def specified(name: str) -> nn.Module:
    """Build an encoder in float64 whose attention is the reference."""
    known = {field.name for field in dataclasses.fields(ENCODERS[name][0])}
    return build(name, **({"impl": "reference"} if "impl" in known else {})).double()


class Encoding(nn.Module):
    """An encoder as a function of tensors."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, x: Tensor, valid: Tensor) -> Tensor:
        states: Tensor = self.encoder(x, Sentences(torch.ones_like(valid, dtype=torch.int64), valid)).states
        return states


def words() -> Tensor:
    return inputs(((len(REAL), REAL.shape[1], WIDTH),))[0].masked_fill(~REAL[..., None], 0)


def penalized(module: nn.Module, x: Tensor) -> list[Tensor]:
    """Differentiate a penalty on the gradient of the words by the words and all parameters."""
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(module(x, REAL).tanh().sum(), x, create_graph=True)
    leaves = [x, *module.parameters()]
    found = torch.autograd.grad(first.square().sum(), leaves, allow_unused=True)
    return [torch.zeros_like(leaf) if one is None else one for leaf, one in zip(leaves, found, strict=True)]


@encoder
def test_second_derivatives_of_an_encoder(name: str) -> None:
    want = penalized(Encoding(specified(name)), words().double())
    assert any(one.any() for one in want)
    for got, exact in zip(penalized(Encoding(build(name)), words()), want, strict=True):
        close(got, exact, 1e-3)


@encoder
def test_forward_derivatives_of_an_encoder(name: str) -> None:
    fast, exact = Encoding(build(name)), Encoding(specified(name))
    x, along = words(), inputs((words().shape,), seed=4)[0]
    _, got = torch.func.jvp(lambda x: fast(x, REAL), (x,), (along,))
    _, want = torch.func.jvp(lambda x: exact(x, REAL), (x.double(),), (along.double(),))
    assert want.any()
    close(got, want, 1e-3)


@encoder
def test_gradients_of_each_example(name: str) -> None:
    module, x = Encoding(build(name)), words()

    def loss(weights: dict[str, Tensor], x: Tensor, valid: Tensor) -> Tensor:
        states: Tensor = torch.func.functional_call(module, weights, (x[None], valid[None]))
        return states.tanh().sum()

    weights = {name: weight.detach() for name, weight in module.named_parameters()}
    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(weights, x, REAL)
    exact = Encoding(specified(name))
    for row in range(len(x)):
        output = exact(x[row : row + 1].double(), REAL[row : row + 1]).tanh().sum()
        if not output.requires_grad:  # the encoder has no weights
            assert not weights
            continue
        found = torch.autograd.grad(output, list(exact.parameters()), allow_unused=True)
        for parameter, want in zip(weights, found, strict=True):
            close(each[parameter][row], torch.zeros(()).double() if want is None else want, 1e-3)


@encoder
def test_one_whole_graph(name: str) -> None:
    compare_one_whole_graph(name)


def test_one_whole_graph_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    without_kernels(monkeypatch)
    compare_one_whole_graph("disan")


@pytest.mark.parametrize("name", ["bi-lstm", "bi-gru", "disan"])
def test_compiled_modules_drop_no_derivative(name: str) -> None:
    torch._dynamo.reset()
    module, exact = Encoding(build(name, **ONE_LAYER.get(name, {}))), Encoding(specified(name))
    x, along = words(), inputs((words().shape,), seed=4)[0]
    compiled = torch.compile(module, backend="eager")
    for got, want in zip(penalized(compiled, x), penalized(exact, x.double()), strict=True):
        close(got, want, 1e-3)
    whole = torch.compile(
        lambda x: torch.func.jvp(lambda x: module(x, REAL), (x,), (along,)), backend="eager"
    )
    _, want = torch.func.jvp(lambda x: exact(x, REAL), (x.double(),), (along.double(),))
    close(whole(x)[1], want, 1e-3)


def compare_one_whole_graph(name: str) -> None:
    torch._dynamo.reset()
    module, x = Encoding(build(name, **ONE_LAYER.get(name, {}))), words().requires_grad_()
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    got, want = compiled(x, REAL), module(x, REAL)
    close(got, want.double(), 1e-5)
    ours, theirs = (torch.autograd.grad(each.tanh().sum(), x)[0] for each in (got, want))
    close(ours, theirs.double(), 1e-5)


@encoder
@pytest.mark.parametrize(("batch", "length"), [(0, 5), (2, 0), (0, 0)])
def test_no_sentences_and_no_words(name: str, batch: int, length: int) -> None:
    built = build(name)
    valid = torch.ones(batch, length, dtype=torch.bool)
    x = torch.ones(batch, length, WIDTH, requires_grad=True)
    states = Encoding(built)(x, valid)
    assert states.shape == (batch, length, built.width_out)
    states.sum().backward()


NOTHING = pytest.mark.parametrize("shape", [(0, 4), (2, 0), (0, 0)])


@NOTHING
@pytest.mark.parametrize("impl", ["auto", "torch", "reference"])
@pytest.mark.parametrize("kind", ["additive", "tensorized", "heads", "between"])
def test_an_operator_of_nothing_has_every_derivative(kind: str, impl: str, shape: tuple[int, int]) -> None:
    batch, length = shape
    valid = torch.ones(batch, length, dtype=torch.bool)

    def compute(*x: Tensor) -> Tensor:
        if kind == "additive":
            return additive_attention(*x[:3], valid, Band(high=-1), impl=impl).output
        if kind == "tensorized":
            seen = [Band(high=-1), Band(-2, 2)]
            return tensorized_attention(*x, valid, seen, token2token="sigmoid", impl=impl).output
        bias = head_bias([Band(high=0), Band()], [None, None], 0.5, valid)
        if kind == "heads":
            return masked_head_attention(*x[:3], valid, bias, impl=impl).output
        return head_attention(*x[:3], valid[:, None, None], impl=impl).output

    sizes = (batch, length, D) if kind == "additive" else (batch, H, length, D)
    given = [torch.ones(sizes) for _ in range(4)]
    assert compute(*given).shape[0] == batch
    assert all(len(each) == batch for each in second(compute, given[: 4 if kind == "tensorized" else 3]))
    torch.func.jvp(compute, tuple(given), tuple(given))
    torch.func.vmap(torch.func.grad(lambda *x: compute(*x).sum()))(*(torch.stack([x, x]) for x in given))
