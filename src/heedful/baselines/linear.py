"""Linear baselines: sparse rows of n-grams, a classifier, and a few strengths that the dev split chooses from.

NB-SVM (Wang and Manning, ACL 2012) is a linear SVM over n-grams scaled by their naive Bayes log-count ratios.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from heedful.baselines.settled_logistic import SettledLogistic
from heedful.baselines.shared_features import ReadOnce, RunsTfidf
from heedful.baselines.splits import Features, Numbers, Rows, Splits, Texts
from heedful.evaluation import classification_metrics, relatedness_metrics
from heedful.machine.memory import give_back
from heedful.text.boundaries import UNSPACED_CLASS

WORD = rf"(?u)[^\W{UNSPACED_CLASS}]+|[{UNSPACED_CLASS}]|[^\w\s]"
"""A word, or one mark that is neither a word nor a space: "n't" and "!" say much about a review.

Where no spaces are written between words, each character is one, as in Chinese.
"""


def word_tfidf() -> TfidfVectorizer:
    """Return lower-cased words and pairs of neighbors, weighted by TF-IDF with logarithmic counts; rows of length 1."""
    return TfidfVectorizer(token_pattern=WORD, ngram_range=(1, 2), sublinear_tf=True, dtype=np.float32)


def character_tfidf() -> TfidfVectorizer:
    """Return runs of 2 to 5 characters inside words, weighted likewise."""
    return RunsTfidf(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, dtype=np.float32)


def word_presence() -> CountVectorizer:
    """Return 1 for every word and pair of neighbors that is there, however often."""
    return CountVectorizer(token_pattern=WORD, ngram_range=(1, 2), binary=True, dtype=np.float32)


class Sides(TransformerMixin, BaseEstimator):
    """The rows of texts; of pairs both texts', and how the two differ and agree: ``[u; v; |u - v|; u * v]``.

    Both texts of a pair share one vocabulary.

    Args:
        vectorizer: what makes a row of a text.
    """

    def __init__(self, vectorizer: CountVectorizer | TfidfVectorizer | ReadOnce) -> None:
        self.vectorizer = vectorizer

    def fit(self, X: Texts, y: object = None) -> Self:
        """Collect the vocabulary of training texts."""
        self.vectorizer.fit([text for texts in X for text in texts])
        self.is_fitted_ = True
        return self

    def fit_transform(self, X: Texts, y: object = None) -> sparse.csr_matrix:
        """Collect the vocabulary of training texts and return their rows, so that each text is read once."""
        rows = self.vectorizer.fit_transform([text for texts in X for text in texts]).tocsr()
        rows.sort_indices()
        self.is_fitted_ = True
        sides = len(X[0])
        return rows if sides == 1 else compared(*(rows[side::sides] for side in range(sides)))

    @property
    def bytes(self) -> int:
        """What the vocabulary takes on disk: each n-gram as text with an end, and its weight in 4 bytes."""
        return sum(len(term.encode("utf-8")) + 5 for term in self.vectorizer.vocabulary_)

    def transform(self, X: Texts) -> sparse.csr_matrix:
        """Return one sparse row an example."""
        columns = [self.vectorizer.transform(list(side)) for side in zip(*X, strict=True)]
        return columns[0].tocsr() if len(columns) == 1 else compared(*columns)


def compared(u: sparse.csr_matrix, v: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return ``[u; v; |u - v|; u * v]`` of sparse rows."""
    return sparse.hstack([u, v, abs(u - v), u.multiply(v)], format="csr")


