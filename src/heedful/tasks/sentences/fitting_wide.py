"""Fitting a wide part: logistic regression on the training split, and its weight beside the network on dev."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.encoding import EncodedDataset
from heedful.tasks.schema import AnyAnswer
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.sentences.sentence_task import gold_of
from heedful.text.wide_part import CHARACTERS, Numbers, PhraseRule, WidePart

if TYPE_CHECKING:
    from scipy import sparse

STRENGTHS = (1.0, 3.0, 10.0, 30.0)
"""Inverse strengths of regularization that dev chooses from, the most regularized first."""
RATIO_STRENGTHS = (0.3, 1.0, 3.0, 10.0)
"""Likewise where the values are scaled by `log_ratios`."""
SHARES = (0.5, 0.25)
"""Shares of the fitted weights beside those of naive Bayes that dev chooses from too."""
_SMOOTHING = 0.25
MOST_FEATURES = 500_000
"""Features that are kept at most, the most frequent ones."""
_WEIGHTS = np.concatenate([[0.0], np.geomspace(0.05, 100.0, 77)])
_GAIN = 2.0
_SCALES = np.geomspace(0.1, 5.0, 41)


def fit_wide(
    rule: PhraseRule,
    training: Sequence[Numbers],
    classes: NDArray[np.int64],
    outputs: int,
    dev: Sequence[Numbers],
    dev_classes: NDArray[np.int64],
    class_weights: NDArray[np.float64] | None = None,
) -> WidePart:
    """Fit logistic regressions in three ways at several strengths, and keep the one under which dev is likeliest.

    1. The values of the features are seen as they are.
    2. They are scaled by how strongly each feature tells the classes apart, the root of the mean of its squared
       `log_ratios` over the classes. Features that say little are then drawn to 0 more strongly, as in NB-SVM (Wang and
       Manning, ACL 2012). The scale is multiplied into the weights afterwards, so that the form and size stay.
    3. The weights of 2 are `interpolated` with those of naive Bayes, as in NB-SVM too.

    Args:
        rule: which features a text has.
        training: features of each training example.
        classes: their classes, [N]; at least two different ones.
        outputs: classes Y.
        dev: features of examples that choose the strength of the regularization, by their likelihood.
        dev_classes: their classes.
        class_weights: how much the training examples of each class count, [Y]; None where all count alike.

    Returns:
        The part, with weight 1.
    """
    numbers, rarity = _known(training)
    empty = np.zeros((len(numbers), outputs), np.float32)
    part = WidePart(rule, numbers, rarity, empty, np.zeros(outputs, np.float32))
    rows = _matrix(part, training)
    ratios = log_ratios(rows, classes, outputs)
    scales = np.sqrt((ratios**2).sum(axis=1) / len(np.unique(classes)))
    found: list[tuple[float, WidePart]] = []

    def judge(weights: NDArray[np.floating], bias: NDArray[np.float32]) -> None:
        made = WidePart(rule, numbers, rarity, weights.astype(np.float32), bias)
        logits = made.logits(dev).astype(np.float64)
        found.append((min(_loss(scale * logits, dev_classes) for scale in _SCALES), made))

    for strength in STRENGTHS:
        judge(*_logistic(rows, classes, outputs, strength, class_weights))
    seen = rows.multiply(scales[None]).tocsr()
    for strength in RATIO_STRENGTHS:
        weights, bias = _logistic(seen, classes, outputs, strength, class_weights)
        weights = weights * scales[:, None]
        judge(weights, bias)
        for share in SHARES:
            judge(interpolated(weights, ratios, share), bias)
    return min(found, key=lambda pair: pair[0])[1]


def log_ratios(rows: sparse.csr_matrix, classes: NDArray[np.int64], outputs: int) -> NDArray[np.float64]:
    """Return how strongly each feature speaks for each class.

    This is the naive Bayes log-count ratio ``r = log((p / sum(p)) / (q / sum(q)))``, where p and q count the examples
    inside and outside the class that have the feature, plus 0.25.

    Args:
        rows: values of the features of the training examples, sparse [N, n]; only where they are not 0 counts.
        classes: the classes of the examples, [N]; at least two different ones.
        outputs: classes Y.

    Returns:
        [n, Y]; 0 for a class without an example.
    """
    present = rows.astype(bool)
    total = np.asarray(present.sum(axis=0)).ravel()
    found = np.zeros((rows.shape[1], outputs))
    for each in np.unique(classes):
        inside = np.asarray(present[classes == each].sum(axis=0)).ravel()
        p, q = inside + _SMOOTHING, total - inside + _SMOOTHING
        found[:, each] = np.log(p / p.sum()) - np.log(q / q.sum())
    return found


def interpolated(
    weights: NDArray[np.floating], ratios: NDArray[np.floating], share: float
) -> NDArray[np.floating]:
    """Return weights between fitted ones and those of naive Bayes.

    For a class with weights w and log ratios r this is ``b w + (1 - b) m r``, where b is the share and ``m = sum(|w|) /
    sum(|r|)`` gives both the same size.

    Args:
        weights: the fitted ones, [n, Y].
        ratios: see `log_ratios`, [n, Y].
        share: how much the fitted weights count, 0 to 1.

    Returns:
        [n, Y].
    """
    sizes = np.abs(weights).sum(axis=0) / np.maximum(np.abs(ratios).sum(axis=0), 1e-12)
    mixed: NDArray[np.floating] = share * weights + (1 - share) * sizes * ratios
    return mixed


def fit_weight(
    network: NDArray[np.floating], wide: NDArray[np.floating], classes: NDArray[np.int64]
) -> float:
    """Find what the wide part's logits are multiplied by.

    Args:
        network: logits of the network for examples that neither was trained on, [N, Y].
        wide: those of the wide part.
        classes: the gold classes, [N].

    Returns:
        The weight w under which ``network + w * wide``, at its best temperature, makes the classes likeliest; 0 where
        the log-likelihood of all examples together grows by less than 2, which one more number may do by chance.
    """
    a, b = network.astype(np.float64), wide.astype(np.float64)
    losses = [min(_loss(scale * (a + w * b), classes) for scale in _SCALES) for w in _WEIGHTS]
    best = int(np.argmin(losses))
    gain = len(classes) * (losses[0] - losses[best])
    return float(_WEIGHTS[best]) if gain >= _GAIN else 0.0


def _loss(logits: NDArray[np.float64], classes: NDArray[np.int64]) -> float:
    shifted = logits - logits.max(axis=1, keepdims=True)
    own = shifted[np.arange(len(classes)), classes]
    return float((np.log(np.exp(shifted).sum(axis=1)) - own).mean())


def _known(training: Sequence[Numbers]) -> tuple[Numbers, NDArray[np.float32]]:
    """Return the features that are kept, ascending, and their rarity; a run of characters must be in two texts."""
    together = np.concatenate([np.zeros(0, np.int32), *training])
    numbers, counts = np.unique(together, return_counts=True)
    kept = counts >= 1 + (numbers & 1 == CHARACTERS)
    if kept.sum() > MOST_FEATURES:
        least = np.partition(counts[kept], -MOST_FEATURES)[-MOST_FEATURES]
        kept &= counts > least
    rarity = 1 + np.log((1 + len(training)) / (1 + counts[kept]))
    return numbers[kept].astype(np.int32), rarity.astype(np.float32)


def _matrix(part: WidePart, features: Sequence[Numbers]) -> sparse.csr_matrix:
    from scipy import sparse

    found = [part.values(own) for own in features]
    offsets = np.concatenate([[0], np.cumsum([len(rows) for rows, _ in found], dtype=np.int64)])
    columns = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in found)])
    values = np.concatenate([np.zeros(0), *(values for _, values in found)])
    return sparse.csr_matrix((values, columns, offsets), shape=(len(features), len(part.numbers)))


def _logistic(
    rows: sparse.csr_matrix,
    classes: NDArray[np.int64],
    outputs: int,
    strength: float,
    class_weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return weights [n, Y] and biases [Y]; a class without an example is never preferred."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # dev judges what came of it
        made = LogisticRegression(C=strength, max_iter=200, tol=1e-3)
        made.fit(rows, classes, None if class_weights is None else class_weights[classes])
    coefficients, intercepts = made.coef_, made.intercept_
    if len(made.classes_) == 2:
        coefficients = np.concatenate([-coefficients, coefficients]) / 2
        intercepts = np.concatenate([-intercepts, intercepts]) / 2
    weights = np.zeros((rows.shape[1], outputs), np.float32)
    bias = np.full(outputs, intercepts.min() - 5, np.float32)
    weights[:, made.classes_] = coefficients.T
    bias[made.classes_] = intercepts
    return weights, bias


def fit_beside(
    model: SentenceModel[AnyAnswer],
    dev: EncodedDataset,
    training: EncodedDataset,
    class_weights: Tensor | None,
) -> None:
    """Give a trained model a wide part, with the weight that dev decides on; none where dev does not agree.

    Args:
        model: the model, changed in place.
        dev: examples with gold that it was not trained on.
        training: those that it was trained on.
        class_weights: how much the examples of each class count, [Y]; None where all count alike.
    """
    assert training.phrases is not None  # the model's own settings encoded both
    assert dev.phrases is not None
    gold, seen = (gold_of(part).astype(np.int64) for part in (dev, training))
    own = [training.phrases[row] for row in range(len(training))]
    held = [dev.phrases[row] for row in range(len(dev))]
    weight, wide = 0.0, None
    if len(np.unique(seen)) > 1:
        counts = None if class_weights is None else class_weights.numpy().astype(np.float64)
        wide = fit_wide(model.text.phrases, own, seen, model.model.outputs, held, gold, counts)
        weight = fit_weight(model.run(dev)[0], wide.logits(held), gold)
    if wide is None or not weight:
        model.text = replace(model.text, phrases=PhraseRule())
        return
    model.about = replace(model.about, wide=wide.weighing(weight))
