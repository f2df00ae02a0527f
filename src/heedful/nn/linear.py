"""Matrix products of rows, whose number is rounded up where a library writes a program for each number.

In bfloat16 torch leaves products on the CPU to oneDNN, which compiles a program for every number of rows that it has
not seen: 1 to 7 ms on a Xeon with AMX, fifteen times the product of 200 rows with 600 x 600. Batches of texts have
other numbers of words all the time.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from heedful.attention.derivatives import transformed

_FEW = 32
"""What a number of rows is a multiple of: batches of 32 or 64 texts of one length are left as they are."""
_STEPS = 64
"""Numbers of rows between two powers of two, where these are far apart: so that there are never many."""


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute ``x W^T + b`` as torch's function of the same name does.

    In less than float32 on the CPU, by its dtype or by autocast, rows of zeros are added before the product, up to one
    of the numbers of `rounded_rows`, and taken off after it. In other cases this is torch's function.

    Args:
        x: [..., D], floating point.
        weight: [E, D].
        bias: [E], or none.

    Returns:
        [..., E].
    """
    rows = x.numel() // x.shape[-1] if x.shape[-1] else 0
    if not rows or not _compiled_by_shape(x) or rows == rounded_rows(rows):
        return functional.linear(x, weight, bias)
    low = x.reshape(rows, -1).to(torch.get_autocast_dtype("cpu") if x.dtype == torch.float32 else x.dtype)
    products = functional.linear(functional.pad(low, (0, 0, 0, rounded_rows(rows) - rows)), weight, bias)
    return products[:rows].view(*x.shape[:-1], len(weight))


def rounded_rows(rows: int) -> int:
    """Round a number of rows up to a multiple of 32, or to one of 64 numbers between two powers of two."""
    step = max(_FEW, (1 << max(0, (rows - 1).bit_length() - 1)) // _STEPS)
    return -(-rows // step) * step


def _compiled_by_shape(x: Tensor) -> bool:
    """Return whether oneDNN would compile a program for these rows: a plain tensor, and products below float32."""
    return (
        type(x) in (Tensor, nn.Parameter)
        and x.is_cpu
        and (
            x.dtype in (torch.bfloat16, torch.float16)
            or (x.dtype == torch.float32 and torch.is_autocast_enabled("cpu"))
        )
        and not torch.compiler.is_compiling()
        and not transformed()
        and not torch.jit.is_tracing()
    )
