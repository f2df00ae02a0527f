"""What reports of classes, labels and tags share: the order of the classes, and cells that say what was measured."""

from __future__ import annotations

import numpy as np
import pytest

from heedful.run.glance.shared_tables import MOST_IN_ORDER, by_rows, calibration_table, score_cells


@pytest.mark.parametrize("count", [0, 1, MOST_IN_ORDER])
def test_few_classes_keep_their_order(count: int) -> None:
    assert by_rows([k % 3 for k in range(count)]) == list(range(count))


def test_of_many_those_with_the_most_rows_come_first_and_equal_ones_keep_their_order() -> None:
    counts = [0] * 30
    counts[7], counts[20], counts[3] = 5, 9, 5
    assert by_rows(counts)[:4] == [20, 3, 7, 0]
    assert sorted(by_rows(counts)) == list(range(30))


def test_a_class_without_a_row_has_no_figure() -> None:
    assert score_cells(0, 0.0, 0.0, 0.0) == ("-", "-", "-")
    assert score_cells(2, 0.0, 1.0, 0.12345) == ("0.000", "1.000", "0.123")


def test_probabilities_stand_beside_how_often_they_come_true() -> None:
    shares = np.array([0.05, 0.95, 0.95, 1.0])
    (table,) = calibration_table(shares, np.array([False, True, False, True]), "labels")
    assert [row[-1] for row in table.rows] == ["1", "3"]
    assert calibration_table(np.empty(0), np.empty(0, bool), "labels") == ()
