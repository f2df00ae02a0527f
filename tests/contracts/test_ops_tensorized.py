"""Every implementation of tensorized attention is the reference: output and every gradient, on awkward inputs."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from heedful.attention import tensorized_matrix as matrix_file
from heedful.attention.native import INSTRUCTION_SETS, status, use_instruction_set
from heedful.attention.tensorized import tensorized_attention, tensorized_obstacle
from heedful.attention.visibility import Band
from heedful.errors import UsageError

MISSING = tensorized_obstacle(torch.zeros(1))
FUSED = pytest.param("kernel", marks=pytest.mark.skipif(bool(MISSING), reason=MISSING))
FAST = ["torch", FUSED]
KINDS = ["sigmoid", "exp"]
MASKS = {
    "directions": [Band(None, -1), Band(1, None)],
    "open": [Band(), Band(diagonal=False)],
    "windows": [Band(-3, 3), Band(-4, -1)],
    "dense": [None, None],
}


def make(
    batch: int, heads: int, length: int, width: int, *, spread: float = 1.0, seed: int = 0
) -> tuple[list[Tensor], Tensor]:
    """Return q, k, v, z in float64, not contiguous, and valid: a full, a one-token and an empty sentence first."""
    generator = torch.Generator().manual_seed(seed)
    tensors = [
        torch.randn(batch, length, heads, width, generator=generator, dtype=torch.float64).transpose(1, 2)
        for _ in range(4)
    ]
    tensors[0] = tensors[0] * spread
    tensors[3] = tensors[3] * spread
    lengths = torch.randint(0, length + 1, (batch,), generator=generator)
    lengths[0] = length
    lengths[1:3] = torch.tensor([1, 0])[: batch - 1]
    return tensors, torch.arange(length)[None, :] < lengths[:, None]


def visible_of(name: str, valid: Tensor, seed: int = 0) -> list[Band | Tensor]:
    if name != "dense":
        return list(MASKS[name])
    generator = torch.Generator().manual_seed(seed)
    batch, length = valid.shape
    return [
        torch.rand(batch, length, length, generator=generator) < 0.4,
        torch.rand(length, length, generator=generator) < 0.4,
    ]


def results(
    tensors: list[Tensor], valid: Tensor, visible: list, dtype: torch.dtype, **options
) -> list[Tensor]:
    """Return the output and the four gradients, in float64."""
    inputs = [x.detach().to(dtype).requires_grad_() for x in tensors]
    output = tensorized_attention(*inputs, valid, visible, **options).output
    weight = torch.linspace(-1, 1, output.numel(), dtype=torch.float64).reshape(output.shape)
    output.backward(weight.to(dtype))
    return [x.double() for x in (output.detach(), *(i.grad for i in inputs))]


def assert_no_worse_than_plain(
    fast: list[Tensor],
    plain: list[Tensor],
    exact: list[Tensor],
    dtype: torch.dtype,
    largest: float = 1.0,
) -> None:
    """At most twice the error of the plain computation, plus a few roundings of the largest number.

    The gradient of z is the difference of two sums where the plain form sums differences, hence more than one.
    """
    eps = torch.finfo(dtype).eps
    for name, a, b, c in zip(("output", "query", "key", "value", "source"), fast, plain, exact, strict=True):
        limit = 2 * (b - c).abs().max() + 12 * eps * max(largest, float(c.abs().max()))
        error = (a - c).abs().max()
        assert error <= limit, f"{name}: error {error:.2e}, at most {limit:.2e}"


@pytest.mark.parametrize("impl", FAST)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 63, 64, 65, 257])
def test_equals_the_reference(impl: str, kind: str, mask: str, length: int) -> None:
    tensors, valid = make(4, 2, length, 5)
    visible = visible_of(mask, valid)
    exact = results(tensors, valid, visible, torch.float64, impl="reference", token2token=kind)
    plain = results(tensors, valid, visible, torch.float32, impl="reference", token2token=kind)
    fast = results(tensors, valid, visible, torch.float32, impl=impl, token2token=kind)
    assert_no_worse_than_plain(fast, plain, exact, torch.float32)
    if impl == "kernel":
        return  # computes in float32 only
    double = results(tensors, valid, visible, torch.float64, impl=impl, token2token=kind)
    for a, c in zip(double, exact, strict=True):
        torch.testing.assert_close(a, c, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("impl", FAST)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("spread", [20.0, 70.0, 200.0])
def test_scores_of_any_size(impl: str, kind: str, mask: str, spread: float) -> None:
    tensors, valid = make(5, 2, 33, 4, spread=spread, seed=3)
    visible = visible_of(mask, valid)
    exact = results(tensors, valid, visible, torch.float64, impl="reference", token2token=kind)
    plain = results(tensors, valid, visible, torch.float32, impl="reference", token2token=kind)
    fast = results(tensors, valid, visible, torch.float32, impl=impl, token2token=kind)
    assert all(x.isfinite().all() for x in fast)
    assert_no_worse_than_plain(fast, plain, exact, torch.float32)


@pytest.mark.parametrize("impl", FAST)
@pytest.mark.parametrize("kind", KINDS)
def test_a_hidden_key_with_the_largest_score_does_not_drown_the_visible_ones(impl: str, kind: str) -> None:
    tensors, valid = make(1, 1, 6, 3)
    query, key, _, source = tensors
    query.fill_(1.0)
    key[:, :, -1], key[:, :, :-1] = 100.0, -100.0
    source[:, :, -1] = 200.0
    valid[:] = True
    visible = [Band(None, -1)]
    exact = results(tensors, valid, visible, torch.float64, impl="reference", token2token=kind)
    fast = results(tensors, valid, visible, torch.float32, impl=impl, token2token=kind)
    torch.testing.assert_close(fast[0], exact[0], rtol=1e-4, atol=1e-4)
    assert (fast[0][:, :, 1:] != 0).all()


@pytest.mark.parametrize("impl", FAST)
@pytest.mark.parametrize("kind", KINDS)
def test_bfloat16(impl: str, kind: str) -> None:
    tensors, valid = make(4, 2, 40, 8, seed=1)
    tensors = [x.to(torch.bfloat16).double() for x in tensors]
    visible = visible_of("directions", valid)
    exact = results(tensors, valid, visible, torch.float64, impl="reference", token2token=kind)
    plain = results(tensors, valid, visible, torch.bfloat16, impl="reference", token2token=kind)
    fast = results(tensors, valid, visible, torch.bfloat16, impl=impl, token2token=kind)
    for a, b, c in zip(fast, plain, exact, strict=True):
        assert (a - c).abs().max() <= 2 * (b - c).abs().max() + 2**-8 * c.abs().max()


@pytest.mark.parametrize("impl", ["reference", *FAST])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_may_hold_anything(impl: str, kind: str) -> None:
    tensors, valid = make(4, 2, 9, 3)
    visible = visible_of("directions", valid)
    dtype = torch.float32 if impl == "kernel" else torch.float64
    clean = results(tensors, valid, visible, dtype, impl=impl, token2token=kind)
    padding = ~valid[:, None, :, None]
    for poison in (float("nan"), float("inf"), 1e30):
        spoilt = [x.masked_fill(padding, poison) for x in tensors]
        dirty = results(spoilt, valid, visible, dtype, impl=impl, token2token=kind)
        for a, b in zip(dirty, clean, strict=True):
            assert torch.equal(a, b)
    for x in clean:
        assert (x * padding == 0).all()


@pytest.mark.parametrize("impl", ["reference", *FAST])
@pytest.mark.parametrize("kind", KINDS)
def test_a_query_that_sees_nothing_gets_exactly_zero(impl: str, kind: str) -> None:
    tensors, valid = make(3, 2, 7, 3)
    output, *grads = results(
        tensors, valid, visible_of("directions", valid), torch.float32, impl=impl, token2token=kind
    )
    assert (output[:, 0, 0] == 0).all()
    assert (output[0, 1, -1] == 0).all()
    assert (output[1:3] == 0).all()
    assert all(x.isfinite().all() for x in grads)


@pytest.mark.parametrize("impl", ["reference", *FAST])
def test_a_sentence_does_not_depend_on_its_neighbors(impl: str) -> None:
    tensors, valid = make(6, 2, 12, 3, spread=8.0)
    visible = visible_of("directions", valid)
    tensors = [x.float() for x in tensors] if impl == "kernel" else tensors
    together = tensorized_attention(*tensors, valid, visible, impl=impl).output
    for row in range(6):
        alone = tensorized_attention(
            *(x[row : row + 1] for x in tensors), valid[row : row + 1], visible, impl=impl
        ).output
        torch.testing.assert_close(alone, together[row : row + 1], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("impl", FAST)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [1.0, 60.0])
def test_dropout_is_the_reference_under_the_same_seed(impl: str, kind: str, spread: float) -> None:
    tensors, valid = make(4, 2, 11, 4, spread=spread)
    visible = visible_of("directions", valid)
    dtype = torch.float32 if impl == "kernel" else torch.float64
    runs = []
    for name in ("reference", impl):
        torch.manual_seed(7)
        runs.append(results(tensors, valid, visible, dtype, impl=name, token2token=kind, dropout=0.3))
    # In float32 a score of a few thousand is itself known to a few ten thousandths only.
    tolerance = 1e-10 if dtype == torch.float64 else 1e-6 * spread**2
    for a, c in zip(runs[1], runs[0], strict=True):
        torch.testing.assert_close(a, c, rtol=tolerance, atol=tolerance * max(1.0, float(c.abs().max())))
    without = results(tensors, valid, visible, dtype, impl=impl, token2token=kind)
    assert not torch.allclose(without[0], runs[1][0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spread", [1.0, 60.0])
def test_gradcheck(kind: str, spread: float) -> None:
    tensors, valid = make(2, 2, 4, 2, spread=spread)
    inputs = [x.clone().requires_grad_() for x in tensors]
    assert torch.autograd.gradcheck(
        lambda *x: (
            tensorized_attention(
                *x, valid, visible_of("directions", valid), token2token=kind, impl="torch"
            ).output
        ),
        inputs,
    )


@pytest.mark.parametrize("impl", FAST)
def test_nothing_unwritten_is_read(impl: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def poisoned(self: Tensor, *size: int, **options) -> Tensor:
        options.setdefault("dtype", self.dtype)
        return torch.full(size, float("nan"), device=self.device, **options)

    tensors, valid = make(4, 2, 300, 2)
    valid[:] = True
    visible = [Band(-5, -1), Band(200, None)]
    dtype = torch.float32 if impl == "kernel" else torch.float64
    clean = results(tensors, valid, visible, dtype, impl=impl)
    empty = torch.empty
    monkeypatch.setattr(
        torch, "empty", lambda *a, **o: empty(*a, **o).fill_(float("nan")) if "dtype" in o else empty(*a, **o)
    )
    monkeypatch.setattr(Tensor, "new_empty", poisoned)
    dirty = results(tensors, valid, visible, dtype, impl=impl)
    for a, b in zip(dirty, clean, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("impl", FAST)
def test_one_and_two_threads_agree(impl: str) -> None:
    tensors, valid = make(8, 2, 70, 6)
    visible = visible_of("directions", valid)
    before = torch.get_num_threads()
    try:
        runs = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            dtype = torch.float32 if impl == "kernel" else torch.float64
            runs.append(results(tensors, valid, visible, dtype, impl=impl))
    finally:
        torch.set_num_threads(before)
    for a, b in zip(*runs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("impl", FAST)
@settings(max_examples=40, deadline=None)
@given(
    batch=st.integers(1, 4),
    length=st.integers(1, 24),
    width=st.integers(1, 9),
    low=st.none() | st.integers(-6, 6),
    high=st.none() | st.integers(-6, 6),
    spread=st.sampled_from([0.1, 3.0, 50.0]),
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 1000),
)
def test_any_shape(
    impl: str,
    batch: int,
    length: int,
    width: int,
    low: int | None,
    high: int | None,
    spread: float,
    kind: str,
    seed: int,
) -> None:
    tensors, valid = make(batch, 2, length, width, spread=spread, seed=seed)
    visible = [Band(low, high), Band(low, high, diagonal=False)]
    exact = results(tensors, valid, visible, torch.float64, impl="reference", token2token=kind)
    if impl == "kernel":
        plain = results(tensors, valid, visible, torch.float32, impl="reference", token2token=kind)
        fast = results(tensors, valid, visible, torch.float32, impl=impl, token2token=kind)
        assert_no_worse_than_plain(fast, plain, exact, torch.float32, largest=1 + spread**2)
        return
    fast = results(tensors, valid, visible, torch.float64, impl=impl, token2token=kind)
    for a, c in zip(fast, exact, strict=True):
        torch.testing.assert_close(a, c, rtol=1e-9, atol=1e-10)


def test_slabs_of_one_sentence_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors, valid = make(5, 2, 20, 3)
    visible = visible_of("dense", valid)
    whole = results(tensors, valid, visible, torch.float64, impl="torch")
    monkeypatch.setattr(matrix_file, "_SLAB_CELLS", 1)
    single = results(tensors, valid, visible, torch.float64, impl="torch")
    for a, b in zip(single, whole, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
@pytest.mark.parametrize("name", INSTRUCTION_SETS)
@pytest.mark.parametrize("mask", list(MASKS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("length", "width"), [(3, 1), (40, 75), (67, 37), (131, 18)])
def test_every_instruction_set(name: str, mask: str, kind: str, length: int, width: int) -> None:
    before = str(status()["instruction_set"])
    try:
        use_instruction_set(name)
    except UsageError as error:
        pytest.skip(str(error))
    try:
        tensors, valid = make(3, 2, length, width)
        visible = visible_of(mask, valid)
        exact = results(tensors, valid, visible, torch.float64, impl="reference", token2token=kind)
        plain = results(tensors, valid, visible, torch.float32, impl="reference", token2token=kind)
        fast = results(tensors, valid, visible, torch.float32, impl="kernel", token2token=kind)
        assert_no_worse_than_plain(fast, plain, exact, torch.float32)
    finally:
        use_instruction_set(before)


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_one_wide_feature_leaves_the_others_to_the_kernel() -> None:
    tensors, valid = make(4, 2, 30, 6)
    tensors[3][0, 1, :, 2] *= 100
    visible = visible_of("directions", valid)
    exact = results(tensors, valid, visible, torch.float64, impl="reference")
    plain = results(tensors, valid, visible, torch.float32, impl="reference")
    fast = results(tensors, valid, visible, torch.float32, impl="kernel")
    assert_no_worse_than_plain(fast, plain, exact, torch.float32)


@pytest.mark.parametrize("impl", FAST)
def test_compiles_whole(impl: str) -> None:
    tensors, valid = make(3, 2, 9, 4)
    inputs = [x.float().requires_grad_() for x in tensors]
    visible = visible_of("directions", valid)

    def work(*x: Tensor) -> Tensor:
        return tensorized_attention(*x, valid, visible, impl=impl).output * 2

    compiled = torch.compile(work, fullgraph=True, backend="aot_eager")
    output = compiled(*inputs)
    torch.testing.assert_close(output, work(*inputs))
    output.sum().backward()
    assert all(x.grad is not None and x.grad.isfinite().all() for x in inputs)
