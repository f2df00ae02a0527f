"""Linear baselines: features, a classifier, and a short list of strengths that the dev split chooses from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from heedful.baselines.nbsvm import NBSVM
from heedful.baselines.sparse_rows import Sides, character_tfidf, word_presence, word_tfidf
from heedful.baselines.splits import Splits, Texts
from heedful.evaluation import classification_metrics, relatedness_metrics

CHOOSING = 30_000
"""Training examples that decide on the strength of regularization at most."""


@dataclass(frozen=True)
class LinearBaseline:
    """Features of texts and what is trained on them.

    Attributes:
        name: for tables.
        features: makes what turns texts into rows, untrained.
        estimator: makes a classifier, or a regressor for scores, from the strength of its regularization.
        grid: the strengths that the dev split chooses from, the most regularized first.
    """

    name: str
    features: Callable[[], Any]
    estimator: Callable[[float], object]
    grid: tuple[float, ...]

    def train(self, splits: Splits) -> LinearModel:
        """Train once for each strength, and keep the model that is best on dev; of equals the more regularized.

        Of more than `CHOOSING` training examples, so many drawn ones decide on the strength, and all train at it.

        Args:
            splits: the data; the test split is not touched.

        Returns:
            The model.
        """
        if len(splits.train) > CHOOSING:
            strength = self.train(splits.limited(CHOOSING, seed=0)).strength
            return replace(self, grid=(strength,))._train(splits)
        return self._train(splits)

    def _train(self, splits: Splits) -> LinearModel:
        features = self.features()
        rows = features.fit(splits.train.texts).transform(splits.train.texts)
        dev = features.transform(splits.dev.texts)
        found: list[tuple[float, LinearModel]] = []
        for strength in self.grid:
            estimator = _trained(self.estimator(strength), rows, splits.train.gold)
            model = LinearModel(features, estimator, strength, len(splits.labels))
            found.append((_dev_metric(splits, model.of_rows(dev)), model))
        return max(found, key=lambda pair: pair[0])[1]


@dataclass(frozen=True)
class LinearModel:
    """A trained linear baseline.

    Attributes:
        features: turns texts into rows.
        estimator: trained on them.
        strength: the one that was chosen.
        classes: how many there are, also such as training lacked; 0 for scores.
    """

    features: Any
    estimator: Any
    strength: float
    classes: int

    def outputs(self, texts: Texts) -> NDArray[np.float64]:
        """Return logits of texts or pairs, [N, Y], or scores, [N]."""
        return self.of_rows(self.features.transform(texts))

    @property
    def chosen(self) -> str:
        """What the dev split chose: the inverse strength of regularization."""
        return f"C = {self.strength:g}"

    @property
    def megabytes(self) -> float:
        """What the model takes on disk: weights and features as 4-byte numbers, and its words as text."""
        numbers = np.size(self.estimator.coef_) + np.size(self.estimator.intercept_)
        return (4 * numbers + self.features.bytes) / 1e6

    def of_rows(self, rows: Any) -> NDArray[np.float64]:
        """Return the same for what `features` made of texts."""
        if not self.classes:
            return np.asarray(self.estimator.predict(rows), np.float64)
        margins = np.asarray(self.estimator.decision_function(rows), np.float64)
        if margins.ndim == 1:
            margins = np.stack([-margins / 2, margins / 2], axis=1)
        logits = np.full((len(margins), self.classes), _NEVER)
        logits[:, self.estimator.classes_] = margins
        return logits


_NEVER = -1e3
"""The logit of a class that training had no example of."""

TFIDF_LOGISTIC = LinearBaseline(
    "TF-IDF (words 1-2) + logistic regression",
    lambda: Sides(word_tfidf()),
    lambda strength: LogisticRegression(C=strength, max_iter=300, tol=1e-3),
    (1.0, 3.0, 10.0, 30.0),
)
NB_SVM = LinearBaseline(
    "NB-SVM (words 1-2)", lambda: Sides(word_presence()), lambda strength: NBSVM(C=strength), (0.01, 0.1, 1.0)
)
CHARACTER_SVM = LinearBaseline(
    "TF-IDF (characters 2-5) + linear SVM",
    lambda: Sides(character_tfidf()),
    lambda strength: LinearSVC(C=strength, random_state=0, max_iter=5_000),
    (0.1, 0.3, 1.0, 3.0),
)
TFIDF_RIDGE = LinearBaseline(
    "TF-IDF (words 1-2) + ridge regression",
    lambda: Sides(word_tfidf()),
    lambda strength: Ridge(alpha=1 / strength, solver="lsqr"),
    (0.1, 0.3, 1.0, 3.0, 10.0),
)


def _trained(estimator: Any, rows: Any, gold: NDArray[Any]) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the dev split judges what came of it
        return estimator.fit(rows, gold)


def _dev_metric(splits: Splits, outputs: NDArray[np.float64]) -> float:
    """Return the accuracy on dev, or Pearson's correlation for scores."""
    gold = splits.dev.gold
    if not splits.labels:
        return relatedness_metrics(gold, outputs)["pearson"]
    return classification_metrics(gold, outputs.argmax(axis=1))["accuracy"]
