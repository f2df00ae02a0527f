"""Registration of operators with torch: on a device, on fake tensors (compile, export), with autograd.

`torch.library.custom_op` would do it in fewer lines, but costs several times more a call, and its first call imports
torch's compiler: over a second in every process that answers one request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

OPERATORS = torch.library.Library("heedful", "FRAGMENT")


def define_operator(
    schema: str,
    compute: Callable[..., Any],
    fake: Callable[..., Any],
    *,
    anywhere: bool = False,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., None] | None = None,
) -> Callable[..., Any]:
    """Register an operator.

    Args:
        schema: its name and schema, ``"name(Tensor x, int n) -> Tensor"``.
        compute: does the work; what it returns shares no memory with what it is given.
        fake: makes results of the right shape, dtype and device from fake tensors.
        anywhere: whether compute serves every device; else the CPU alone.
        backward: of a context and the results' gradients, gives one gradient an argument; None for no derivative.
        setup_context: keeps what backward needs; see `torch.library.register_autograd`.

    Returns:
        The operator, ``torch.ops.heedful.<name>``.
    """
    name = schema.partition("(")[0]
    OPERATORS.define(schema)
    OPERATORS.impl(name, compute, "CompositeExplicitAutograd" if anywhere else "CPU")
    torch.library.register_fake(f"heedful::{name}", fake, lib=OPERATORS)
    if backward is not None:
        torch.library.register_autograd(
            f"heedful::{name}", backward, setup_context=setup_context, lib=OPERATORS
        )
    operator: Callable[..., Any] = getattr(torch.ops.heedful, name).default
    return operator
