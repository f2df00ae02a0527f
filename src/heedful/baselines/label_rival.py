"""The simple models that a reader would name first for several labels a text: one against the rest, over n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from heedful.baselines.linear import LinearBaseline, LinearEstimator, trained
from heedful.baselines.rivals import rivals
from heedful.baselines.splits import Rows, Texts, example_weights, parts_of
from heedful.data.cross_folds import cross_folds
from heedful.data.examples import Corpus, LabelSet
from heedful.evaluation import Comparison, Report
from heedful.evaluation.label_sets import evaluate_label_sets, label_metrics
from heedful.evaluation.significance import paired
from heedful.run import Source
from heedful.tasks import task_named
from heedful.training.stages import stage

MOST_FITS = 50_000
"""Training examples times labels above which simple models would take minutes, and none is trained."""
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Texts with their labels.

    Attributes:
        texts: of each example.
        gold: which labels it has, [N, Y]; labels that training does not know stand behind the others.
        labels: their names.
        weights: how much each counts, [N]; None where all count alike.
    """

    texts: Texts
    gold: NDArray[np.bool_]
    labels: tuple[str, ...]
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, corpus: Corpus, labels: tuple[str, ...]) -> LabelRows:
        """Return the examples of a corpus that have gold."""
        examples = [each for each in corpus.examples if isinstance(each.target, LabelSet)]
        found = [(each.texts, each.target.names) for each in examples if isinstance(each.target, LabelSet)]
        names = (*labels, *sorted({name for _, own in found for name in own} - set(labels)))
        gold = np.array([[name in own for name in names] for _, own in found], bool).reshape(-1, len(names))
        return cls([texts for texts, _ in found], gold, names, example_weights(examples))

    def report(self, scores: NDArray[np.float64]) -> Report:
        """Report on the labels that score above 0; those that training does not know never do."""
        every = np.full(self.gold.shape, -np.inf)
        every[:, : scores.shape[1]] = scores
        report = evaluate_label_sets(self.gold, every > 0, every, self.labels)
        if self.weights is None:
            return report
        return replace(report, metrics=label_metrics(self.gold, every > 0, every, self.weights))


def label_splits(source: Source) -> dict[str, LabelRows]:
    """Read the texts of a run.

    Args:
        source: where its examples come from.

    Returns:
        The parts by name.
    """
    corpora = parts_of(source)
    labels = source.labels or task_named("labels").collect_labels(corpora["train"])
    return {name: LabelRows.of(corpus, tuple(labels)) for name, corpus in corpora.items()}


def label_rivals(splits: dict[str, LabelRows], seed: int) -> Iterator[tuple[str, float, dict[str, Report]]]:
    """Train the simple models one after another.

    Args:
        splits: "train", "dev" unless cross-validation chooses, and perhaps "test".
        seed: of the folds.

    Yields:
        Name, the strength of regularization, and the reports on dev (or on the training examples, by models that did
        not see them) and test. None for more than `MOST_FITS` examples times labels, nor for texts without words.
    """
    training, dev, test = splits["train"], splits.get("dev"), splits.get("test")
    without_words = not any(text.strip() for each in training.texts for text in each)
    if training.gold.size > MOST_FITS or without_words or not training.gold.any():
        return
    named = [each for each in rivals("text", training.texts) if isinstance(each, LinearBaseline)]
    with stage("training simple models to compare with", len(named)) as models:
        for baseline in named:
            features = baseline.features()
            rows = features.fit_transform(training.texts)
            judged, found = (training, []) if dev is None else (dev, [])
            judged_rows = rows if dev is None else features.transform(dev.texts)
            folds = _folds(training, seed) if dev is None else None
            for strength in baseline.grid:
                scores = _scores(baseline.estimator(strength), rows, training, judged_rows, folds)
                report = judged.report(scores)
                found.append((report.metrics["micro_f1"], strength, report))
            _, strength, report = max(found, key=lambda each: each[0])
            reports = {"dev": report}
            if test is not None:
                estimator = baseline.estimator(strength)
                scores = _scores(estimator, rows, training, features.transform(test.texts))
                reports["test"] = test.report(scores)
            yield baseline.name, strength, reports
            models.step()


def compared_labels(
    splits: dict[str, LabelRows], own: Mapping[str, Report | None]
) -> tuple[dict[str, dict[str, Comparison]], dict[str, float]]:
    """Train the simple models and compare a model with each by the micro-F1.

    Args:
        splits: see `label_rivals`.
        own: "dev" and "test" to the model's report, None where there is none.

    Returns:
        Split to simple model to the comparison, for reports on the same examples; and the strength of each.
    """
    tests: dict[str, dict[str, Comparison]] = {split: {} for split in own}
    strengths: dict[str, float] = {}
    for name, strength, reports in label_rivals(splits, seed=0):
        strengths[name] = strength
        for split, report in own.items():
            other = reports.get(split)
            if (
                report is None
                or other is None
                or report.count < 2
                or not np.array_equal(report.gold, other.gold)
            ):
                continue
            weights = splits.get(split, splits["train"]).weights
            tests[split][name] = paired("micro_f1", report.gold, report.predicted, other.predicted, weights)
    return tests, strengths


def _folds(training: LabelRows, seed: int) -> NDArray[np.int64]:
    """Return the fold of each example; its rarest label is what folds can least do without."""
    often = np.where(training.gold, training.gold.sum(axis=0), len(training.gold) + 1)
    return cross_folds(often.argmin(axis=1), list(training.texts), _FOLDS, seed)


def _scores(
    estimator: LinearEstimator,
    rows: Rows,
    training: LabelRows,
    judged_rows: Rows,
    folds: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Return the margin of each label, [N, Y]; with folds, each row's by a model that did not see it."""
    gold, weights = training.gold, training.weights
    found = np.zeros((judged_rows.shape[0], gold.shape[1]))
    every = [None] if folds is None else list(np.unique(folds))
    for fold in every:
        learn = np.ones(len(gold), bool) if fold is None else folds != fold
        inside = np.ones(judged_rows.shape[0], bool) if fold is None else folds == fold
        for k, own in enumerate(gold[learn].T):
            if own.all() or not own.any():
                found[inside, k] = 1.0 if own.all() else -1.0
            else:
                counts = None if weights is None else weights[learn]
                fitted = trained(clone(estimator), rows[learn], own.astype(np.int64), counts)
                found[inside, k] = fitted.decision_function(judged_rows[inside])
    return found
