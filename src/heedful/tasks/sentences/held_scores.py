"""What a model of few rows gave for each training example that it was neither fitted nor chosen with, kept beside it.

Rules that need rows which chose nothing, such as when to give no answer, are fitted on them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from heedful.storage.fields import Fields

KEY = "out_of_fold"
"""Where the figures of a model keep them."""


@dataclass(frozen=True, eq=False)
class HeldScores:
    """Rows of numbers of training examples, by cross-validation.

    Attributes:
        rows: row of each example in its file, from 1; 0 for examples from Python, [N].
        gold: its gold as the task encodes it: a class number, a number, or a flag for each label, [N, ...].
        logits: what the model gives for it on the scale of its own logits, [N, Y], to three digits.
    """

    rows: NDArray[np.int64]
    gold: NDArray[np.generic]
    logits: NDArray[np.float32]

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON: the logits as base64 of 16-bit floating point, row after row."""
        packed = base64.b64encode(self.logits.astype("<f2").tobytes()).decode("ascii")
        shape = list(self.logits.shape)
        return {"rows": self.rows.tolist(), "gold": self.gold.tolist(), "shape": shape, "logits": packed}


def held_scores(metrics: Mapping[str, object]) -> HeldScores | None:
    """Read what `HeldScores.as_dict` wrote into the figures of a model.

    Args:
        metrics: the figures, `heedful.tasks.About.metrics`.

    Returns:
        The scores; None for a model that was not chosen by cross-validation.
    """
    if KEY not in metrics:
        return None
    fields = Fields(metrics, "the figures of the model").part(KEY)
    content = base64.b64decode(fields.text("logits"))
    shape = cast("list[int]", fields.value("shape"))
    logits = np.frombuffer(content, "<f2").reshape(shape)
    return HeldScores(
        np.array(fields.value("rows")), np.array(fields.value("gold")), logits.astype(np.float32)
    )
