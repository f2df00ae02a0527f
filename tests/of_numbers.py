"""scikit-learn's common tests make tables of numbers: each row is written as texts here, and handed to an estimator."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

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
    "train.max_steps": 1,
    "train.optimizer.lr": 0.02,
}
"""Settings under which a fit takes a part of a second."""
REASONS = {
    "check_n_features_in": "a text has no number of features",
    "check_n_features_in_after_fitting": "a text has no number of features",
    "check_fit2d_predict1d": "texts stand in one dimension, so that nothing is to be reshaped",
    "check_sample_weight_equivalence_on_dense_data": (
        "batches are drawn: an example twice is another training than one of weight 2, as in SGDClassifier"
    ),
}
"""Why a common test fails for every estimator of texts."""


def _sentence(row: list[float]) -> object:
    odd = [value for value in row if not math.isfinite(value)]
    return odd[0] if odd else " ".join(f"{chr(97 + k)}{value:.1f}" for k, value in enumerate(row))


class OfNumbers:
    """Writes the rows of a table as texts; it knows the number of columns, as a vectorizer of texts would not."""

    def fit(self, X: object, y: object, *, sample_weight: object = None) -> Self:
        self.columns_ = np.asarray(X).shape[-1:]
        return super().fit(X, y, sample_weight=sample_weight, baseline=False)  # type: ignore[misc]

    def _texts(self, X: object) -> Any:
        table = np.empty(0) if hasattr(X, "toarray") else np.asarray(X)
        if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "biufO":
            return X
        columns = self.__dict__.setdefault(
            "columns_", table.shape[1:]
        )  # the first rows may come to `partial_fit`
        if table.shape[1:] != columns:
            raise ValueError(f"X has another number of columns than {columns}")
        numbers = [[v if isinstance(v, float | int) else 0 for v in row] for row in table.tolist()]
        return [_sentence(row) for row in numbers]

    def _requests(self, X: object) -> Corpus:
        return super()._requests(self._texts(X))  # type: ignore[misc, no-any-return]

    def encode(self, texts: object) -> Any:
        """Compute vectors in double precision: the tests compare them to 1e-7, which is the rounding of single ones."""
        network = getattr(getattr(self, "predictor", None), "network", None)
        if network is not None:
            network.double()
        return super().encode(self._texts(texts))  # type: ignore[misc]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags

    @classmethod
    @cache
    def _defaults(cls) -> RunConfig:
        return override(super()._defaults(), SMALL)  # type: ignore[misc]
