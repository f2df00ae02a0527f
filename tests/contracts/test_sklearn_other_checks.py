"""scikit-learn's common tests for the estimators of pairs, of several labels and of tags, numbers written as such.

Each row of a table of numbers becomes two texts, or a list of words; each class becomes a list of one label, or a tag
for each word. What stays to fail is about what such targets are not, with a reason for each. `PairScorer` joins what
the tests of `PairClassifier` and of `TextScorer` try. Numbers beyond its grades are learned without an order of the
texts, so without the linear part over words, and its small network needs more steps for the test of a fit than the
others, of which that part fits such numbers by itself.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_regressors_train, parametrize_with_checks

from heedful import MultiLabelClassifier, PairClassifier, PairScorer, TokenTagger
from heedful.run import RunConfig
from heedful.run.recipe_files import override
from of_numbers import REASONS, SMALL, OfNumbers

SETS = "its targets are sets of labels, and its answers a matrix of them"
LABELS = {
    **dict.fromkeys(("check_classifiers_one_label", "check_classifiers_train"), SETS),
    "check_classifiers_classes": "the names of labels are strings, whatever the classes were",
    "check_classifiers_regression_target": "a number is written as the name of a label here",
    "check_supervised_y_no_nan": "a number is written as the name of a label here",
    "check_supervised_y_2d": "a table of targets is a matrix of zeros and ones",
}


TAG_LISTS = "its answers are lists of tags, of which the test would take differences"
WORD_LISTS = "a text is a list of words here, and the message speaks of words"
TAGS = {
    **dict.fromkeys(("check_estimators_pickle", "check_fit_idempotent"), TAG_LISTS),
    **dict.fromkeys(("check_methods_sample_order_invariance", "check_methods_subset_invariance"), TAG_LISTS),
    **dict.fromkeys(("check_complex_data", "check_estimators_empty_data_messages"), WORD_LISTS),
    **dict.fromkeys(("check_estimators_nan_inf", "check_fit2d_1sample"), WORD_LISTS),
}


class OfPairs(OfNumbers):
    """Writes the rows of a table as pairs of texts."""

    def _texts(self, X: object) -> Any:
        texts = super()._texts(X)
        return texts if texts is X else [(text, text) for text in texts]


class NumbersPairs(OfPairs, PairClassifier): ...


class NumbersPairScorer(OfPairs, PairScorer): ...


class NumbersLabels(OfNumbers, MultiLabelClassifier):
    """Writes each class as a list of one label."""

    def fit(self, X: object, y: object, *, sample_weight: object = None) -> Self:
        return super().fit(X, _lists(y), sample_weight=sample_weight)

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        return super().score(X, _lists(y), sample_weight=sample_weight)


class NumbersTagger(OfNumbers, TokenTagger):
    """Writes each row as a list of words, and its class as the tag of each."""

    def fit(self, X: object, y: object, *, sample_weight: object = None) -> Self:
        return super().fit(X, _lists(y), sample_weight=sample_weight)

    def _texts(self, X: object) -> Any:
        texts = super()._texts(X)
        return texts if texts is X else [text.split() if isinstance(text, str) else text for text in texts]

    def _examples(self, X: object, y: object, targets: Any) -> Any:
        texts = self._texts(X)
        same = isinstance(y, list) and isinstance(texts, list) and len(y) == len(texts)
        tags = [own * len(words) for own, words in zip(y, texts, strict=True)] if same else y
        return super()._examples(texts, tags, targets)

    def answer(self, X: object) -> Any:
        assert self.predictor is not None  # raises where nothing is fitted
        return super().answer(self._texts(X))

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        return super().score(X, _lists(y), sample_weight=sample_weight)

    @classmethod
    @cache
    def _defaults(cls) -> RunConfig:
        own = {name: value for name, value in SMALL.items() if name not in ("model.hidden", "text.vectors")}
        return override(super(OfNumbers, cls)._defaults(), own)


def _lists(y: object) -> Any:
    values = np.asarray(y)
    return [[str(value)] for value in values] if values.ndim == 1 and values.dtype.kind in "biufOU" else y


EXPECTED = {NumbersLabels: LABELS, NumbersTagger: TAGS}


@parametrize_with_checks(
    [kind() for kind in EXPECTED],
    expected_failed_checks=lambda estimator: {**REASONS, **EXPECTED[type(estimator)]},
    xfail_strict=True,
)
@pytest.mark.filterwarnings("default")
def test_a_common_test_passes_for_other_estimators(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.filterwarnings("default")
def test_scores_of_pairs_are_fitted() -> None:
    check_regressors_train("PairScorer", NumbersPairScorer(train__max_steps=40))
