"""Sums over training rows that a model keeps, so that it can learn on as if it still had the rows.

What a linear part learns depends on its rows by few sums: how features of whole texts occur together, how they occur
with each class, and how many rows of each class have a word. Sums of new rows are added to those of old ones. A folder
has them as the tensors ``sums.classes``, ``sums.totals``, ``sums.spreads``, ``sums.together``, ``sums.numbers``,
``sums.places``, ``sums.counts`` and ``sums.losses``; config.json says under "sums" which features they are of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import UsageError

SUMS = "sums"
"""Key of config.json, and what the names of the tensors begin with."""
MOST_DENSE = 2_048
"""Features of whole texts of which sums are kept at most: their products take the square of the number."""
_MOST_CODE = 32_767
Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeptSums:
    """Sums over training rows x with classes, each row by its weight.

    Attributes:
        features: kinds of features of whole texts, each with how many numbers it has; D in all.
        classes: rows of each class, [Y].
        totals: sums of the rows of each class, [Y, D].
        products: sums of the products of two features around their means, [D, D].
        numbers: words and runs of characters, [n] int32, ascending; see `heedful.text.wide_part.PhraseRule`.
        places: feature times Y plus class, for each pair that a row has, [k] int64, ascending.
        counts: how many rows have it, [k].
        losses: how unlikely each setting made rows before they were added, summed; what the settings are is said by
            whoever learns.

    Raises:
        UsageError: if the shapes do not belong together.
    """

    features: tuple[tuple[str, int], ...]
    classes: Floats
    totals: Floats
    products: Floats
    numbers: NDArray[np.int32]
    places: NDArray[np.int64]
    counts: Floats
    losses: Floats

    def __post_init__(self) -> None:
        width, outputs = sum(count for _, count in self.features), len(self.classes)
        most = len(self.numbers) * outputs
        fits = self.totals.shape == (outputs, width) and self.products.shape == (width, width)
        rising = not (np.diff(self.places) <= 0).any() and not (np.diff(self.numbers) <= 0).any()
        inside = not len(self.places) or (self.places[0] >= 0 and self.places[-1] < most)
        finite = all(
            np.isfinite(each).all() for each in (self.classes, self.totals, self.products, self.counts)
        )
        if not (fits and rising and inside and finite and self.places.shape == self.counts.shape):
            raise UsageError(f"sums: {width} features of {outputs} classes and their tensors do not fit")

    @property
    def rows(self) -> float:
        """How many rows were added."""
        return float(self.classes.sum())

    def with_classes(self, columns: NDArray[np.int64], outputs: int) -> KeptSums:
        """Return the same sums beside further classes.

        Args:
            columns: number that each class has from now on, [Y].
            outputs: how many classes there are.

        Returns:
            The sums; a further class has no row.
        """
        classes, totals = np.zeros(outputs), np.zeros((outputs, self.totals.shape[1]))
        classes[columns], totals[columns] = self.classes, self.totals
        feature, own = np.divmod(self.places, len(self.classes))
        places = feature * outputs + columns[own]
        order = np.argsort(places)
        return KeptSums(
            self.features,
            classes,
            totals,
            self.products,
            self.numbers,
            places[order],
            self.counts[order],
            self.losses,
        )

    def table(self) -> dict[str, object]:
        """Return what config.json says of the sums, under `SUMS`."""
        return {"features": [[name, count] for name, count in self.features]}

    def tensors(self) -> dict[str, Array]:
        """Return the tensors of a folder; products as correlations of 16 bits, of which half says all."""
        spreads = np.sqrt(np.maximum(np.diagonal(self.products), 0))
        scale = np.where(spreads > 0, spreads, 1)
        related = self.products / scale[:, None] / scale
        half = np.tril_indices(len(spreads))
        found: dict[str, Array] = {
            "classes": self.classes,
            "totals": self.totals.astype(np.float32).ravel(),
            "spreads": spreads,
            "together": np.rint(related[half].clip(-1, 1) * _MOST_CODE).astype("<i2").view(np.uint8),
            "numbers": self.numbers,
            "places": self.places,
            "counts": self.counts.astype(np.float32),
            "losses": self.losses,
        }
        return {f"{SUMS}.{name}": np.ascontiguousarray(each) for name, each in found.items()}


def read_kept_sums(table: Mapping[str, object], tensor: Callable[[str], Array], outputs: int) -> KeptSums:
    """Read what `KeptSums.table` and `KeptSums.tensors` wrote.

    Args:
        table: of config.json.
        tensor: returns a tensor by its whole name; raises UsageError where there is none.
        outputs: logits of the model, Y.

    Returns:
        The sums.

    Raises:
        UsageError: if something is missing, of another kind, or does not fit the model.
    """
    listed = table.get("features")
    if table.keys() != {"features"} or not isinstance(listed, list):
        raise UsageError(f"sums: expected features; got {dict(table)!r:.200}")
    features = []
    for each in listed:
        if not (isinstance(each, list) and list(map(type, each)) == [str, int] and each[1] >= 0):
            raise UsageError(f"sums: expected kinds of features with how many there are; got {each!r:.80}")
        features.append((each[0], each[1]))
    width = sum(count for _, count in features)

    def read(name: str, kind: type[np.generic], size: int | None = None) -> Array:
        found = tensor(f"{SUMS}.{name}")
        if found.dtype != kind or found.ndim != 1 or size not in (None, len(found)):
            raise UsageError(f"tensor '{SUMS}.{name}' does not fit {width} features of {outputs} classes")
        return found

    if width > MOST_DENSE:
        raise UsageError(f"sums: at most {MOST_DENSE:,} features of whole texts; got {width:,}")
    spreads = read("spreads", np.float64, width)
    products = np.zeros((width, width))
    half = np.tril_indices(width)
    products[half] = read("together", np.uint8, 2 * len(half[0])).view("<i2") / _MOST_CODE
    products += np.tril(products, -1).T
    products *= spreads[:, None] * spreads
    return KeptSums(
        tuple(features),
        read("classes", np.float64, outputs),
        read("totals", np.float32, outputs * width).astype(np.float64).reshape(outputs, width),
        products,
        read("numbers", np.int32),
        read("places", np.int64),
        read("counts", np.float32).astype(np.float64),
        read("losses", np.float64),
    )
