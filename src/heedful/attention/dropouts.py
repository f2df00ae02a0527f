"""Dropout: one signature for every device and precision."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from heedful.attention.derivatives import transformed
from heedful.attention.implementation import Impl, check_dropout, choose
from heedful.attention.native import LIBRARY, MISSING, define_self_adjoint
from heedful.attention.randomness import draw_seed
from heedful.errors import UsageError

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


_KERNEL = None if LIBRARY is None else LIBRARY.heedful_dropout
if _KERNEL is not None:
    _KERNEL.argtypes = (
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64),
        *(ctypes.c_uint32, ctypes.c_float, ctypes.c_int32, ctypes.c_int32),
    )


def _anywhere(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    if x.is_cuda and x.dtype != torch.float64:
        from heedful.attention import dropouts_triton  # Triton takes half a second to import

        if dropouts_triton.is_there():
            scale = STEPS / (STEPS - threshold)
            return dropouts_triton.drop_on_gpu(x.contiguous(), int(seed.item()), threshold, scale)
    return dropout_reference(x, int(seed.item()), threshold)


def _on_cpu(x: Tensor, seed: Tensor, threshold: int) -> Tensor:
    if _KERNEL is None or x.dtype == torch.float64:
        return _anywhere(x, seed, threshold)
    low = x.dtype == torch.bfloat16
    read = (x if low else x.float()).contiguous()
    output = torch.empty_like(read)
    _KERNEL(
        *(read.data_ptr(), output.data_ptr(), read.numel(), seed.item()),
        *(threshold, STEPS / (STEPS - threshold), low, torch.get_num_threads()),
    )
    return output.to(x.dtype)


drop = define_self_adjoint(
    "dropout", "(Tensor x, Tensor seed, int threshold)", cpu=_on_cpu, anywhere=_anywhere
)
"""drop(x, seed, threshold): see `dropout_reference`; seed is int64, [], on the CPU."""


def dropout(x: Tensor, p: float, training: bool, impl: Impl = "auto") -> Tensor:
    """Set elements to zero with probability p and multiply the others by ``1 / (1 - p)`` (Srivastava et al., 2014).

    The mask is a function of a seed and the element's index in row-major order (Philox4x32-10), and the seed is one
    draw from torch's CPU generator, or from that of a training (`heedful.attention.randomness`): `torch.manual_seed`
    repeats it. It is the same for every device, dtype, number of
    threads and instruction set, and with or without compiled kernels; the backward pass computes it again instead of
    keeping it. `torch.nn.functional.dropout` draws other masks from the same seed.

    Args:
        x: floating point, any shape and strides.
        p: probability of dropping, in [0, 1). It is rounded to a multiple of 2⁻¹⁶, at most 1 - 2⁻¹⁶, and the
            multiplier follows the rounded value: the expectation is x for every p.
        training: False returns x itself, as p = 0 does; neither draws a seed.
        impl: which implementation; see `heedful.attention.Impl`. Plain torch has one form, the reference. Inside
            forward derivatives and the transforms of `torch.func` it is `torch.nn.functional.dropout`, which follows
            the ``randomness`` of `torch.func.vmap`.

    Returns:
        A contiguous tensor with the shape and dtype of x. A dropped element is zero also where x is not finite.

    Raises:
        UsageError: if p is outside [0, 1), x is not floating point, or impl is unknown or cannot serve the request.
    """
    check_dropout(p, "p")
    if not x.is_floating_point():
        raise UsageError(f"x must be floating point; got {x.dtype}")
    if not training or p == 0:
        return x
    if impl != "kernel" and transformed():
        return functional.dropout(x, p)
    seed = draw_seed()
    threshold = min(round(p * STEPS), STEPS - 1)
    if impl == "auto" or choose(impl, obstacle=_obstacle(x)).impl == "kernel":
        return drop(x, seed, threshold)
    return dropout_reference(x, int(seed), threshold)


def _obstacle(x: Tensor) -> str:
    if x.device.type != "cpu" or x.dtype == torch.float64:
        return "the kernel computes in float32 on the CPU"
    return MISSING


class OwnDropout(TorchFunctionMode):
    """Lets the dropout of other modules, such as those of transformers, draw as ours does, while it is entered."""

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        given = dict(kwargs or {})
        if func is functional.dropout:
            return _as_torch_calls_it(*args, **given)  # type: ignore[arg-type]
        if func is functional.scaled_dot_product_attention and _share_of(args, given):
            return _attention(*args, **given)  # type: ignore[arg-type]
        return func(*args, **given)


def _as_torch_calls_it(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    return dropout(input, p, training)


def _share_of(args: Sequence[object], given: Mapping[str, object]) -> object:
    return args[4] if len(args) > 4 else given.get("dropout_p")


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Compute what torch's attention computes where weights are dropped."""
    if enable_gqa or is_causal:
        raise UsageError(
            "an encoder whose attention is causal or grouped cannot be trained with attention dropout"
        )
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -torch.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return dropout(torch.softmax(scores, dim=-1), dropout_p, True) @ value
