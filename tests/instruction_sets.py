"""Chooses the instructions that the compiled kernels use, as far as this processor has them."""

from __future__ import annotations

from heedful.attention import native
from heedful.errors import UsageError


def use(name: str) -> bool:
    """Use a set of instructions from now on; say whether this processor has it."""
    try:
        native.use_instruction_set(name)
    except UsageError:
        return False
    return True
