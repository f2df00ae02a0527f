"""The Triton kernels equal the reference: by Triton's interpreter on the CPU always, compiled where there is a GPU."""

from __future__ import annotations

import os

import pytest
import torch
from torch import Tensor

from heedful.attention.additive import additive_reference
from heedful.attention.visibility import Band
from heedful.errors import UsageError

pytest.importorskip("triton", reason="triton is not installed")
GPU = torch.cuda.is_available()
if not GPU:
    # Read when a kernel is defined, that is, at the import below.
    os.environ["TRITON_INTERPRET"] = "1"
from heedful.attention.additive_triton import additive_triton  # noqa: E402  (after the switch above)

DEVICE = "cuda" if GPU else "cpu"
MASKS = ["forward", "backward", "not_self", "window", "all", "dense", "dense of each"]


def make(batch: int, length: int, width: int, spread: float = 1.0) -> tuple[list[Tensor], Tensor]:
    """Return query, key, value in float64, and valid: a full, a one-token and an empty sentence first."""
    generator = torch.Generator().manual_seed(length * 100 + width)
    tensors = [
        torch.randn(batch, length, width, generator=generator, dtype=torch.float64) * spread for _ in range(3)
    ]
    lengths = torch.tensor([length, 1, 0, (length + 1) // 2])[:batch]
    return tensors, torch.arange(length) < lengths[:, None]


def visible_of(name: str, valid: Tensor) -> Band | Tensor:
    batch, length = valid.shape
    generator = torch.Generator().manual_seed(0)
    return {
        "forward": Band(None, -1),
        "backward": Band(1, None),
        "not_self": Band(diagonal=False),
        "window": Band(-3, 2),
        "all": Band(),
        "dense": torch.rand(length, length, generator=generator) < 0.4,
        "dense of each": torch.rand(batch, length, length, generator=generator) < 0.4,
    }[name]


def results(function, tensors: list[Tensor], valid: Tensor, visible, dtype, device="cpu", scale=5.0):
    """Return the output and the three gradients, in float64 on the CPU."""
    inputs = [x.detach().to(device, dtype).requires_grad_() for x in tensors]
    shown = visible if isinstance(visible, Band) else visible.to(device)
    output = function(*inputs, valid.to(device), shown, scale).output
    weight = torch.linspace(-1, 1, output.numel(), dtype=torch.float64).reshape(output.shape)
    output.backward(weight.to(device, dtype))
    return [x.detach().double().cpu() for x in (output, *(i.grad for i in inputs))]


def fault_of_the_interpreter() -> bool:
    """Return whether the interpreter cannot loop: that of Triton 3.6 does not know NumPy 2.5."""
    try:
        results(additive_triton, *make(1, 2, 2), Band(), torch.float32, DEVICE)
    except Exception as error:
        if "0-dimensional arrays can be converted" in str(error) and not GPU:
            return True
        raise
    return False


@pytest.fixture(scope="module", autouse=True)
def _an_interpreter_that_works() -> None:
    if fault_of_the_interpreter():
        pytest.skip("the interpreter of this Triton does not know this NumPy; Triton 3.9 does")


def check(tensors, valid, visible, dtype, scale=5.0) -> None:
    exact = results(additive_reference, tensors, valid, visible, torch.float64, scale=scale)
    plain = results(additive_reference, tensors, valid, visible, dtype, scale=scale)
    fast = results(additive_triton, tensors, valid, visible, dtype, DEVICE, scale=scale)
    eps = torch.finfo(dtype).eps
    for name, a, b, c in zip(("output", "query", "key", "value"), fast, plain, exact, strict=True):
        limit = 2 * (b - c).abs().max() + 4 * eps * max(1.0, float(c.abs().max()))
        assert (a - c).abs().max() <= limit, name


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("length", [1, 2])
def test_equals_the_reference(mask: str, length: int) -> None:
    tensors, valid = make(4, length, 5)
    check(tensors, valid, visible_of(mask, valid), torch.float32)


@pytest.mark.parametrize("mask", ["backward", "window", "not_self", "dense of each"])
def test_one_word_more_than_a_program_has(mask: str) -> None:
    """A band with each end, the diagonal and a list; "forward" is below, in two widths."""
    tensors, valid = make(2, 17, 5)
    check(tensors, valid, visible_of(mask, valid), torch.float32)


@pytest.mark.parametrize("mask", ["forward", "dense of each"])
def test_bfloat16(mask: str) -> None:
    tensors, valid = make(4, 9, 7)
    tensors = [x.bfloat16().double() for x in tensors]
    check(tensors, valid, visible_of(mask, valid), torch.bfloat16)


@pytest.mark.parametrize("width", [1, 65])
def test_widths_that_do_not_fill_a_program(width: int) -> None:
    tensors, valid = make(2, 18, width)
    check(tensors, valid, Band(None, -1), torch.float32)


@pytest.mark.parametrize(("spread", "scale"), [(30.0, 5.0), (1.0, 1.0), (3.0, 20.0)])
def test_large_scores_and_other_bounds(spread: float, scale: float) -> None:
    tensors, valid = make(4, 8, 4, spread)
    check(tensors, valid, Band(1, None), torch.float32, scale)


def test_padding_may_hold_anything() -> None:
    tensors, valid = make(4, 6, 3)
    clean = results(additive_triton, tensors, valid, Band(None, -1), torch.float32, DEVICE)
    spoilt = [x.masked_fill(~valid[..., None], float("nan")) for x in tensors]
    dirty = results(additive_triton, spoilt, valid, Band(None, -1), torch.float32, DEVICE)
    for a, b in zip(dirty, clean, strict=True):
        assert torch.equal(a, b)
        assert (b * ~valid[..., None] == 0).all()
    assert (clean[0][:, 0] == 0).all()


def test_float64_is_refused() -> None:
    tensors, valid = make(1, 2, 2)
    with pytest.raises(UsageError, match="computes in float32"):
        additive_triton(*tensors, valid, Band(), 5.0)


@pytest.mark.gpu
@pytest.mark.skipif(not GPU, reason="needs a CUDA device")
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("length", [63, 65, 257])
def test_compiled_on_a_gpu(mask: str, dtype: torch.dtype, length: int) -> None:
    tensors, valid = make(4, length, 75)
    tensors = [x.to(dtype).double() for x in tensors]
    check(tensors, valid, visible_of(mask, valid), dtype)
