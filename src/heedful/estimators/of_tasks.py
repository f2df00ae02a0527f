"""The estimators of sentences and pairs, and the function that loads the right one from a model folder."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from heedful.estimators.classifier import Classifier
from heedful.estimators.columns import rows_of, warn_of_column_vector
from heedful.estimators.example_weights import example_weights
from heedful.estimators.of_label_columns import LabelColumnsClassifier
from heedful.estimators.of_words import TokenTagger
from heedful.estimators.sentence_estimator import SentenceEstimator
from heedful.estimators.targets import AnyTargets, LabelSets, Scores
from heedful.evaluation import relatedness_metrics
from heedful.model.decisions import kind_of
from heedful.run.run_config import RunConfig
from heedful.storage.named_models import find_model, find_packaged
from heedful.tasks import LabelsModel, ScoreModel, load_model
from heedful.text.boundaries import AUTO

if TYPE_CHECKING:
    from sklearn.utils import Tags


def _of_single_texts(config: RunConfig) -> RunConfig:
    """Return the settings for a class or a number of single texts: a small network, trained for a short time."""
    model = replace(config.model, width=100, hidden=100)
    optimizer = replace(config.train.optimizer, lr=2e-3)
    train = replace(config.train, epochs=3, patience=2, schedule="linear", optimizer=optimizer)
    return replace(config, model=model, train=train)


class TextClassifier(Classifier):
    """Classify texts; see `Estimator` for the arguments.

    By default, it trains an encoder of 100 features for 3 epochs, in which the learning rate falls from 0.002 to 0, and
    stops early after 2 without a better dev metric. It adds a linear model over words and characters if this improves
    the dev split (docs/costs-and-wrong-labels.md).
    """

    task, tasks = "text", ("text",)

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = _of_single_texts(super()._defaults())
        return replace(config, model=replace(config.model, start=AUTO))


class PairClassifier(Classifier):
    """Classify pairs of texts: natural language inference, paraphrase. See `Estimator` for the arguments."""

    task, tasks = "pair", ("pair",)


class MultiLabelClassifier(ClassifierMixin, SentenceEstimator[LabelsModel]):
    """Give texts any number of labels; see `Estimator` for the arguments.

    ``y`` has a list of labels for each text, which may be empty, or it is an indicator matrix. The probability from
    which a label is predicted is fitted on the dev split, of few rows by cross-validation; with
    ``model__task_options={"thresholds": "half"}`` it is 0.5.

    Attributes:
        classes_: the labels, sorted; column k of every matrix belongs to label k. Set by `fit` and `from_pretrained`.
    """

    task, tasks, metric = "labels", ("labels",), "micro_f1"
    model_type = LabelsModel

    def _targets_of(self, y: object) -> LabelSets:
        return LabelSets.of(y)

    @classmethod
    def _targets_in(cls, predictor: LabelsModel, config: RunConfig) -> LabelSets:
        return LabelSets(np.array(predictor.labels), tuple(predictor.labels))

    def _set_fitted(self, predictor: LabelsModel, targets: AnyTargets) -> None:
        super()._set_fitted(predictor, targets)
        assert isinstance(targets, LabelSets)  # what the two methods above return
        self.classes_ = targets.values

    def _label_sets(self) -> LabelSets:
        return LabelSets(self.classes_, tuple(self.classes_.tolist()))

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Return the probability of each label by itself, [N, Y]."""
        predictor = self.predictor
        return predictor.probabilities(predictor.logits(self._requests(X)))

    def predict(self, X: object, *, coverage: float | None = None) -> Any:
        """Return the labels as an indicator matrix, [N, Y]; `answer` returns their names.

        Args:
            X: texts.
            coverage: asks for sets that hold such a share of the right labels; see `promised`.

        Returns:
            The matrix; with a coverage a list of N tuples of labels, the likeliest first.
        """
        if coverage is not None:
            return [answer.prediction_set for answer in self.promised(X, coverage)]
        predictor = self.predictor
        return predictor.chosen(predictor.logits(self._requests(X))).astype(np.int64)

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of texts all of whose labels are right, as scikit-learn's classifiers of several labels do.

        Args:
            X: texts.
            y: their labels.
            sample_weight: weight of each example, [N]; None for equal weights.

        Returns:
            The subset accuracy.
        """
        gold = self._label_sets().matrix(y)
        weights = example_weights(sample_weight, len(gold))
        return float(np.average((self.predict(X) == gold).all(axis=1), weights=weights))

    def __sklearn_tags__(self) -> Tags:
        """Declare to scikit-learn that y may be a matrix."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class _Scorer(RegressorMixin, SentenceEstimator[ScoreModel]):
    """What the two scorers share."""

    model_type = ScoreModel

    def _targets_of(self, y: object) -> Scores:
        warn_of_column_vector(y)
        return Scores()

    def predict(self, X: object, *, coverage: float | None = None) -> NDArray[np.float64]:
        """Return the number of each text or pair, [N]; of relatedness the expected grade.

        Args:
            X: texts or pairs.
            coverage: asks for intervals that hold the number so often; see `promised`.

        Returns:
            The numbers, [N]; with a coverage the ends of the intervals, [N, 2].
        """
        if coverage is not None:
            return np.array([answer.interval for answer in self.promised(X, coverage)]).reshape(-1, 2)
        predictor = self.predictor
        return predictor.scores(predictor.logits(self._requests(X)))