class NBSVM(ClassifierMixin, BaseEstimator):
    """The paper's classifier; with more than two classes one against the rest, as there.

    With ``p`` and ``q`` the smoothed counts of each feature inside and outside a class, the SVM sees
    ``x * log((p / |p|) / (q / |q|))``, and its weights are drawn towards their mean size: ``(1 - β) |w|/V + β w``. So
    is its intercept towards that of naive Bayes, the log-odds of the class, at the same scale; with the SVM's own
    alone, which the paper's formula may mean, classes of different size are confused (CR: 71 %, not 82 %).

    Args:
        C: inverse strength of the SVM's regularization.
        alpha: added to every count.
        beta: share of the SVM's own weights; the rest is naive Bayes.

    Attributes:
        classes_: the classes, sorted.
        coef_: weights, [Y, V]; of two classes only the second's, [1, V].
        intercept_: likewise, [Y] or [1].
    """

    def __init__(self, C: float = 1.0, alpha: float = 1.0, beta: float = 0.25) -> None:
        self.C, self.alpha, self.beta = C, alpha, beta

    def fit(self, X: sparse.csr_matrix, y: Numbers, sample_weight: NDArray[np.float64] | None = None) -> Self:
        """Train.

        Args:
            X: 1 where a feature is present, [N, V].
            y: classes, [N], of which there are at least two.
            sample_weight: how much each row counts, also in the counts of features, [N]; None for once.

        Returns:
            The classifier.
        """
        self.classes_ = np.unique(y)
        wanted = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        found = [self._against_the_rest(X, np.asarray(y) == name, sample_weight) for name in wanted]
        self.coef_ = np.stack([weights for weights, _ in found])
        self.intercept_ = np.array([intercept for _, intercept in found])
        return self

    def decision_function(self, X: sparse.csr_matrix) -> NDArray[np.float64]:
        """Return the margin of each class, [N, Y]; of two classes that of the second, [N]."""
        margins = np.asarray(X @ self.coef_.T) + self.intercept_
        return margins[:, 0] if len(self.classes_) == 2 else margins

    def predict(self, X: sparse.csr_matrix) -> NDArray[np.int64]:
        """Return the class of the largest margin, [N]."""
        margins = self.decision_function(X)
        best = (margins > 0).astype(int) if margins.ndim == 1 else margins.argmax(axis=1)
        predicted: NDArray[np.int64] = self.classes_[best]
        return predicted

    def _against_the_rest(
        self, X: sparse.csr_matrix, inside: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], float]:
        times = np.ones(len(inside)) if sample_weight is None else sample_weight
        p, q = (times[rows].astype(X.dtype) @ X[rows] + self.alpha for rows in (inside, ~inside))
        ratio = np.log(p / p.sum()) - np.log(q / q.sum())
        svm = LinearSVC(C=self.C, random_state=0, max_iter=5_000)
        svm.fit(X.multiply(ratio).tocsr(), inside, sample_weight)
        weights = svm.coef_[0]
        bayes = (1 - self.beta) * float(np.abs(weights).mean())
        odds = float(np.log(times[inside].sum() / times[~inside].sum()))
        return ratio * (bayes + self.beta * weights), bayes * odds + self.beta * float(svm.intercept_[0])


CHOOSING = 3_000
"""Training examples that decide on the strength of regularization at most."""
MANY_CLASSES = 20
"""Classes above which a baseline with a fit for each class does not choose its strength."""


class LinearEstimator(Protocol):
    """A linear classifier or regressor as scikit-learn writes them.

    Attributes:
        coef_: weights, once it is trained.
        intercept_: likewise.
        classes_: the classes of a classifier.
    """

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    classes_: NDArray[np.int64]

    def fit(self, X: Rows, y: Numbers, sample_weight: NDArray[np.float64] | None = None) -> Self:
        """Train; with weights, [N], each row counts by its own."""

    def predict(self, X: Rows) -> NDArray[np.generic]:
        """Return the class or the number of each row, [N]."""

    def decision_function(self, X: Rows) -> NDArray[np.float64]:
        """Return the margins of a classifier, [N, Y] or [N]."""


