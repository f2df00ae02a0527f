"""The base of the estimators: training, measuring and explaining."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from sklearn.exceptions import NotFittedError

from heedful.baselines.run_baselines import Beside, beside_source, or_warning
from heedful.data.column_features import doubts_about_columns
from heedful.data.examples import Corpus, Example, Gold
from heedful.data.folds import shared_with_training
from heedful.errors import MOST_AT_ONCE, DataError, UsageError, checked_whole
from heedful.estimators.example_weights import weighted
from heedful.estimators.fine_tuned_teachers import fine_tuned_teachers
from heedful.estimators.has_settings import refuse_file_settings
from heedful.estimators.saved_estimator import Model, SavedEstimator
from heedful.estimators.targets import AnyTargets, Scores
from heedful.evaluation import Report
from heedful.explain import Explanation
from heedful.machine import threads
from heedful.run import RunConfig, RunResult, evaluate_corpus, from_examples, prepare_examples, train
from heedful.run.card import cautions
from heedful.run.distilling import PythonTeacher
from heedful.run.idle_settings import idle_settings
from heedful.run.protocol import few_rows
from heedful.run.recipe_files import override
from heedful.storage.checked_paths import checked_path
from heedful.tasks import Text
from heedful.tasks.prepared import LearnedFrom, Source
from heedful.training.progress import choose_reporter
from heedful.training.stages import stages_shown

if TYPE_CHECKING:
    from sklearn.utils import Tags

_log = logging.getLogger(__name__)

Method = Literal["contributions", "attention", "gradient", "integrated", "occlusion", "shapley"]
"""Names of `heedful.explain.methods.METHODS`, for type checkers."""


class UnfittedError(UsageError, NotFittedError):
    """The estimator was asked for something that needs a trained model."""


@dataclass(frozen=True)
class How:
    """The arguments of `Estimator.fit` beside the examples."""

    dev: tuple[object, ...] | None = None
    folder: Path | None = None
    progress: bool | None = None
    baseline: bool = False
    sample_weight: object = None


class Estimator(SavedEstimator[Model]):
    """Base of the estimators.

    The defaults suit a few hundred to some ten thousand examples without pretrained vectors: Adam at 1e-3, batches of
    32, dropout 0.3, and at most 20 epochs, or 400 steps if these are more and ``train__epochs`` is not set. Training
    stops after 5 epochs without a better dev metric. The tokenizer is
    chosen from the training texts. A text of more than 400 words is truncated and counted.

    `fit` and `config` check the settings, as scikit-learn requires, and report all mistakes at once.

    Args:
        config: the settings to start from; None for the defaults.
        text: column of the text in a table X, or of both texts of a pair; None for the one that ``features`` leaves.
        features: columns of a table X that are read beside the text, such as ``["price", "zip:category"]``; see
            docs/columns.md. X is then a data frame, or a list of mappings.
        threads: number of threads of the whole process, as torch counts them; None does not change it.
        verbose: whether `fit` shows progress where its own ``progress`` is None.
        keep_examples: what the model keeps of the training examples, for `neighbors`: "texts", "rows" or "none"; short
            for ``data__keep_examples``. None for what the settings say, by default "none".
        **settings: single settings, by their dotted names with ``__`` instead of the dot: ``train__epochs=3``,
            ``model__dropout=0.5``, ``text__vectors="vectors.txt"``.

    Attributes:
        task: what the network predicts, ``model.task``, unless the settings name another one of `tasks`.
        tasks: the tasks that the settings may name.
        model_type: the class of the model that `fit` trains.
        metric: the metric that selects the best checkpoint.
        data_options: the options of ``data.options`` that count here, where no file is read.
        predictor_: the trained model; `fit` sets it, like all names that end in an underscore.
        result_: how training went and what it measured; not set by `from_pretrained`.
        baseline_: the comparison with simple models that were trained on the same examples; None for scores, or if
            ``baseline`` is False. Not set by `from_pretrained`.
    """

    metric: ClassVar[str] = "accuracy"
    data_options: ClassVar[frozenset[str]] = frozenset({"on_missing"})

    result_: RunResult
    baseline_: Beside | None
    _teacher: PythonTeacher | None = None
    _strangers: list[Example] | None = None

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
    ) -> Self:
        """Train, and train TF-IDF with logistic regression and NB-SVM on the same examples (some seconds).

        Problems are logged as warnings, for example if a baseline is more accurate, a class is never predicted, or most
        words are unknown.

        Args:
            X: texts, or (premise, hypothesis) pairs: a list, an array, or a column of pandas or polars; for pairs also
                a table of two columns.
            y: classes of any hashable type, all of one type; or scores from 1 to ``model.outputs`` (5).
            dev: examples that choose: the best checkpoint, how strongly each part is regularized, the weights of the
                parts, the temperature and the thresholds. A pair of texts and targets, or with weights of the
                examples as a third column; None holds out ``data.dev_fraction`` of the training examples.
            folder: run folder to write; None keeps the model in memory.
            progress: show progress, and the comparison with the baselines, on standard error, in a notebook as tqdm's
                bar where it is installed; None for ``verbose`` of the constructor.
            baseline: train the baselines, by ``sample_weight`` too; see `baseline_`.
            sample_weight: weight of each example, [N], 0 or more; None for equal weights. It reaches every part of the
                model, and everything that is chosen on the examples that are held out.

        Returns:
            The estimator.

        Raises:
            UsageError: if a setting is wrong, or X and y differ in length.
            DataError: if a text or target is invalid, with its position, or if there are too few.
        """
        refuse_file_settings(self._settings, self.data_options)
        y = list(y) if isinstance(y, Iterator) else y  # which is read twice
        how = How(
            dev, None if folder is None else checked_path(folder, "folder"), progress, baseline, sample_weight
        )
        return self._learned(X, y, self._targets_of(y), how, {"data.learn_from": ""})

    def _learned(
        self,
        X: object,
        y: object,
        targets: AnyTargets,
        how: How,
        changes: Mapping[str, object],
        before: LearnedFrom | None = None,
    ) -> Self:
        """Train, beginning with another model where there is one; see `fit`."""
        self._use_threads()
        dev, sample_weight, baseline = how.dev, how.sample_weight, how.baseline
        progress = bool(self.verbose) if how.progress is None else how.progress
        chosen = self._choose_columns(X)
        config = override(self.config, {"data.label_type": targets.label_type, **chosen, **changes})
        if config.model.task not in self.tasks:
            raise UsageError(
                f"{type(self).__name__}: expected model.task to be one of {', '.join(self.tasks)}, got "
                f"{config.model.task!r}"
            )
        for line in idle_settings(config, (name.replace("__", ".") for name in self._settings)):
            _log.warning(line)
        examples = weighted(self._examples(X, y, targets).examples, sample_weight)
        judging = None if dev is None else self._dev(dev, targets)

        def source_of(config: RunConfig) -> Source:
            return from_examples(
                examples,
                judging,
                config.model.task,
                config.data.dev_fraction,
                config.train.seed,
                labels=targets.names,
                few_rows=few_rows(config),
                learns_on=before is not None,
            )

        source, reporter = source_of(config), choose_reporter(quiet=not progress)
        with (
            stages_shown(quiet=not progress),
            fine_tuned_teachers(config, source_of, self._teacher, how.folder, reporter, progress) as taught,
        ):
            config, teacher = taught
            prepared = prepare_examples(config, source, teacher, strangers=self._strangers, before=before)
            result = train(config, prepared, folder=how.folder, reporter=reporter)
            self.result_ = result
            self.baseline_, failures = (
                or_warning(lambda: beside_source(source, result)) if baseline else (None, [])
            )
        assert isinstance(result.predictor, self.model_type)  # what its task trains
        self._set_fitted(result.predictor, targets)
        shared = [] if dev is None else shared_with_training(source.load())
        doubts = doubts_about_columns(config.data.features, getattr(prepared.datasets["train"], "cells", ()))
        self._report([*shared, *doubts, *cautions(prepared, result), *failures], progress=progress)
        return self

    def _dev(self, dev: tuple[object, ...], targets: AnyTargets) -> list[Example]:
        """Return the examples that choose."""
        if not isinstance(dev, tuple | list) or not 2 <= len(dev) <= 3:
            raise UsageError(f"dev: expected (X, y) or (X, y, sample_weight), got {dev!r:.60}")
        weights = dev[2] if len(dev) == 3 else None
        try:
            found = weighted(self._examples(dev[0], dev[1], targets).examples, weights)
        except (UsageError, DataError) as error:
            kind = DataError if isinstance(error, DataError) else UsageError
            raise kind(f"dev: {error}") from None
        if not found:
            raise UsageError(
                "dev: expected at least one example, got none; leave it out to hold out some of X"
            )
        return found

    def _report(self, warnings: list[str], *, progress: bool) -> None:
        beside = self.baseline_
        for warning in [*([] if beside is None or not beside.warning else [beside.warning]), *warnings]:
            _log.warning(warning)
        if progress and beside is not None:
            sys.stderr.write(beside.render() + "\n")

    def _targets_of(self, y: object) -> AnyTargets:
        """Return what reads the targets of a training set."""
        return Scores()

    def _set_fitted(self, predictor: Model, targets: AnyTargets) -> None:
        """Take a trained model."""
        self.predictor_, self._targets = predictor, targets

    @property
    def predictor(self) -> Model:
        """The trained model.

        Raises:
            UnfittedError: before `fit` or `from_pretrained`.
        """
        if "predictor_" not in vars(self):
            raise UnfittedError(
                f"this {type(self).__name__} is not trained: call fit, or use from_pretrained"
            )
        self._use_threads()
        return self.predictor_

    def _use_threads(self) -> None:
        if self.threads is not None:
            threads.begin(checked_whole("threads", self.threads, 1, MOST_AT_ONCE))
            threads.settle()

    def evaluate(self, X: object, y: object) -> Report:
        """Compare predictions with gold labels.

        Args:
            X: texts or pairs.
            y: gold labels.

        Returns:
            The report; ``.metrics`` holds the figures, ``.render()`` prints them.
        """
        predictor = self.predictor
        return evaluate_corpus(predictor, self._examples(X, y, self._targets))

    def explain(
        self,
        request: Text,
        *,
        method: Method | None = None,
        samples: int = 50,
        seed: int = 0,
        why: str | None = None,
        faithfulness: bool = True,
        tree: str | None = None,
        at_least: float | None = None,
    ) -> Explanation:
        """Show what each word contributes, and what the model looked at.

        Args:
            request: one text or one pair.
            method: see `heedful.tasks.SentenceModel.explain`.
            samples: likewise.
            seed: likewise.
            why: likewise.
            faithfulness: likewise.
            tree: what separates the levels of classes that are paths, such as "/": a parent may be explained too.
            at_least: the probability at which the answer stops in the tree; None for the class itself.

        Returns:
            The explanation; ``.to_html(path)``, ``.to_figure(path)``, ``.to_text()``.

        Raises:
            UsageError: if an answer is to stop in a tree and there is none; see `heedful.model.model.Model.in_tree`.
        """
        how: dict[str, object] = {
            "method": method,
            "samples": samples,
            "seed": seed,
            "why": why,
            "faithfulness": faithfulness,
        }
        if tree is None and at_least is not None:
            raise UsageError("at least: says where an answer in a tree stops: add the tree, such as tree='/'")
        model = self.predictor if tree is None else self.predictor.in_tree(tree, at_least)
        return model.explain(self._request(request), **how)

    @classmethod
    def _targets_in(cls, predictor: Model, config: RunConfig) -> AnyTargets:
        """Return what reads the targets of a model that was saved."""
        return Scores()

    def _trained_columns(self) -> Mapping[str, object]:
        """See `ReadsTables`."""
        return self.predictor_.about.data.record if "predictor_" in vars(self) else {}

    def _examples(self, X: object, y: object, targets: AnyTargets) -> Corpus:
        examples, gold = self._requests(X).examples, list[Gold](targets.read(y))
        if len(examples) != len(gold):
            sizes = f"got {len(examples)} and {len(gold)}"
            raise UsageError(f"texts and targets must have the same length; {sizes}")
        return Corpus([replace(e, target=each) for e, each in zip(examples, gold, strict=True)])

    def __sklearn_tags__(self) -> Tags:
        """Declare to scikit-learn that X is a column of strings."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.string = True
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = (
            not self._features(),
            bool(self._features()),
        )
        return tags
