"""scikit-learn's common tests, by its own main loop, with texts in place of numbers.

Its checks make tables of numbers. An estimator of this file writes each row of a table as a text, one word a column,
and hands it to the estimator that is tested; what is no table of numbers reaches that estimator as it is.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import pytest
from sklearn.utils import Tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from heedful import TextClassifier, TextScorer
from heedful.data.examples import Corpus
from heedful.run import RunConfig
from heedful.run.recipe_files import override

SMALL = {
    "data.few_rows": 0,
    "model.width": 4,
    "model.hidden": 4,
    "model.sentence": "none",
    "text.vectors": "",
    "train.device": "cpu",
    "train.max_steps": 3,
    "train.optimizer.lr": 0.02,
}
REASONS = {
    "check_n_features_in": "a text has no number of features",
    "check_n_features_in_after_fitting": "a text has no number of features",
    "check_fit2d_predict1d": "texts stand in one dimension, so that nothing is to be reshaped",
    "check_sample_weight_equivalence_on_dense_data": (
        "batches are drawn: an example twice is another training than one of weight 2, as in SGDClassifier"
    ),
}


def _sentence(row: list[float]) -> object:
    odd = [value for value in row if not math.isfinite(value)]
    return odd[0] if odd else " ".join(f"{chr(97 + k)}{value:.1f}" for k, value in enumerate(row))


class _OfNumbers:
    """Writes the rows of a table as texts; it knows the number of columns, as a vectorizer of texts would not."""

    def fit(self, X: object, y: object, *, sample_weight: object = None) -> Self:
        self.columns_ = np.asarray(X).shape[-1:]
        return super().fit(X, y, sample_weight=sample_weight, baseline=False)  # type: ignore[misc]

    def _texts(self, X: object) -> Any:
        table = np.empty(0) if hasattr(X, "toarray") else np.asarray(X)
        if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "biufO":
            return X
        if table.shape[1:] != self.columns_:
            raise ValueError(f"X has another number of columns than {self.columns_}")
        numbers = [[v if isinstance(v, float | int) else 0 for v in row] for row in table.tolist()]
        return [_sentence(row) for row in numbers]

    def _requests(self, X: object) -> Corpus:
        return super()._requests(self._texts(X))  # type: ignore[misc, no-any-return]

    def encode(self, texts: object) -> Any:
        return super().encode(self._texts(texts))  # type: ignore[misc]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags

    @classmethod
    def _defaults(cls) -> RunConfig:
        return override(super()._defaults(), SMALL)  # type: ignore[misc]


class NumbersClassifier(_OfNumbers, TextClassifier): ...


class NumbersScorer(_OfNumbers, TextScorer): ...


@parametrize_with_checks(
    [NumbersClassifier(), NumbersScorer()],
    expected_failed_checks=lambda estimator: REASONS,
    xfail_strict=True,
)
@pytest.mark.filterwarnings("default")
def test_a_common_test_passes(estimator: Any, check: Any) -> None:
    check(estimator)
