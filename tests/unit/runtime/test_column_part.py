"""The linear model over columns beside a text: its logits, its shares, and what a folder keeps of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heedful.errors import UsageError
from heedful.features.feature_columns import FeatureColumns
from heedful.features.feature_kinds import Wanted
from heedful.runtime.column_part import ColumnPart, read_column_part


def part() -> ColumnPart:
    rows = [[number, "abc"[number % 3]] for number in range(40)]
    columns = FeatureColumns.fitted([Wanted("size"), Wanted("shop")], rows, str)
    rng = np.random.default_rng(0)
    weights, means = rng.normal(size=(columns.width, 2)), rng.random(columns.width)
    return ColumnPart(
        columns, weights.astype(np.float32), np.array([0.5, -1], np.float32), means.astype(np.float32), 0.7
    )


def test_what_the_columns_share_adds_up_to_the_logits() -> None:
    own = part()
    row = own.read({"size": 3, "shop": "b", "more": 1}, "request 1")
    start, each = own.shares(row)
    assert each.shape == (2, 2)
    np.testing.assert_allclose(start + each.sum(axis=0), own.logits([row])[0], rtol=1e-5)


def test_two_parts_of_the_same_columns_become_one() -> None:
    own = part()
    row = own.read({"size": None, "shop": "new"}, "request 1")
    both = own.beside(replace(own, weight=0.3))
    np.testing.assert_allclose(both.logits([row]), own.logits([row]) / 0.7, rtol=1e-5)


def test_a_folder_gives_it_back_and_is_checked() -> None:
    own = part()
    tensors = own.tensors()
    again = read_column_part(own.table(), tensors.__getitem__, 2)
    row = own.read({"size": 7, "shop": "a"}, "")
    assert (again.logits([row]) == own.logits([row])).all()
    for change, message in (
        ({"version": 2}, "version must be 1"),
        ({"weight": -1.0}, "weight"),
        ({"columns": []}, "one or more"),
    ):
        with pytest.raises(UsageError, match=message):
            read_column_part({**own.table(), **change}, tensors.__getitem__, 2)
    with pytest.raises(UsageError, match="2 outputs, the network 3"):
        read_column_part(own.table(), tensors.__getitem__, 3)
    broken = {**tensors, "columns.means": np.full(own.columns.width, np.nan, np.float32)}
    with pytest.raises(UsageError, match="not finite"):
        read_column_part(own.table(), broken.__getitem__, 2)
    short = {**tensors, "columns.bias": tensors["columns.bias"][:1]}
    with pytest.raises(UsageError, match="do not fit"):
        read_column_part(own.table(), short.__getitem__, 2)
