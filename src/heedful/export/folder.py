"""A model folder for the runtime, with smaller numbers where that was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from heedful.errors import UsageError
from heedful.runtime.weights import SCALE
from heedful.storage.model_folder import ModelFolder, save_model_folder

Numbers = Literal["float32", "float16", "int8"]
"""What matrices and word vectors are kept as; "float32" leaves everything as training saved it."""
_MOST = 127


def export_folder(folder: ModelFolder, description: Mapping[str, Any], path: Path, numbers: Numbers) -> None:
    """Write a model folder for `heedful.runtime`; the settings, words, labels and figures stay.

    Args:
        folder: the model, as `heedful.storage.model_folder.load_model_folder` reads it.
        description: of its network, from `heedful.export.described`.
        path: the folder to make or replace.
        numbers: what matrices and word vectors are kept as. Vectors such as biases stay as they are.

    Raises:
        OutputError: if it cannot be written; an old folder stays.
        UsageError: if a number is too large for float16.
    """
    state = folder.state
    if numbers != "float32":
        state = _halved(state) if numbers == "float16" else rounded(state)
    config = {**folder.config, "network": {**description, "numbers": numbers}}
    save_model_folder(
        path,
        config=config,
        state=state,
        vocabulary=folder.vocabulary,
        labels=folder.labels,
        metrics=folder.metrics,
        card=folder.card,
    )


def _is_matrix(name: str, tensor: Tensor) -> bool:
    """Say whether a tensor is a matrix of the network; a wide part stays as it is."""
    return tensor.dim() == 2 and tensor.is_floating_point() and not name.startswith("wide.")


def _halved(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    halved = {name: x.to(torch.float16) if _is_matrix(name, x) else x for name, x in state.items()}
    for name, tensor in halved.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise UsageError(
                f"tensor {name!r:.200} holds numbers above 65,504, which float16 cannot hold; use --int8"
            )
    return halved


def rounded(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Turn matrices into whole numbers of 8 bits.

    Args:
        state: tensors by name.

    Returns:
        The same, each matrix as int8 with a scale a row, under its name with `SCALE` behind it.
    """
    made: dict[str, Tensor] = {}
    for name, tensor in state.items():
        if not _is_matrix(name, tensor):
            made[name] = tensor
            continue
        rows = tensor.float()
        scale = rows.abs().amax(dim=1).clamp(min=torch.finfo(torch.float32).tiny) / _MOST
        made[name] = (rows / scale[:, None]).round().to(torch.int8)
        made[name + SCALE] = scale
    return made
