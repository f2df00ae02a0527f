"""The base of the classifiers: training, with a teacher and on top of an older model too, and predicting a class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from heedful.errors import UsageError, checked_list
from heedful.estimators.columns import rows_of
from heedful.estimators.estimator import How
from heedful.estimators.example_weights import example_weights
from heedful.estimators.has_settings import refuse_file_settings
from heedful.estimators.sentence_estimator import SentenceEstimator
from heedful.estimators.targets import AnyTargets, ClassNames
from heedful.run.distilling import Answering, PythonTeacher
from heedful.run.learning_on import of_model, refuse_beside_texts
from heedful.run.run_config import RunConfig
from heedful.runtime.loading import keep_rows
from heedful.runtime.row_cache import KeptRows
from heedful.tasks import Answer, Predictor
from heedful.tasks.class_costs import DEFAULT_KEEP

AnyTeacher = str | Path | Sequence[str | Path] | Answering
"""A model folder or a file of soft labels, several folders, or a function."""


_BEFORE = "the model before"
_ALL = 10**9
"""Rows below which no network is trained: more than there are."""
_REMEMBERED = 4_096
"""Texts whose features are remembered until the next call: about 20 MB."""


class Classifier(ClassifierMixin, SentenceEstimator[Predictor]):
    """Base of the estimators that answer with one class; see `Estimator` for the arguments.

    Attributes:
        classes_: the classes in the type of ``y``, sorted; column k of `predict_proba` belongs to class k. Set by
            `fit` and `from_pretrained`.
    """

    model_type = Predictor

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = super()._defaults()
        return replace(config, text=replace(config.text, oov="nearest"))

    def _targets_of(self, y: object) -> ClassNames:
        return ClassNames.of(y)

    @classmethod
    def _targets_in(cls, predictor: Predictor, config: RunConfig) -> ClassNames:
        return ClassNames.restored(predictor.labels, config.data.label_type)

    def _set_fitted(self, predictor: Predictor, targets: AnyTargets) -> None:
        super()._set_fitted(predictor, targets)
        assert isinstance(targets, ClassNames)  # what the two methods above return
        self.classes_ = targets.values

    def partial_fit(
        self, X: object, y: object, classes: Sequence[object] | None = None, *, sample_weight: object = None
    ) -> Self:
        """Learn new rows, words and classes on top of what was learned before; without a model, train one.

        A first call trains linear parts, however many rows there are, or a network with ``data__few_rows=0``; the
        network of a model goes on. With ``keep_examples="texts"`` the examples that the model keeps are learned again
        with the new ones: all of them give what training on all rows at once gives, in the settings that were chosen
        last (``data__choose_again=1`` chooses them each time), a share of them (``data__keep_share=0.1``) keeps what
        was learned from drifting.

        Args:
            X: new texts or pairs; at least as many as `fit` needs.
            y: their classes, also such as there were none of before.
            classes: further classes that there will be; None for those of ``y`` and of the model.
            sample_weight: see `fit`.

        Returns:
            The estimator.

        Raises:
            UsageError: if the model has a pretrained encoder, or a class is one of the model but for its spelling.
            DataError: if a text or class is invalid, with its position, or if there are too few.
        """
        refuse_file_settings(self._settings, self.data_options)
        y, sample_weight = (list(each) if isinstance(each, Iterator) else each for each in (y, sample_weight))
        before = None
        options, name = self.config.model.task_options, f"{type(self).__name__}.partial_fit"
        refuse_beside_texts(options, name, columns=bool(self._features()))
        known = [] if classes is None else rows_of(classes, name="classes")
        if "predictor_" in vars(self):
            before = of_model(self.predictor_, _BEFORE)
            known += self.classes_.tolist()
        rows = rows_of(y, name="y")
        if not rows:
            raise UsageError("X and y: expected one row or more, got 0")
        if not known:
            _refuse_one_weighted_class(y, sample_weight)
        targets = self._targets_of([*rows, *(each for each in known if each not in rows)]) if known else None
        changes: dict[str, object] = {"data.learn_from": "" if before is None else _BEFORE}
        if before is not None or self.config.data.few_rows:
            changes["data.few_rows"] = _ALL
        how = How(sample_weight=sample_weight)
        if before is not None and before.whole:
            keep_rows(KeptRows(_REMEMBERED))  # of texts that the next call learns again
        return self._learned(X, y, targets or self._targets_of(y), how, changes, before)

    def fit(
        self,
        X: object,
        y: object,
        *,
        dev: tuple[object, ...] | None = None,
        folder: Path | str | None = None,
        progress: bool | None = None,
        baseline: bool = True,
        sample_weight: object = None,
        teacher: AnyTeacher | None = None,
        texts: object = None,
        none_of_these: object = None,
    ) -> Self:
        """Train, with a teacher's answers beside the classes if there is one; see docs/distillation.md.

        How much the teacher counts, its temperature and changed copies of the texts are settings of the constructor:
        ``distil__weight``, ``distil__temperature``, ``distil__augment`` and so on.

        Args:
            X: see `Estimator.fit`.
            y: see `Estimator.fit`.
            dev: see `Estimator.fit`.
            folder: see `Estimator.fit`.
            progress: see `Estimator.fit`.
            baseline: see `Estimator.fit`.
            sample_weight: see `Estimator.fit`.
            teacher: a model folder, several of them (the mean of their probabilities), or a file of soft labels; a
                transformer, by its folder or its name on the Hugging Face Hub, which is fine-tuned on X and y first;
                or a function that takes a list of texts or pairs and returns one row of probabilities each, in the
                order of `classes_`, or one mapping of classes to probabilities each.
            texts: texts or pairs without classes, which the teacher answers too.
            none_of_these: texts or pairs that belong to no class; with them the model may answer that no class fits
                (docs/limits.md). ``model__task_options={"reject": 0.95}`` alone does so without such texts.

        Returns:
            The estimator.

        Raises:
            UsageError: also if texts are given without a teacher.
            ArtifactError: if a teacher's model is missing or altered.
        """
        if teacher is None and texts is not None:
            raise UsageError("texts: are for a teacher to answer; give teacher too")
        y, sample_weight = (list(each) if isinstance(each, Iterator) else each for each in (y, sample_weight))
        _refuse_one_weighted_class(y, sample_weight)
        given, settings = self._config, self._settings
        if none_of_these is not None:
            self._strangers = self._requests(none_of_these).examples
            self._settings = {**settings, "model__task_options": _rejecting(settings)}
        try:
            if teacher is not None:
                unlabeled = None if texts is None else self._requests(texts)
                self._teacher = PythonTeacher(teacher if callable(teacher) else None, unlabeled)
                self._settings = {**self._settings, "distil__teacher": _names(teacher)}
            return super().fit(
                X,
                y,
                dev=dev,
                folder=folder,
                progress=progress,
                baseline=baseline,
                sample_weight=sample_weight,
            )
        finally:
            self._config, self._settings = given, settings
            self._teacher = self._strangers = None

    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Return probabilities, [N, Y]; rows sum to 1."""
        predictor = self.predictor
        return predictor.probabilities(predictor.logits(self._requests(X)))

    def predict(self, X: object, *, coverage: float | None = None) -> Any:
        """Return the class of each text or pair, [N], in the type of the training targets.

        A model that rejects answers some texts with its name for none of the classes, "none of these".
        It is the most probable class, or with ``model__task_options={"costs": ...}`` the one of least expected cost.

        Args:
            X: texts or pairs.
            coverage: asks for sets of classes that hold the right one so often; see `promised`.

        Returns:
            An array of classes, [N]; with a coverage a list of N tuples of classes, the likeliest first.
        """
        if coverage is not None:
            found = self.promised(X, coverage)
            of_name = dict(zip(self.predictor.labels, self.classes_.tolist(), strict=True))
            return [tuple(of_name[name] for name in answer.prediction_set) for answer in found]
        if self.predictor.about.reject is not None:
            of_name = dict(zip(self.predictor.labels, self.classes_.tolist(), strict=True))
            found = [of_name.get(str(each.label), str(each.label)) for each in self.answer(X)]
            return np.array([_of_type(each, self.classes_) for each in found], object)
        best = self.predictor.chosen(self.predict_proba(X))
        predicted: NDArray[np.generic] = self.classes_[best]
        return predicted

    def in_tree(self, X: object, separator: str = "/", *, at_least: float | None = None) -> list[Answer]:
        """Return what `answer` returns, with the probabilities of parents: classes are paths such as "sport/football".

        Args:
            X: texts or pairs.
            separator: what stands between the levels of a name.
            at_least: answer the deepest class or parent that is at least so likely; None answers classes.

        Returns:
            The answers; ``parents`` has the probability of each parent, the sum of its children's.

        Raises:
            UsageError: if no class has the separator in its name, or the share is out of range.
        """
        return self.predictor.in_tree(separator, at_least).answer(self._requests(X))

    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Return the accuracy.

        Args:
            X: texts or pairs.
            y: their classes.
            sample_weight: weight of each example, [N]; None for equal weights.

        Returns:
            The share of right predictions.
        """
        report = self.evaluate(X, y)
        weights = example_weights(sample_weight, report.count)
        return float(np.average(report.gold == report.predicted, weights=weights))


def _refuse_one_weighted_class(y: object, sample_weight: object) -> None:
    """Refuse weights that leave one class alone: of which one the message of the training data could not say."""
    labels = rows_of(y, name="y")
    weights = example_weights(sample_weight, len(labels))
    if weights is None:
        return
    left = {str(label) for label, weight in zip(labels, weights.tolist(), strict=True) if weight > 0}
    if len(left) == 1 < len(set(map(str, labels))):
        raise UsageError(
            f"sample_weight: only examples of the class {left.pop()!r:.60} weigh more than 0; a classifier needs two"
        )


def _of_type(answer: object, classes: NDArray[np.generic]) -> object:
    """Return the name for none of the classes as a number, where the classes are whole numbers and it writes one."""
    if classes.dtype.kind in "iu" and isinstance(answer, str) and answer.removeprefix("-").isdecimal():
        return int(answer)
    return answer


def _rejecting(settings: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings of the task itself with the share of known texts to keep, where none is given."""
    return {"reject": DEFAULT_KEEP, **dict(settings.get("model__task_options", {}))}


def _names(teacher: AnyTeacher) -> list[str]:
    """Return what the settings call a teacher."""
    if callable(teacher):
        return [f"python:{getattr(teacher, '__name__', type(teacher).__name__)}"]
    if isinstance(teacher, str | Path):
        return [str(teacher)]
    if names := checked_list("teacher", teacher, "model folders"):
        return [str(one) for one in names]
    raise UsageError("teacher: expected a model folder or more, a file or a function; got an empty list")
