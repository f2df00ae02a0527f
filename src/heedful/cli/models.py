"""Opening the model that a command names."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from heedful.models.precision import Precision, at_precision
from heedful.predictor import AnyModel, load_model


def open_model(
    folder: Path,
    max_tokens: int | None = None,
    truncate: Literal["error", "head"] | None = None,
    precision: Precision = "float32",
) -> AnyModel:
    """Read a model, whatever it answers.

    Args:
        folder: a model folder, or the run folder it lies in.
        max_tokens: value of ``--max-tokens``.
        truncate: value of ``--truncate``.
        precision: value of ``--precision``.

    Returns:
        The model.

    Raises:
        ArtefactError: if a file is missing or altered.
    """
    model = load_model(folder).limited(max_tokens, truncate)
    model.network = at_precision(model.network, precision)
    return model
