"""The column part of a model: a linear model over columns beside the text, whose logits are added to the network's.

A folder keeps its weights as the tensors ``columns.weights``, ``columns.bias`` and ``columns.means``, and in
config.json under "columns" its version, its weight and what each column is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError
from heedful.features.cells import Cells
from heedful.features.feature_columns import VERSION, FeatureColumns, Row, read_columns
from heedful.storage.fields import Fields

COLUMNS = "columns"
"""Key of config.json, and what the names of the tensors begin with."""
_TENSORS = ("weights", "bias", "means")
Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ColumnPart:
    """A fitted linear model: ``weight * (bias + x weights)`` of the numbers x of the columns of an example.

    Attributes:
        columns: what it reads of an example, F numbers.
        weights: [F, Y] float32.
        bias: [Y] float32.
        means: of each number over the training examples, [F] float32, from which contributions are counted.
        weight: what its logits are multiplied by before they are added.

    Raises:
        UsageError: if shapes contradict each other or a number is not finite.
    """

    columns: FeatureColumns
    weights: Floats
    bias: Floats
    means: Floats
    weight: float = 1.0

    def __post_init__(self) -> None:
        width = self.columns.width
        shapes = (self.bias.ndim, self.weights.shape, self.means.shape)
        if shapes != (1, (width, len(self.bias)), (width,)):
            raise UsageError(
                f"columns: {width} numbers and tensors of the shapes {self.weights.shape}, {self.bias.shape} and "
                f"{self.means.shape} do not fit"
            )
        if not all(np.isfinite(getattr(self, name)).all() for name in _TENSORS):
            raise UsageError("columns: weights, bias or means hold numbers that are not finite")
        if not (np.isfinite(self.weight) and self.weight >= 0):
            raise UsageError(f"columns: weight must be 0 or more; got {self.weight!r}")

    @property
    def outputs(self) -> int:
        """Classes Y, or 1 for a number."""
        return len(self.bias)

    def beside(self, other: ColumnPart) -> ColumnPart:
        """Return one part, with weight 1, that adds what this one and another of the same columns add."""
        both = ((self.weight, self), (other.weight, other))
        weights = sum(weight * part.weights for weight, part in both)
        bias = sum(weight * part.bias for weight, part in both)
        return replace(
            self, weights=np.asarray(weights, np.float32), bias=np.asarray(bias, np.float32), weight=1.0
        )

    def read(self, cells: Cells | None, where: str) -> Row:
        """Return what the columns of a request say; see `FeatureColumns.read`."""
        return self.columns.read(cells, where)

    def logits(self, rows: Sequence[Row]) -> Floats:
        """Return what is added to the network's logits, [N, Y]; a row does not depend on the others.

        Args:
            rows: of each example, from `read`.

        Returns:
            The logits.
        """
        found = np.empty((len(rows), self.outputs))
        for place, row in enumerate(rows):
            places, values = self.columns.features(row)
            found[place] = self.bias + values @ self.weights[places].astype(np.float64)
        return (self.weight * found).astype(np.float32)

    def shares(self, row: Row) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Share the logits of a row among its columns.

        Args:
            row: see `logits`.

        Returns:
            What a row of average columns has, [Y], and how much each column changes it, [C, Y]; together the logits.
        """
        places, values = self.columns.features(row)
        weights = self.weight * self.weights.astype(np.float64)
        centered = -self.means.astype(np.float64)
        centered[places] += values
        each = centered[:, None] * weights
        own = np.stack([each[a:b].sum(axis=0) for a, b in pairwise(self.columns.starts)])
        return self.weight * self.bias + self.means.astype(np.float64) @ weights, own

    def table(self) -> dict[str, object]:
        """Return what config.json says of the part, under `COLUMNS`."""
        return {"version": VERSION, "weight": self.weight, "columns": self.columns.table()}

    def tensors(self) -> dict[str, Floats]:
        """Return the tensors of a folder."""
        return {f"{COLUMNS}.{name}": np.ascontiguousarray(getattr(self, name)) for name in _TENSORS}


def read_column_part(
    table: Mapping[str, object], tensor: Callable[[str], NDArray[Any]], outputs: int
) -> ColumnPart:
    """Read what `ColumnPart.table` and `ColumnPart.tensors` wrote.

    Args:
        table: of config.json.
        tensor: returns a tensor by its whole name; raises UsageError where there is none.
        outputs: of the model.

    Returns:
        The part.

    Raises:
        UsageError: if something is missing, of another kind or version, or does not fit the model.
    """
    fields = Fields(table, "", f"{COLUMNS}.", UsageError)
    if (version := fields.whole("version")) != VERSION:
        raise fields.wrong(
            "version", f"must be {VERSION}; got {version}: use the version of heedful that wrote it"
        )
    columns = read_columns(fields.parts("columns"))
    found = {}
    for name in _TENSORS:
        values = tensor(f"{COLUMNS}.{name}")
        if values.dtype != np.float32:
            raise UsageError(f"tensor '{COLUMNS}.{name}' holds {values.dtype}, expected float32")
        found[name] = np.array(values)
    part = ColumnPart(columns, weight=float(fields.number("weight")), **found)
    if part.outputs != outputs:
        raise UsageError(f"the column part has {part.outputs} outputs, the network {outputs}")
    return part
