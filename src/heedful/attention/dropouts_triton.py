"""Dropout on a GPU in one kernel, with the very bits of `heedful.attention.dropouts.random_bits`.

Without Triton the module can be imported but not used; `heedful.attention.dropouts` computes in plain torch then.
"""

from __future__ import annotations

from torch import Tensor

from heedful.attention.additive_triton import _kernel, triton

try:
    import triton.language as tl
except ImportError:
    tl = None

_BLOCK = 1024
"""Elements of one program."""


def _drop(x, output, seed, threshold, scale, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    first, second, third, fourth = tl.randint4x(seed, at // 64 * 8 + at % 16 // 2)
    quarter, odd = at % 64 // 16, at % 2 == 1
    word = tl.where(quarter < 2, tl.where(odd, second, first), tl.where(odd, fourth, third)).to(tl.uint32)
    bits = tl.where(quarter % 2 == 0, word & 0xFFFF, word >> 16)
    value = tl.load(x + at, mask=at < count, other=0.0).to(tl.float32)
    kept = tl.where(bits >= threshold, value * scale, 0.0)
    tl.store(output + at, kept.to(output.dtype.element_ty), mask=at < count)


_drop_kernel = _kernel(_drop, ("seed",))


def is_there() -> bool:
    """Return whether Triton is installed."""
    return triton is not None


def drop_on_gpu(x: Tensor, seed: int, threshold: int, scale: float) -> Tensor:
    """Drop the elements whose 16 random bits are below a threshold; see `heedful.attention.dropouts.dropout_reference`.

    Args:
        x: contiguous, of at most 32 bits an element.
        seed: below 2⁶³.
        threshold: elements with lower bits are dropped.
        scale: what the others are multiplied by.

    Returns:
        A tensor like x.
    """
    output = x.new_empty(x.shape)
    if x.numel():
        grid = (-(-x.numel() // _BLOCK), 1, 1)
        _drop_kernel[grid](x, output, seed, threshold, scale, x.numel(), BLOCK=_BLOCK)
    return output
