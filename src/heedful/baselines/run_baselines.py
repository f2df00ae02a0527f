"""The linear baselines that are trained beside an own model or a study, and whether the model beats them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.label_rival import compared_labels, label_splits
from heedful.baselines.linear import LinearModel
from heedful.baselines.mean_vectors import CosineModel
from heedful.baselines.rivals import WORDS_AND_CHARACTERS, WORDS_AND_CHARACTERS_RIDGE, rivals
from heedful.baselines.splits import Split, Splits, read_splits
from heedful.baselines.tag_rival import CRF, MOST_WORDS, TagRival, tag_splits
from heedful.errors import HeedfulError
from heedful.evaluation import Comparison, Report, classification_metrics, holm, paired_seeds
from heedful.evaluation.significance import describe_p, paired
from heedful.machine.memory import give_back
from heedful.model.decisions import Kind, kind_of
from heedful.run import RunResult, Source
from heedful.run.comparison import Run, compare
from heedful.run.recipe_files import load_config
from heedful.run.run_config import RunConfig
from heedful.run.sources import data_root, find_source
from heedful.run.studies import Study
from heedful.tables import table_html
from heedful.text.bio import scheme_of
from heedful.training.stages import stage

Rival = LinearModel | CosineModel
MOST_EXAMPLES = 200_000
"""Training examples that a baseline reads at most: of more, so many are drawn, which is said."""
_MOST_OF = {WORDS_AND_CHARACTERS.name: 40_000, WORDS_AND_CHARACTERS_RIDGE.name: 40_000}
"""Likewise of baselines whose solvers take some 20 kB of memory an example."""
_SPLITS = ("dev", "test")


@dataclass(frozen=True)
class Beside:
    """A model and the baselines that were trained on the same examples.

    Attributes:
        tests: split ("dev", "test") to baseline to a paired test of the metric; the model is the first system, the
            baseline the second. Where cross-validation chose, "dev" holds every training example, out of fold.
        adjusted: likewise to the p-value after Holm's adjustment for the baselines of that split, if there is one.
        strengths: baseline to the strength of regularization that dev chose.
        metric: "accuracy"; of numbers "r2", of scores of pairs "pearson", and of tags that mark spans "f1".
        by_folds: whether cross-validation chose.
        drawn: of each baseline that was trained on drawn examples alone, how many these are.
    """

    tests: dict[str, dict[str, Comparison]]
    adjusted: dict[str, dict[str, float]]
    strengths: dict[str, float]
    metric: str = "accuracy"
    by_folds: bool = False
    drawn: dict[str, int] = field(default_factory=dict)

    def _called(self, split: str) -> str:
        """Return what a split is called for people."""
        return "cross-validated" if self.by_folds and split == "dev" else split

    @property
    def deciding(self) -> str:
        """The split that says which is better: test, or dev where there is no test split."""
        return "test" if "test" in self.tests else "dev"

    @property
    def better(self) -> str:
        """The most accurate baseline on the deciding split where it is more accurate than the model; else empty."""
        name, test = max(self.tests[self.deciding].items(), key=lambda item: item[1].second)
        return name if test.difference > 0 else ""

    @property
    def warning(self) -> str:
        """One sentence where a baseline is better; else empty."""
        name = self.better
        if not name:
            return ""
        test, p = self.tests[self.deciding][name], self.adjusted[self.deciding].get(name)
        doubt = "" if p is None or p < 0.05 else "no significant difference, "
        sure = doubt + (test.note if p is None else describe_p(p))
        if self.metric == "accuracy":
            theirs, own = f"{test.second:.1%}", f"{test.first:.1%}"
        else:
            theirs, own = f"{self.metric} {test.second:.4f}", f"{test.first:.4f}"
        where = self._where(self.deciding, "in")
        return f"A simple baseline is more accurate: {name} has {theirs} {where}, this model {own} ({sure})."

    def render(self) -> str:
        """Return the figures as lines for a terminal."""
        names = list(self.strengths)
        width = max(map(len, ["this model", *names]))
        titles = [f"{self._called(split)} {self.metric}" for split in self.tests]
        room = max(14, *map(len, titles))
        header = "".join(f"  {title:>{room}}  {'p (Holm)':<10}" for title in titles)
        lines = [f"{'model':<{width}}{header}".rstrip(), f"{'this model':<{width}}" + self._own(room)]
        for name in names:
            cells = (
                f"  {self.tests[split][name].second:{room}.4f}  {self._p(split, name)[4:]:<10}"
                for split in self.tests
            )
            lines.append(f"{name:<{width}}{''.join(cells)}".rstrip())
        for split, tests in self.tests.items():
            test = next(iter(tests.values()))
            how = f"p {self._where(split)}: {test.test} over {test.n:,} {test.unit}"
            lines += [f"{how}, adjusted for {len(names)} baselines"] if test.test else []
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> list[str]:
        """Return a line for each split without a test, and for each baseline that did not read all examples."""
        first = ((split, next(iter(tests.values()))) for split, tests in self.tests.items())
        without = (f"no p {self._where(split)}: {test.note}" for split, test in first if not test.test)
        drawn = (f"{name}: trained on {count:,} drawn rows, not on all" for name, count in self.drawn.items())
        return [*without, *drawn]

    def _where(self, split: str, word: str = "by") -> str:
        return f"{word} cross-validation" if self._called(split) != split else f"on {split}"

    def _p(self, split: str, name: str) -> str:
        """Return the p-value of a baseline in words; empty where there is none."""
        p = self.adjusted[split].get(name)
        return "" if p is None else describe_p(p)

    def as_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {**asdict(self), "warning": self.warning}

    def __repr__(self) -> str:
        tests = self.tests[self.deciding]
        name, best = max(tests.items(), key=lambda item: item[1].second)
        return (
            f"Beside({self.metric} on {self.deciding}: this model {best.first:.4f}, {name} {best.second:.4f})"
        )

    def _repr_html_(self) -> str:
        """Return the figures as a table, which is how a notebook shows them."""
        header = [
            "",
            *(f"{self._called(split)} {what}" for split in self.tests for what in (self.metric, "p (Holm)")),
        ]
        own = [
            cell for tests in self.tests.values() for cell in (f"{next(iter(tests.values())).first:.4f}", "")
        ]
        rows = [["this model", *own]]
        for name in self.strengths:
            cells = ((tests[name].second, self._p(split, name)) for split, tests in self.tests.items())
            rows.append([name, *(text for a, p in cells for text in (f"{a:.4f}", p))])
        further = "".join(f"<p>{escape(line)}</p>" for line in self._notes())
        return f"<p>{escape(self.warning)}</p>" + table_html(header, rows) + further

    def _own(self, room: int) -> str:
        own = (next(iter(tests.values())).first for tests in self.tests.values())
        return "".join(f"  {accuracy:{room}.4f}  {'':<10}" for accuracy in own).rstrip()


def beside_run(config: RunConfig, folder: Path | None, result: RunResult) -> Beside | None:
    """Train the baselines on the data of a run; see `beside_source`.

    Args:
        config: the settings of the run.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        result: the run.

    Returns:
        The comparison, or None.
    """
    return beside_source(find_source(config, data_root(config, folder)), result)


def beside_source(source: Source, result: RunResult) -> Beside | None:
    """Train the baselines on the examples of a run and compare them with its model.

    Args:
        source: the examples.
        result: the run on them.

    Returns:
        The comparison; None for anything but tags, several labels, and classes and numbers of texts or pairs, where
        wrong answers have costs, for more than `MOST_EXAMPLES` training examples without a dev part, and where the run
        dropped examples that it evaluates.
    """
    kind = kind_of(source.task)
    if kind.of_words:
        return _beside_tags(source, result)
    if not (kind.is_score or kind.outputs in ("classes", "labels")) or "cost" in result.dev.metrics:
        return None
    if kind.outputs == "labels":
        return _beside_labels(source, result)
    metric = _metric(kind)
    splits = read_splits(source)
    tests: dict[str, dict[str, Comparison]] = {"dev": {}, "test": {}}
    strengths: dict[str, float] = {}
    drawn: dict[str, int] = {}
    judges_dev = _same_examples(result.dev, splits.choosing)
    judges_test = _same_examples(result.test, splits.test)
    for other, model, count in trained_baselines(splits):  # one at a time: each takes much memory
        strengths[other] = model.strength
        if judges_dev and model.held is not None:
            tests["dev"][other] = _compared(metric, result.dev, model.held, splits.choosing.weights)
        if judges_test and result.test is not None and splits.test is not None:
            tests["test"][other] = _compared(metric, result.test, model.outputs(splits.test.texts))
        if count < len(splits.train):
            drawn[other] = count
        del model  # before the next one is trained
    found = adjusted(tests, strengths, metric)
    return found and replace(found, by_folds=splits.dev is None, drawn=drawn)


def _metric(kind: Kind) -> str:
    """Return the metric by which models are compared: of numbers of pairs a correlation, as a cosine has no scale."""
    if not kind.is_score:
        return "accuracy"
    return "pearson" if kind.texts == 2 else "r2"


def _beside_tags(source: Source, result: RunResult) -> Beside | None:
    """Train a chain over words and their shapes on the sentences of a run; see `beside_source`."""
    model = result.predictor
    splits, labels = tag_splits(source, model.reading.cutter)
    if sum(map(len, splits["train"].texts)) > MOST_WORDS:
        return None
    rival = TagRival.train(splits, labels, seed=0)
    choosing = splits.get("dev", splits["train"])
    reports = {"dev": (result.dev, rival.report(choosing, rival.nested))}
    if result.test is not None and "test" in splits:
        reports["test"] = result.test, rival.report(splits["test"])
    metric = "accuracy" if scheme_of(labels) == "plain" else "f1"
    tests: dict[str, dict[str, Comparison]] = {}
    for split, (own, other) in reports.items():
        if len(own.gold) < 2 or not np.array_equal(own.gold, other.gold):
            continue
        weights = None
        if split == "dev" and choosing.weights is not None:
            weights = np.repeat(choosing.weights, 1 if metric == "f1" else [*map(len, choosing.texts)])
        tests[split] = {CRF: paired(metric, own.gold, own.predicted, other.predicted, weights)}
    beside = adjusted(tests, {CRF: rival.strength}, metric)
    return beside and replace(beside, by_folds="dev" not in splits)


def _beside_labels(source: Source, result: RunResult) -> Beside | None:
    """Train simple models on texts with several labels; see `beside_source`."""
    splits = label_splits(source)
    tests, strengths = compared_labels(splits, {"dev": result.dev, "test": result.test})
    found = adjusted(tests, strengths, "micro_f1")
    return found and replace(found, by_folds="dev" not in splits)


def _compared(
    metric: str, report: Report, outputs: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> Comparison:
    """Compare a model with the outputs of a baseline for the same examples."""
    answers = outputs.argmax(axis=1) if metric == "accuracy" else outputs
    return paired(metric, report.gold, report.predicted, answers, weights)


def or_warning(train: Callable[[], Beside | None]) -> tuple[Beside | None, list[str]]:
    """Train baselines without risking what came before: a failure becomes a warning.

    Args:
        train: trains and compares them.

    Returns:
        The comparison or None; and one sentence where they could not be trained.
    """
    try:
        return train(), []
    except (HeedfulError, ValueError, MemoryError) as error:
        return None, [f"The baselines beside the model could not be trained: {error or type(error).__name__}"]


def trained_baselines(splits: Splits) -> Iterator[tuple[str, Rival, int]]:
    """Train the baselines one after another.

    Args:
        splits: the data.

    Yields:
        Name, model, and how many of the training examples it was trained on: those that were drawn, where there are
        more than it reads. None for texts without words, nor for more than `MOST_EXAMPLES` training examples that
        choose by cross-validation.
    """
    texts, count = splits.train.texts, len(splits.train)
    without_words = not any(text.strip() for each in texts for text in each)
    too_many = splits.dev is None and count > MOST_EXAMPLES
    if too_many or len(np.unique(splits.train.gold)) < 2 or without_words:
        return
    named = rivals(splits.task, texts, (), len(splits.labels))
    with stage("training simple models to compare with", len(named)) as models:
        for baseline in named:
            give_back()  # what the one before took
            most = count if splits.dev is None else min(count, _MOST_OF.get(baseline.name, MOST_EXAMPLES))
            yield baseline.name, baseline.train(splits.limited(most, seed=0)), most
            models.step()


def adjusted(
    tests: Mapping[str, Mapping[str, Comparison]],
    strengths: Mapping[str, float],
    metric: str = "accuracy",
) -> Beside | None:
    """Adjust the tests of each split for the number of baselines.

    Args:
        tests: split to baseline to test.
        strengths: the strength of regularization of each baseline.
        metric: what was tested.

    Returns:
        The comparison; None where there is no test.
    """
    found = {split: dict(of_split) for split, of_split in tests.items() if of_split}
    if not found:
        return None
    p_values = {}
    for split, of_split in found.items():
        known = {name: 1.0 if test.p is None else test.p for name, test in of_split.items() if test.test}
        p_values[split] = dict(zip(known, holm([*known.values()]), strict=True))
    return Beside(found, p_values, dict(strengths), metric)


def _same_examples(report: Report | None, split: Split | None) -> bool:
    """Return whether a report is of the examples of a split; a run keeps scores in single precision."""
    if report is None or split is None or len(report.gold) != len(split):
        return False
    return np.array_equal(np.asarray(report.gold, np.float32), np.asarray(split.gold, np.float32))


def beside_study(study: Study, recipe: str, data: Path | None, overrides: Sequence[str]) -> Beside | None:
    """Train the baselines for every run of a study.

    Args:
        study: the figures of the runs.
        recipe: what was run.
        data: the folder of data sets; None for ``HEEDFUL_DATA``.
        overrides: the settings that all runs share, the number of folds included.

    Returns:
        The comparison: the paired bootstrap over the test examples, and over the runs on dev. None where
        `heedful.baselines.run_baselines.beside_source` gives none.
    """
    configs = [load_config(recipe, [*overrides, str(run.varied)]) for run in study.runs]
    own = [Run.of_record(run) for run in study.runs]
    beside: dict[str, list[Run]] = {}
    dev: dict[str, list[float]] = {}
    strengths: dict[str, float] = {}
    drawn: dict[str, int] = {}
    for config, run in zip(configs, own, strict=True):
        splits = _splits(config, data)
        if splits is None or splits.test is None or not np.array_equal(splits.test.gold, run.gold):
            return None
        for name, model, count in trained_baselines(splits):
            strengths[name] = model.strength
            if count < len(splits.train):
                drawn[name] = count
            predicted = model.outputs(splits.test.texts).argmax(axis=1)
            metrics = classification_metrics(splits.test.classes, predicted)
            beside.setdefault(name, []).append(Run(run.varied, metrics, run.gold, predicted, run.classes))
            assert model.held is not None  # every baseline of classes has it
            right = model.held.argmax(axis=1) == splits.choosing.gold
            dev.setdefault(name, []).append(float(np.average(right, weights=splits.choosing.weights)))
    own_dev = [run.figures.dev.metrics["accuracy"] for run in study.runs]
    tests = {
        "dev": {name: paired_seeds(own_dev, values) for name, values in dev.items()},
        "test": {
            name: compare(("study", name), own, runs, ["accuracy"]).tests["accuracy"][-1]
            for name, runs in beside.items()
        },
    }
    found = adjusted(tests, strengths)
    return found if found is None else replace(found, drawn=drawn)


def _splits(config: RunConfig, data: Path | None) -> Splits | None:
    source = find_source(config, data_root(config, data))
    by_cost = bool(config.model.task_options.get("costs"))
    return read_splits(source) if kind_of(source.task).outputs == "classes" and not by_cost else None
