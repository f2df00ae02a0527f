"""Tables of word vectors in few bytes: each row as small whole numbers along axes that suit what reads it.

A network reads a word vector x by matrices W. An error e of x changes W e, so what counts is the length of e under the
metric W'W. The axes are those of the table under this metric, the most spread first. Along all of them one step is
used, so that an axis along which nothing is spread costs nothing, and every row is rounded to whole steps. The numbers
of one axis stand one after the other, several in a byte where they are small, and gzip does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.export.recording import NetworkTable

CODES, SIZES = ".codes", ".sizes"
"""Ends the names of what stands beside the axes of a table, which have the name of the table itself."""
FEWEST_ROWS = 2048
"""A table of fewer rows is not worth its axes."""
Reals = NDArray[np.float64]
_DRAWN = 8_000
"""Rows by which the axes and the step are found, at most."""
_MOST = 127
_ROUNDED_DOWN = 0.1
"""So much more than half a step is rounded towards zero: it costs little and makes the numbers rarer."""
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Axes:
    """A table along axes.

    Attributes:
        codes: whole numbers of each row, [rows, axes] int8.
        axes: what one step along each axis adds to a vector, [axes, features] float32.
    """

    codes: NDArray[np.int8]
    axes: NDArray[np.float32]

    @property
    def table(self) -> NDArray[np.float32]:
        """The vectors that the numbers stand for, [rows, features]."""
        return self.codes.astype(np.float32) @ self.axes

    def tensors(self, name: str) -> dict[str, Tensor]:
        """Return what a file keeps: the axes in 8 bits, "codes" packed, and "sizes": rows, then the largest codes.

        Args:
            name: of the table.

        Returns:
            Tensors by name.
        """
        scale = np.maximum(np.abs(self.axes).max(1, initial=0), np.finfo(np.float32).tiny) / _MOST
        most = np.abs(self.codes.astype(np.int32)).max(0, initial=0)
        sizes = np.array([len(self.codes), *most], np.int32)
        return {
            name: torch.from_numpy(np.rint(self.axes / scale[:, None]).astype(np.int8)),
            f"{name}.scale": torch.from_numpy(scale.astype(np.float32)),
            name + CODES: torch.from_numpy(packed(self.codes, most)),
            name + SIZES: torch.from_numpy(sizes),
        }


def along_axes(table: NDArray[np.floating], metric: Reals, error: float) -> Axes:
    """Write a table of vectors along its axes.

    Args:
        table: [rows, features].
        metric: [features, features], symmetric and not negative: what an error counts.
        error: of all rows together, as a share of their length, both under the metric.

    Returns:
        The table, in the fewest numbers that keep the error.
    """
    rows = table.astype(np.float64)
    drawn = np.random.default_rng(0).permutation(len(rows))[:_DRAWN]
    into, back = _axes(rows[drawn], metric)
    values = rows @ into
    step = _step(values[drawn], error)
    codes = _whole(values, step)
    used = np.flatnonzero((codes != 0).any(0))
    # the mean of what is rounded to a number is a little nearer to zero than the number
    fitted = (values[:, used] * codes[:, used]).sum(0) / (codes[:, used].astype(np.float64) ** 2).sum(0)
    return Axes(
        np.ascontiguousarray(codes[:, used]), (fitted[:, None] * back[used]).astype(np.float32, order="C")
    )


def metric_of(description: NetworkTable, state: Mapping[str, Tensor]) -> Reals:
    """Return what an error of a word vector counts for a network: W'W of the layers that read it.

    A step that reads the vectors otherwise counts all directions alike, as much as a layer on average.

    Args:
        description: of the network.
        state: its tensors, of real numbers.

    Returns:
        [features, features].
    """
    features = state[description["words"]["trained"]].shape[1]
    metric, otherwise = np.zeros((features, features)), 0
    for step in description["read"]:
        if "words" in cast("Sequence[str]", step["of"]):
            if step["do"] == "dense":
                names = cast("Mapping[str, str]", step["weights"])
                weight = state[names["weight"]].double().numpy()
                metric += weight.T @ weight
            else:
                otherwise += 1
    size = np.trace(metric) / features or 1.0
    return metric + otherwise * size * np.eye(features)


def packed(codes: NDArray[np.int8], most: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """Write whole numbers axis by axis, as many in a byte as their sizes allow.

    Args:
        codes: [rows, axes].
        most: the largest size along each axis.

    Returns:
        The bytes; the numbers of a byte are digits, the first one counting most.
    """
    made = []
    for column, size in zip(codes.T.astype(np.int64), most, strict=True):
        base = 2 * int(size) + 1
        filled = np.full((-(-len(column) // in_a_byte(base)), in_a_byte(base)), int(size))
        filled.reshape(-1)[: len(column)] = column + int(size)
        made.append(filled @ base ** np.arange(in_a_byte(base))[::-1])
    return np.concatenate([np.zeros(0, np.int64), *made]).astype(np.uint8)


def in_a_byte(base: int) -> int:
    """Return how many digits of a base a byte holds."""
    count = 1
    while base ** (count + 1) <= 256:
        count += 1
    return count


def _axes(rows: Reals, metric: Reals) -> tuple[Reals, Reals]:
    """Return what turns rows into values along axes, [features, axes], and values into rows."""
    sizes, turned = np.linalg.eigh((metric + metric.T) / 2)
    kept = sizes > sizes.max() * _NEGLIGIBLE
    roots, turned = np.sqrt(sizes[kept]), turned[:, kept]
    measured = rows @ (turned * roots)
    _, own = np.linalg.eigh(measured.T @ measured)
    own = own[:, ::-1]
    return turned * roots @ own, own.T @ (turned / roots).T


def _step(values: Reals, error: float) -> float:
    """Return the longest step that keeps an error."""
    whole = np.sqrt((values**2).mean()) if values.size else 0.0
    if not whole:  # rows that no layer reads: any step keeps them
        return 1.0
    shortest, longest = max(np.abs(values).max() / _MOST, whole * 1e-3), whole * 20
    for _ in range(14):
        step = float(np.sqrt(shortest * longest))
        apart = np.sqrt(((values - step * _whole(values, step)) ** 2).mean())
        shortest, longest = (step, longest) if apart <= error * whole else (shortest, step)
    return float(shortest)


def _whole(values: Reals, step: float) -> NDArray[np.int8]:
    steps = np.floor(np.abs(values) / step + 0.5 - _ROUNDED_DOWN)
    return np.where(values < 0, -np.minimum(steps, _MOST), np.minimum(steps, _MOST)).astype(np.int8)