@dataclass(frozen=True)
class LinearBaseline:
    """Features of texts and what is trained on them.

    Attributes:
        name: for tables.
        features: makes what turns texts into rows, untrained.
        estimator: makes a classifier, or a regressor for scores, from the strength of its regularization.
        grid: the strengths that the dev split chooses from, the most regularized first.
        separate: whether each class has a slow fit of its own, so that many classes take the middle strength.
    """

    name: str
    features: Callable[[], Features]
    estimator: Callable[[float], LinearEstimator]
    grid: tuple[float, ...]
    separate: bool = False

    def train(self, splits: Splits) -> LinearModel:
        """Train once for each strength, and keep the model that is best on dev; of equals the more regularized.

        Of more than `CHOOSING` training examples, so many drawn ones decide on the strength, and all train at it.

        Args:
            splits: the data; the test split is not touched.

        Returns:
            The model.
        """
        if self.separate and len(splits.labels) > MANY_CLASSES:
            return replace(self, separate=False, grid=(self.grid[len(self.grid) // 2],)).train(splits)
        if len(splits.train) > CHOOSING:
            strength = self.train(splits.limited(CHOOSING, seed=0)).strength
            give_back()
            return replace(self, grid=(strength,))._train(splits)
        return self._train(splits)

    def _train(self, splits: Splits) -> LinearModel:
        features = self.features()
        rows = features.fit_transform(splits.train.texts)
        held = None if splits.dev is None else features.transform(splits.dev.texts)
        give_back()  # reading the texts took more than their rows
        found: list[tuple[float, LinearModel]] = []
        for strength in self.grid:
            if held is None:
                model = LinearModel(features, None, strength, len(splits.labels))
                outputs = self._out_of_fold(splits, rows, model)
            else:
                model = self._fitted(splits, rows, LinearModel(features, None, strength, len(splits.labels)))
                outputs = model.of_rows(held)
            found.append((_dev_metric(splits, outputs), replace(model, held=outputs)))
        best = max(found, key=lambda pair: pair[0])[1]
        return best if best.estimator is not None else self._fitted(splits, rows, best)

    def _fitted(
        self, splits: Splits, rows: Rows, model: LinearModel, places: NDArray[np.int64] | None = None
    ) -> LinearModel:
        """Train a model on all training examples, or on some."""
        gold, weights = splits.train.gold, splits.train.weights
        if places is not None:
            rows, gold, weights = rows[places], gold[places], None if weights is None else weights[places]
        return replace(model, estimator=trained(self.estimator(model.strength), rows, gold, weights))

    def _out_of_fold(self, splits: Splits, rows: Rows, model: LinearModel) -> NDArray[np.float64]:
        """Return what models give for training examples that they did not see."""
        gold, folds = splits.train.gold, splits.folds
        shape = (len(gold), len(splits.labels)) if splits.labels else (len(gold),)
        outputs = np.zeros(shape)
        for fold in np.unique(folds):
            inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            if splits.labels and len(np.unique(gold[outside])) < 2:
                continue
            outputs[inside] = self._fitted(splits, rows, model, outside).of_rows(rows[inside])
        return outputs


@dataclass(frozen=True)
class LinearModel:
    """A trained linear baseline.

    Attributes:
        features: turns texts into rows.
        estimator: trained on them.
        strength: the one that was chosen.
        classes: how many there are, also such as training lacked; 0 for scores.
        held: what it gives for the examples that chose the strength, by models that did not see them.
    """

    features: Features
    estimator: LinearEstimator | None
    strength: float
    classes: int
    held: NDArray[np.float64] | None = None

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
        assert self.estimator is not None  # it is trained
        weights: Any = self.estimator.coef_  # sparse where there are very many classes
        stored = (
            2 * weights.nnz if sparse.issparse(weights) else np.size(weights)
        )  # with the place of each number
        return (4 * (stored + np.size(self.estimator.intercept_)) + self.features.bytes) / 1e6

    def of_rows(self, rows: Rows) -> NDArray[np.float64]:
        """Return the same for what `features` made of texts."""
        assert self.estimator is not None  # it is trained
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
    SettledLogistic,
    (1.0, 3.0, 10.0, 30.0),
)
NB_SVM = LinearBaseline(
    "NB-SVM (words 1-2)",
    lambda: Sides(word_presence()),
    lambda strength: NBSVM(C=strength),
    (0.01, 0.1, 1.0),
    separate=True,
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


def trained(
    estimator: LinearEstimator, rows: Rows, gold: Numbers, weights: NDArray[np.float64] | None = None
) -> LinearEstimator:
    """Fit a model, without a warning where it takes more steps than it has: what chooses judges what came of it.

    Weights, [N], are brought to a mean of 1, so that a strength of regularization means what it means without them.
    """
    counts = {} if weights is None else {"sample_weight": weights / weights.mean()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(rows, gold, **counts)


def _dev_metric(splits: Splits, outputs: NDArray[np.float64]) -> float:
    """Return the accuracy on dev, or Pearson's correlation for scores."""
    dev = splits.choosing
    if not splits.labels:
        return relatedness_metrics(dev.scores, outputs, dev.weights)["pearson"]
    return classification_metrics(dev.classes, outputs.argmax(axis=1), dev.weights)["accuracy"]
