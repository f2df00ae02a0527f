"""scikit-learn's common tests of an estimator, all of them: their numbers become texts before they are read."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import validate_data

from heedful import TextClassifier
from heedful.data.examples import Corpus

ALLOWED: dict[str, str] = {}
"""Checks that may fail, each with the reason."""


class NumbersAsTexts(TextClassifier):
    """Reads a row of numbers as a text with a word for each column, the number rounded to a half."""

    def fit(self, X: object, y: object, *, sample_weight: object = None) -> NumbersAsTexts:  # type: ignore[override]
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        texts = self._texts(X, reset=True)
        return super().fit(texts, column_or_1d(y, warn=True), sample_weight=sample_weight, baseline=False)

    def _requests(self, X: object) -> Corpus:
        is_text = isinstance(X, list) and all(isinstance(each, str) for each in X)
        return super()._requests(X if is_text else self._texts(X, reset=False))

    def _texts(self, X: object, *, reset: bool) -> list[str]:
        rows = validate_data(self, X, reset=reset, dtype=float)
        return [
            " ".join(f"c{k}v{int(np.floor(2 * value))}" for k, value in enumerate(row.tolist()))
            for row in rows
        ]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.string = False
        tags.input_tags.two_d_array = True
        return tags


@pytest.mark.filterwarnings("ignore")
def test_the_common_tests_pass() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(NumbersAsTexts(train__device="cpu"), on_fail=None)
    failed = {
        str(one["check_name"]): f"{type(one['exception']).__name__}: {one['exception']}"
        for one in found
        if one["status"] == "failed"
    }
    assert len(found) >= 50
    assert failed.keys() <= ALLOWED.keys(), failed
