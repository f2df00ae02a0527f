"""The specification of dropout's mask in plain torch: Philox4x32-10, a counter-based generator.

Counter-based, because an element's bits then need no state: threads, vectors and the backward pass compute them in any
order. Philox4x32-10 (Salmon et al., SC 2011) passes every test of TestU01's BigCrush, and one block of ten rounds gives
eight elements their 16 bits.
"""

from __future__ import annotations

import torch
from torch import Tensor

STEPS = 2**16
"""Distinct probabilities: each element has 16 random bits."""
GROUP, _COUNTERS = 64, 8
_ROUNDS, _LOW = 10, 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)


def dropout_reference(x: Tensor, seed: int, threshold: int) -> Tensor:
    """Drop the elements whose 16 random bits are below a threshold; scale the others to keep the expectation.

    Args:
        x: any shape; computed in float32, or float64 if it is that.
        seed: below 2⁶⁴.
        threshold: elements with lower bits are dropped; 0 to 2¹⁶ - 1.

    Returns:
        A contiguous tensor with the shape and dtype of x.
    """
    kept = (random_bits(seed, x.numel(), x.device) >= threshold).view(x.shape)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return torch.where(kept, wide * (STEPS / (STEPS - threshold)), 0).to(x.dtype).contiguous()


def random_bits(seed: int, count: int, device: torch.device | str = "cpu") -> Tensor:
    """Return the random bits of elements 0 to count - 1.

    64 elements use 8 blocks. Element e has, of the block with counter ``8 (e // 64) + e % 16 // 2``, the word
    ``2 (s // 2) + e % 2`` with ``s = e % 64 // 16``: its lower half where s is even, its upper half where s is odd.

    Args:
        seed: the generator's key, below 2⁶⁴.
        count: number of elements.
        device: where to compute.

    Returns:
        [count] int64, uniform over 0 to 2¹⁶ - 1.
    """
    groups = -(-count // GROUP)
    block = torch.arange(groups * _COUNTERS, device=device)
    zero = torch.zeros_like(block)
    words = philox((block & _LOW, block >> 32, zero, zero), (seed & _LOW, seed >> 32 & _LOW))
    first, second = (torch.stack(pair, dim=-1).view(groups, 2 * _COUNTERS) for pair in (words[:2], words[2:]))
    halves = torch.stack((first & 0xFFFF, first >> 16, second & 0xFFFF, second >> 16), dim=1)
    return halves.flatten()[:count]


def philox(
    counter: tuple[Tensor, Tensor, Tensor, Tensor], key: tuple[int, int]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the four random words of each block (Philox4x32-10).

    Args:
        counter: its four words, int64 below 2³².
        key: its two words, below 2³².

    Returns:
        Four words of the shape of the counter's, int64 below 2³².
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        # A product of two words may leave int64; it wraps, and shift and mask then give the unsigned halves.
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (p1 >> 32 & _LOW) ^ c1 ^ k0, p1 & _LOW, (p0 >> 32 & _LOW) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = k0 + _KEY_STEPS[0] & _LOW, k1 + _KEY_STEPS[1] & _LOW
    return c0, c1, c2, c3
