"""Opening the model that a command names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from heedful.predictor import AnyModel, load_model


def open_model(
    folder: Path, max_tokens: int | None = None, truncate: Literal["error", "head"] | None = None
) -> AnyModel:
    """Read a model, whatever it answers.

    Args:
        folder: a model folder, or the run folder it lies in.
        max_tokens: value of ``--max-tokens``.
        truncate: value of ``--truncate``.

    Returns:
        The model.

    Raises:
        ArtefactError: if a file is missing or altered.
    """
    return load_model(folder).limited(max_tokens, truncate)
