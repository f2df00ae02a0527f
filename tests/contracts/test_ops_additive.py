"""Every implementation of feature-wise attention is the reference: output and every gradient, on awkward inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from heedful.attention import native
from heedful.attention.additive import additive_chunked, additive_reference
from heedful.attention.additive_kernel import additive_fused, additive_linear
from heedful.attention.visibility import Band, Visible

compiled = pytest.mark.skipif(native.LIBRARY is None, reason=native.MISSING or "compiled")
FAST = {
    "chunked": additive_chunked,
    "fused": additive_fused,
    "linear": partial(additive_linear, keys_per_rank=0.0),  # however short the sentence
}
IMPLS = [pytest.param(name, marks=[] if name == "chunked" else compiled) for name in FAST]
KERNELS = [pytest.param(name, marks=compiled) for name in ("fused", "linear")]
LENGTHS = [1, 2, 15, 16, 17, 63, 64, 65, 257]
DIRECTIONS = {
    "forward": Band(high=-1),
    "backward": Band(low=1),
    "not-self": Band(diagonal=False),
    "all": Band(),
    "self and earlier": Band(high=0),
    "self and later": Band(low=0),
}
WINDOWS = {
    "window": Band(-3, 2),
    "window, not self": Band(-4, 4, diagonal=False),
    "window, earlier": Band(-5, -1),
    "ahead": Band(low=3),
    "self alone": Band(0, 0),
    "nothing": Band(2, -2),
}
DENSE = {"dense": 0.5, "sparse, a sentence": 0.1, "nothing kept": 0.0}
SERVED = {
    "chunked": [*DIRECTIONS, *WINDOWS, *DENSE],
    "fused": [*DIRECTIONS, *WINDOWS, *DENSE],
    "linear": [*DIRECTIONS],
}
CASES = [
    pytest.param(impl, mask, marks=[] if impl == "chunked" else compiled)
    for impl, masks in SERVED.items()
    for mask in masks
]
Inputs = tuple[Tensor, Tensor, Tensor]


def visible_of(mask: str, batch: int, length: int) -> Visible:
    if mask not in DENSE:
        return {**DIRECTIONS, **WINDOWS}[mask]
    generator = torch.Generator().manual_seed(1)
    shape = (batch, length, length) if "a sentence" in mask else (length, length)
    return torch.rand(shape, generator=generator) < DENSE[mask]


def make(batch: int, length: int, width: int, spread: float = 1.0, seed: int = 0) -> tuple[Inputs, Tensor]:
    """Return query, key, value, and valid with a full sentence, a single word, none, and gaps."""
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(batch, length, width, generator=generator) for _ in range(3))
    valid = torch.rand(batch, length, generator=generator) < 0.8
    valid[0] = True
    if batch > 2:
        valid[1] = torch.arange(length) == length // 2
        valid[2] = False
    return (query * spread, key * spread, value), valid


def results(
    compute: Callable, inputs: Inputs, valid: Tensor, visible: Visible, dtype: torch.dtype
) -> list[Tensor]:
    """Output and the gradients of query, key and value, for a fixed gradient of the output."""
    leaves = [x.detach().to(dtype).requires_grad_() for x in inputs]
    output = compute(*leaves, valid, visible, 5.0).output
    return [output.detach(), *torch.autograd.grad(output, leaves, grad_of(output))]


def grad_of(output: Tensor) -> Tensor:
    """The fixed gradient of an output, in its dtype."""
    return torch.randn(output.shape, generator=torch.Generator().manual_seed(2)).to(output.dtype)


def check(compute: Callable, inputs: Inputs, valid: Tensor, visible: Visible) -> None:
    """Hold the error to twice that of the reference in the same precision, and a rounding of the terms.

    Both the root mean square, which luck does not move, and the largest. The slack is for sums that vanish: a query
    with one key has no gradient, which the reference may hit exactly. Over all lengths and directions, both kernels and
    all instruction sets, the root mean square used up to 0.30 of it and the largest 1.57 (a gradient of values at 257
    tokens, pairwise; the linear form 1.16, portable, a gradient of queries): the largest of thousands of sums strays
    further than plain torch's own by luck, so its allowance is wider.
    Judged by the largest alone are up to 72 numbers, a single token, whose root mean square used up to 0.79 of the
    slack on a processor whose estimate of a reciprocal rounds otherwise; and gradients that are exactly zero because
    every query has one key. There the reference has no error that could be doubled, and a weight that is one rounding
    away from 1 gave a root mean square of 1.24 times the slack, where the largest used 0.63 of its own.
    """
    exact = results(additive_reference, inputs, valid, visible, torch.float64)
    plain = results(additive_reference, inputs, valid, visible, torch.float32)
    got = results(compute, inputs, valid, visible, torch.float32)
    names = ("output", "grad_query", "grad_key", "grad_value")
    for name, want, usual, result in zip(names, exact, plain, got, strict=True):
        assert_no_worse(result, usual, want, name, exact[0])
        assert not result[~valid].any(), f"{name} must be zero at padding"


def assert_no_worse(
    result: Tensor, usual: Tensor, want: Tensor, name: str = "", output: Tensor | None = None
) -> None:
    # The mean of a handful of errors is moved by luck like the largest, which alone judges them.
    many = want.numel() > 72 and bool(want.any())
    measures = ((root_mean_square, 0.5), (largest, 2.0)) if many else ((largest, 2.0),)
    for measure, slack in measures:
        terms = max(measure(grad_of(want)), measure(want))
        if output is not None and not want.any():  # a difference of values and output, times the gradient
            terms = max(terms, measure(grad_of(output) * output))
        rounding = slack * torch.finfo(torch.float32).eps * terms
        assert measure(result - want) <= 2 * measure(usual - want) + rounding, f"{measure.__name__} of {name}"


def root_mean_square(x: Tensor) -> float:
    return x.square().mean().sqrt().item()


def largest(x: Tensor) -> float:
    return x.abs().max().item()


@pytest.fixture
def instruction_set() -> Iterator[Callable[[str], None]]:
    before = str(native.status()["instruction_set"])
    yield native.use_instruction_set
    native.use_instruction_set(before)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(impl: str, length: int) -> None:
    inputs, valid = make(2, length, 21)
    for mask in ("forward", "backward"):
        check(FAST[impl], inputs, valid, DIRECTIONS[mask])


@pytest.mark.parametrize(("impl", "mask"), CASES)
def test_masks(impl: str, mask: str) -> None:
    inputs, valid = make(4, 37, 37)
    check(FAST[impl], inputs, valid, visible_of(mask, 4, 37))


def test_every_implementation_meets_every_mask() -> None:
    assert len(CASES) >= 36


@compiled
@pytest.mark.parametrize("name", native.INSTRUCTION_SETS)
def test_instruction_sets(name: str, instruction_set: Callable[[str], None]) -> None:
    try:
        instruction_set(name)
    except ValueError as error:
        pytest.skip(str(error))
    inputs, valid = make(4, 37, 37)
    far = (inputs[0] * 200, inputs[1] * 200, inputs[2])
    for mask in ("forward", "not-self", "window", "dense"):
        visible = visible_of(mask, 4, 37)
        check(additive_fused, inputs, valid, visible)
        check(additive_fused, far, valid, visible)
    check(FAST["linear"], inputs, valid, DIRECTIONS["forward"])


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize(
    ("spread", "shift"),
    [(1.0, -8.0), (1.0, 8.0), (3.0, 0.0), (30.0, 0.0), (200.0, 0.0), (1e4, 0.0), (0.0, 0.0)],
)
def test_large_scores(impl: str, spread: float, shift: float) -> None:
    (query, key, value), valid = make(3, 40, 19, spread)
    check(FAST[impl], (query + shift, key, value), valid, DIRECTIONS["forward"])


@pytest.mark.parametrize("impl", IMPLS)
def test_saturated_signs(impl: str) -> None:
    (query, key, value), valid = make(3, 40, 19)
    check(FAST[impl], (query.sign() * 200, key.sign() * 200, value), valid, DIRECTIONS["not-self"])


@pytest.mark.parametrize("impl", IMPLS)
def test_far_apart_but_cancelling(impl: str) -> None:
    (query, key, value), valid = make(3, 40, 19)
    check(FAST[impl], (query + 150, key - 150, value), valid, DIRECTIONS["forward"])


@pytest.mark.parametrize("impl", IMPLS)
def test_queries_without_keys_get_zero(impl: str) -> None:
    inputs, valid = make(3, 20, 19)
    output, *_ = results(FAST[impl], inputs, valid, DIRECTIONS["forward"], torch.float32)
    first = valid.float().argmax(dim=1)
    assert not output[torch.arange(3), first].any()
    assert output[0, 1:].all()


@pytest.mark.parametrize("impl", IMPLS)
def test_non_contiguous_inputs(impl: str) -> None:
    inputs, valid = make(3, 23, 38)
    inputs = tuple(x.transpose(1, 2).contiguous().transpose(1, 2)[..., ::2] for x in inputs)
    valid = valid.t().contiguous().t()
    assert not inputs[0].is_contiguous()
    check(FAST[impl], inputs, valid, DIRECTIONS["forward"])


@pytest.mark.parametrize("impl", IMPLS)
def test_padding_and_unwritten_memory_do_not_matter(impl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, valid = make(4, 37, 21)
    visible = DIRECTIONS["forward"]
    want = results(FAST[impl], inputs, valid, visible, torch.float32)
    # The kernel's own memory, as an earlier call may leave it.
    everything = torch.full((8, 64, 21), torch.nan)
    results(FAST[impl], (everything,) * 3, torch.ones(8, 64, dtype=torch.bool), visible, torch.float32)
    for name in ("empty", "empty_like"):
        make_empty = getattr(torch, name)

        def poisoned(*args: object, make_empty: Callable = make_empty, **options: object) -> Tensor:
            memory: Tensor = make_empty(*args, **options)
            return memory.fill_(torch.nan) if memory.is_floating_point() else memory

        monkeypatch.setattr(torch, name, poisoned)
    dirty = tuple(x.masked_fill(~valid[..., None], torch.nan) for x in inputs)
    got = results(FAST[impl], dirty, valid, visible, torch.float32)
    for clean, result in zip(want, got, strict=True):
        assert torch.equal(clean, result)


@pytest.mark.parametrize("impl", KERNELS)
def test_a_sentence_does_not_depend_on_its_neighbors(impl: str) -> None:
    inputs, valid = make(5, 70, 40)
    want = results(FAST[impl], inputs, valid, DIRECTIONS["forward"], torch.float32)
    alone = tuple(x[3:4, :] for x in inputs)
    leaves = [x.clone().requires_grad_() for x in alone]
    output = FAST[impl](*leaves, valid[3:4], DIRECTIONS["forward"], 5.0).output
    grad = torch.randn(5, 70, 40, generator=torch.Generator().manual_seed(2))
    got = [output, *torch.autograd.grad(output, leaves, grad[3:4])]
    for full, result in zip(want, got, strict=True):
        assert torch.equal(full[3:4], result)


@pytest.mark.parametrize("impl", KERNELS)
@pytest.mark.parametrize("mask", ["forward", "dense"])
def test_one_and_two_threads_agree_bitwise(impl: str, mask: str) -> None:
    if mask == "dense" and impl == "linear":
        pytest.skip("the linear form serves no dense visibility")
    inputs, valid = make(3, 90, 200)
    visible = visible_of(mask, 3, 90)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = results(FAST[impl], inputs, valid, visible, torch.float32)
        torch.set_num_threads(2)
        two = [results(FAST[impl], inputs, valid, visible, torch.float32) for _ in range(3)]
    finally:
        torch.set_num_threads(threads)
    for again in two:
        assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))


@pytest.mark.parametrize("impl", IMPLS)
def test_not_a_number_at_a_real_token_is_not_hidden(impl: str) -> None:
    (query, key, value), _ = make(1, 40, 5)
    query[0, 30, 2] = torch.nan
    output = FAST[impl](
        query, key, value, torch.ones(1, 40, dtype=torch.bool), DIRECTIONS["forward"], 5.0
    ).output
    assert output[0, 30, 2].isnan()
    assert output.isnan().sum() == 1


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_scales(impl: str, scale: float) -> None:
    inputs, valid = make(3, 40, 19)

    def scaled(compute: Callable) -> Callable:
        return lambda query, key, value, valid, visible, _: compute(query, key, value, valid, visible, scale)

    exact = results(scaled(additive_reference), inputs, valid, DIRECTIONS["forward"], torch.float64)
    plain = results(scaled(additive_reference), inputs, valid, DIRECTIONS["forward"], torch.float32)
    got = results(scaled(FAST[impl]), inputs, valid, DIRECTIONS["forward"], torch.float32)
    for want, usual, result in zip(exact, plain, got, strict=True):
        assert_no_worse(result, usual, want)


@settings(max_examples=30, deadline=None)
@given(
    batch=st.integers(1, 4),
    length=st.integers(1, 50),
    width=st.integers(1, 70),
    low=st.none() | st.integers(-6, 3),
    high=st.none() | st.integers(-3, 6),
    diagonal=st.booleans(),
    spread=st.sampled_from([0.1, 1.0, 4.0, 60.0]),
    seed=st.integers(0, 99),
)
@example(batch=1, length=1, width=1, low=None, high=None, diagonal=True, spread=0.1, seed=4)
@example(batch=1, length=1, width=1, low=None, high=None, diagonal=True, spread=0.1, seed=12)
@example(batch=1, length=2, width=55, low=None, high=None, diagonal=False, spread=0.1, seed=13)
def test_any_shape_and_band(
    batch: int,
    length: int,
    width: int,
    low: int | None,
    high: int | None,
    diagonal: bool,
    spread: float,
    seed: int,
) -> None:
    inputs, valid = make(batch, length, width, spread, seed)
    band = Band(low, high, diagonal)
    check(additive_chunked, inputs, valid, band)
    if native.LIBRARY is not None:
        check(additive_fused, inputs, valid, band)
        if low in (None, 0, 1) and high in (None, -1, 0):
            check(FAST["linear"], inputs, valid, band)
