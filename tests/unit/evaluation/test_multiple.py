"""Holm's adjustment against hand-worked values."""

from __future__ import annotations

import pytest

from heedful.errors import UsageError
from heedful.evaluation import holm


def test_by_hand() -> None:
    # 0.01 * 4, 0.02 * 3, 0.03 * 2, 0.2 * 1; the third may not fall below the second
    assert holm([0.2, 0.01, 0.03, 0.02]) == pytest.approx([0.2, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([0.04]) == [0.04]
    assert holm([]) == []


def test_what_is_no_p_value_is_refused() -> None:
    with pytest.raises(UsageError, match="must lie in"):
        holm([0.5, 1.5])
    with pytest.raises(UsageError, match="must lie in"):
        holm([float("nan")])
