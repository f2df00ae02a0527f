"""What a model gave for rows that it was neither fitted nor chosen with, kept among its figures.

Rules that need rows which chose nothing, such as when to give no answer, are fitted on them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.storage.fields import Fields

KEY: Final = "out_of_fold"
"""Where the figures of a model keep what cross-validation gave for its training rows."""
HELD_OUT: Final = "held_out"
"""Where they keep what the model gave for rows that were set aside."""
From = Literal["out_of_fold", "held_out"]
_LARGEST_HALF = 1000.0
"""Numbers up to this one have three digits in 16 bits."""


@dataclass(frozen=True, eq=False)
class HeldScores:
    """Rows of numbers of examples that chose nothing.

    Attributes:
        rows: row of each example in its file, from 1; 0 for examples from Python, [N].
        gold: its gold as the task encodes it: a class number, a number, or a flag for each label, [N, ...].
        logits: what the model gives for it on the scale of its own logits, [N, Y], to three digits.
        source: "out_of_fold", training rows by models of cross-validation that were fitted without them; or
            "held_out", rows that were set aside, by the model itself.
        weights: how much each example counts, [N] float64, 0 or more; None where all count alike.
    """

    rows: NDArray[np.int64]
    gold: NDArray[np.generic]
    logits: NDArray[np.float32]
    source: From = "out_of_fold"
    weights: NDArray[np.float64] | None = None

    def counting(self) -> HeldScores:
        """Return the examples whose weight is above 0."""
        if self.weights is None:
            return self
        own = np.flatnonzero(self.weights)
        return replace(
            self,
            rows=self.rows[own],
            gold=self.gold[own],
            logits=self.logits[own],
            weights=self.weights[own],
        )

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON: the logits as base64 of floating point, row after row.

        It has 16 bits, or 32 where a number is larger than 1,000, as prices may be.
        """
        half = not self.logits.size or float(np.abs(self.logits).max()) <= _LARGEST_HALF
        kind = "<f2" if half else "<f4"
        packed = base64.b64encode(self.logits.astype(kind).tobytes()).decode("ascii")
        shape = list(self.logits.shape)
        plain = {"rows": self.rows.tolist(), "gold": self.gold.tolist(), "shape": shape, "logits": packed}
        if self.weights is not None:
            plain["weights"] = [float(f"{weight:.6g}") for weight in self.weights.tolist()]
        return plain if half else {**plain, "kind": kind}


def held_scores(metrics: Mapping[str, object]) -> HeldScores | None:
    """Read what `HeldScores.as_dict` wrote into the figures of a model.

    Args:
        metrics: the figures, `heedful.model.model.Model.metrics`.

    Returns:
        The scores: of rows that were set aside, else those of cross-validation; None for a model that has neither.

    Raises:
        ArtifactError: if they contradict each other.
    """
    if HELD_OUT in metrics:
        return _read(metrics, HELD_OUT)
    return _read(metrics, KEY) if KEY in metrics else None


def _read(metrics: Mapping[str, object], source: From) -> HeldScores:
    fields = Fields(metrics, "the figures of the model").part(source)
    kind, shape = fields.text("kind", "<f2"), fields.wholes("shape")
    if kind not in ("<f2", "<f4"):
        raise fields.wrong("kind", f"must be <f2 or <f4; got {kind!r:.20}")
    try:
        content = base64.b64decode(fields.text("logits"), validate=True)
        logits = np.frombuffer(content, kind).reshape(shape).astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise fields.wrong("logits", f"do not have the shape {shape!r:.60}: {error}") from None
    try:
        gold = np.array(fields.items("gold"))
    except ValueError as error:
        raise fields.wrong("gold", f"has rows of different lengths: {error}") from None
    if logits.ndim != 2 or min(shape) < 0 or not np.isfinite(logits).all():
        raise fields.wrong("logits", "must be rows of finite numbers")
    if len(gold) != len(logits) or gold.dtype.kind not in "ifb" or not np.isfinite(gold).all():
        raise fields.wrong("gold", f"must be {len(logits)} finite numbers or rows of them")
    numbers = fields.wholes("rows")
    if len(numbers) != len(gold) or not all(0 <= number < 2**63 for number in numbers):
        raise fields.wrong("rows", f"must be {len(gold)} whole numbers of 0 or more")
    weights = np.array(fields.numbers("weights"), np.float64) if "weights" in fields else None
    if weights is not None and not (
        len(weights) == len(gold) and np.isfinite(weights).all() and weights.min() >= 0
    ):
        raise fields.wrong("weights", f"must be {len(gold)} finite numbers of 0 or more")
    return HeldScores(np.array(numbers, np.int64), gold, logits, source, weights)
