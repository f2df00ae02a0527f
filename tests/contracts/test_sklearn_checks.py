"""scikit-learn's common tests, by its own main loop, with texts in place of numbers.

An estimator of this file writes each row of a table as a text, one word a column, and hands it to the estimator that is
tested; what is no table of numbers reaches that estimator as it is.
"""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from heedful import TextClassifier, TextScorer
from of_numbers import REASONS, OfNumbers


class NumbersClassifier(OfNumbers, TextClassifier): ...


class NumbersScorer(OfNumbers, TextScorer): ...


@parametrize_with_checks(
    [NumbersClassifier(), NumbersScorer()],
    expected_failed_checks=lambda _: REASONS,
    xfail_strict=True,
)
@pytest.mark.filterwarnings("default")
def test_a_common_test_passes(estimator: Any, check: Any) -> None:
    check(estimator)
