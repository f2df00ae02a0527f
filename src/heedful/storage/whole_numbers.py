"""Matrices kept as whole numbers of 8 bits with a scale a row: a quarter of the room, read back as real numbers."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.storage.manifest import SCALE

_MOST = 127


def is_matrix(name: str, tensor: Tensor) -> bool:
    """Say whether a tensor is a matrix of the network; a wide part stays as it is."""
    return tensor.dim() == 2 and tensor.is_floating_point() and not name.startswith("wide.")


def rounded(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Turn matrices into whole numbers of 8 bits.

    Args:
        state: tensors by name.

    Returns:
        The same, each matrix as int8 with a scale a row, under its name with `SCALE` behind it.
    """
    made: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if not is_matrix(name, tensor):
            made[name] = tensor
            continue
        rows = tensor.float()
        scale = rows.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / _MOST
        made[name] = (rows / scale[:, None]).round().to(torch.int8)
        made[name + SCALE] = scale
    return made


def restored(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Turn matrices of whole numbers back into real ones.

    Args:
        state: tensors by name, as `rounded` returns them or in the numbers of training, which stay as they are.

    Returns:
        The tensors without the scales, each matrix as float32.

    Raises:
        UsageError: if the scales of a matrix are not one a row.
    """
    made = dict(state)
    for name, tensor in state.items():
        scale = state.get(name + SCALE)
        if scale is None or tensor.dtype != torch.int8 or tensor.dim() != 2:
            continue
        if scale.shape != tensor.shape[:1] or not scale.is_floating_point():
            raise UsageError(f"tensor {name + SCALE!r:.200} must hold {len(tensor)} real numbers, one a row")
        made[name] = tensor.float() * scale.float()[:, None]
        del made[name + SCALE]
    return made