class TextScorer(_Scorer):
    """Give a text a number of any range: a price, a year, a rating; see `Estimator` for the arguments.

    The numbers are standardized in training; ``model__task_options={"loss": "huber"}`` reduces the influence of gross
    errors in the training numbers. The network and its training are as large as those of `TextClassifier`.
    """

    task, tasks, metric = "number", ("number",), "r2"

    @classmethod
    def _defaults(cls) -> RunConfig:
        return _of_single_texts(super()._defaults())

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the share of the variance of gold that is explained (R²), as scikit-learn's regressors do."""
        weights = None if sample_weight is None else example_weights(sample_weight, len(rows_of(y, name="y")))
        score: float = super().score(X, y, weights)
        return score


class PairScorer(_Scorer):
    """Score two texts: how related they are, from 1 to 5; see `Estimator` for the arguments.

    With ``model__task="pair-number"`` it learns numbers of any range, and R² is also measured; the order of the two
    texts then counts only with ``model__matching="absolute"`` or ``"signed"``.
    """

    task, tasks, metric = "relatedness", ("relatedness", "pair-number"), "pearson"

    def _start(self) -> RunConfig:
        if kind_of(str(self._settings.get("model__task", self.task))).outputs != "number":
            return self._defaults()
        config = super()._defaults()
        return replace(
            config,
            model=replace(config.model, task="pair-number", matching="symmetric"),
            train=replace(config.train, metric="r2"),
        )

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = super()._defaults()
        return replace(config, model=replace(config.model, outputs=5, activation="relu"))

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return Pearson's correlation with gold, which scikit-learn's regressors do not: theirs is R².

        Args:
            X: pairs.
            y: their scores.
            sample_weight: weight of each example, [N]; None for equal weights.

        Returns:
            The correlation.
        """
        report = self.evaluate(X, y)
        if sample_weight is None:
            return report.metrics["pearson"]
        weights = example_weights(sample_weight, report.count)
        return relatedness_metrics(report.gold, report.predicted, weights)["pearson"]  # type: ignore[arg-type]


AnyEstimator = (
    TextClassifier
    | PairClassifier
    | MultiLabelClassifier
    | LabelColumnsClassifier
    | TokenTagger
    | TextScorer
    | PairScorer
)
_OWN: tuple[type[AnyEstimator], ...] = (
    TextClassifier,
    PairClassifier,
    MultiLabelClassifier,
    LabelColumnsClassifier,
    TokenTagger,
    TextScorer,
    PairScorer,
)
_BY_TASK = {task: kind for kind in _OWN for task in kind.tasks}


def load(model: Path | str) -> AnyEstimator | Any:
    """Load a trained model: yours, by its folder, or one that an installed package brings, by its name.

    Args:
        model: a run folder such as "runs/reviews", the model folder in it, or a name such as "en-nli" of heedful-en;
            `heedful.storage.named_models.packaged_models` lists the names. A folder comes before a name.

    Returns:
        What `from_pretrained` returns, which also takes models of the Hub and other limits.

    Raises:
        ArtifactError: if the folder is missing, or a file in it is missing or altered.
        UsageError: if there is neither such a folder nor an installed package with a model of this name.
    """
    if isinstance(model, str) and os.sep not in model and not os.path.lexists(model):
        return from_pretrained(find_packaged(model))
    return from_pretrained(model)


def from_pretrained(
    folder: Path | str,
    *,
    revision: str | None = None,
    download: bool = False,
    max_tokens: int | None = None,
    truncate: Literal["error", "head"] | None = None,
) -> AnyEstimator | Any:
    """Read a model folder into the estimator of its task.

    Args:
        folder: see `Estimator.from_pretrained`, which describes all arguments.
        revision: branch, tag or commit on the Hub.
        download: whether a model of the Hub may be fetched.
        max_tokens: longest text, in tokens.
        truncate: what happens to a longer text.

    Returns:
        A `TextClassifier`, `PairClassifier`, `MultiLabelClassifier`, `LabelColumnsClassifier`, `TokenTagger`,
        `TextScorer` or `PairScorer`; the model itself if its task has no estimator.

    Raises:
        ArtifactError: if a file is missing or altered.
        DataError: if the Hub does not give the model.
    """
    folder = find_model(folder, revision=revision, download=download)
    model = load_model(folder, max_tokens=max_tokens, truncate=truncate)
    kind = _BY_TASK.get(model.model.task)
    return model if kind is None else kind._around(model, folder)  # type: ignore[arg-type]
