"""Where the random numbers of networks come from: torch's generator, or one that a training brings along.

A module of torch draws from torch's generator, which belongs to the whole process. A training that did so would change
what other code draws, and other threads would change the training. Within `drawing_from` everything is drawn from a
generator of the caller's, in this thread alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

_OWN: ContextVar[torch.Generator | None] = ContextVar("heedful_generator", default=None)
_SEEDS = 2**63 - 1


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[torch.Generator]:
    """Draw initial weights, dropout and the actions of policies from a generator, within a ``with`` block.

    Args:
        generator: of the CPU, also for networks on a GPU, so that both draw the same numbers.

    Yields:
        The generator.
    """
    token = _OWN.set(generator)
    try:
        yield generator
    finally:
        _OWN.reset(token)


def seeded(seed: int) -> torch.Generator:
    """Return a new generator of the CPU."""
    return torch.Generator("cpu").manual_seed(seed)


def own_generator() -> torch.Generator | None:
    """Return the generator of `drawing_from`; None, which is torch's own, outside it and where torch traces."""
    return None if torch.compiler.is_compiling() else _OWN.get()


def draw_seed() -> Tensor:
    """Draw a seed, int64 below 2⁶³ - 1, [], on the CPU."""
    return torch.randint(_SEEDS, (), device="cpu", generator=own_generator())


def uniform_like(like: Tensor) -> Tensor:
    """Draw numbers from 0 to below 1 in the shape, dtype and on the device of a tensor of floating point."""
    generator = own_generator()
    if generator is None:
        return torch.rand_like(like)
    return torch.rand(like.shape, generator=generator, dtype=like.dtype, device="cpu").to(like.device)
