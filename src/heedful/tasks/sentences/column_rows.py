"""What the column part of a model learns from: the numbers of the columns beside each training example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from heedful.data.column_features import fitted_columns, plain_rows
from heedful.data.encoding import EncodedDataset
from heedful.errors import UsageError
from heedful.features.feature_columns import FeatureColumns, Row
from heedful.runtime.column_part import ColumnPart
from heedful.tasks.schema import About
from heedful.tasks.sentences.cross_validation import PartRows
from heedful.tasks.sentences.fitting_wide import FitSetting
from heedful.tasks.sentences.linear_fits import LinearFit

if TYPE_CHECKING:
    from scipy import sparse

BESIDE = "columns beside the text"
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Inverse strengths of regularization that are tried, the most regularized first."""


def column_rows(
    features: Sequence[str], training: EncodedDataset, dev: EncodedDataset | None
) -> PartRows | None:
    """Return what the column part reads of the examples.

    Args:
        features: ``data.features``.
        training: the examples that the part learns from.
        dev: further examples that choose; None where there are none.

    Returns:
        The part; None where no column is named.

    Raises:
        UsageError: if the examples have no columns.
        DataError: if a value is of another kind than its column.
    """
    if not features:
        return None
    if not training.cells:
        raise UsageError("data.features: the training examples have no columns beside the text")
    columns = fitted_columns(features, training.cells, training.rows.tolist())
    rows = _rows(columns, training)
    means = np.asarray(rows.mean(axis=0), np.float32).ravel()

    def put(about: About, fit: LinearFit, weight: float) -> About:
        part = ColumnPart(columns, fit.weights.astype(np.float32), fit.bias.astype(np.float32), means, weight)
        return replace(about, columns=part if about.columns is None else about.columns.beside(part))

    held = None if dev is None else _rows(columns, dev)
    return PartRows(BESIDE, rows, tuple(map(FitSetting, STRENGTHS)), put, held)


def _rows(columns: FeatureColumns, dataset: EncodedDataset) -> sparse.csr_matrix:
    """Return the numbers of the columns, one row an example, sparse [N, F]."""
    from scipy import sparse

    read: list[Row] = [
        columns.read_plain(row, where)
        for row, where in plain_rows(columns.names, dataset.cells, dataset.rows.tolist())
    ]
    found = [columns.features(row) for row in read]
    offsets = np.cumsum([0, *(len(places) for places, _ in found)])
    places = np.concatenate([np.zeros(0, np.int64), *(places for places, _ in found)])
    values = np.concatenate([np.zeros(0), *(values for _, values in found)])
    return sparse.csr_matrix((values, places, offsets), shape=(len(dataset), columns.width))
