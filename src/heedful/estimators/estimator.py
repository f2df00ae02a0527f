"""The base of the estimators: settings as scikit-learn parameters, training, encoding, explaining and saving."""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.exceptions import NotFittedError

from heedful.baselines.beside import Beside, beside_source, or_warning
from heedful.data.examples import Corpus, Example, Gold
from heedful.data.readers.text_fields import read_requests
from heedful.errors import ArtifactError, UsageError
from heedful.estimators.columns import rows_of
from heedful.estimators.example_weights import weighted
from heedful.estimators.file_settings import refuse_file_settings
from heedful.estimators.kept_state import KeptState
from heedful.estimators.reading_tables import ReadsTables
from heedful.estimators.setting_types import Settings
from heedful.estimators.targets import AnyTargets, Scores
from heedful.evaluation import Report
from heedful.explain import Explanation
from heedful.explain.neighbors import SHOWN, Neighbor, neighbors
from heedful.machine import threads
from heedful.model.decisions import Wish
from heedful.model.decisions.conformal import Method as SetMethod
from heedful.run import RunConfig, RunResult, evaluate_corpus, from_examples, prepare_examples, train
from heedful.run.card import cautions
from heedful.run.distilling import PythonTeacher
from heedful.run.few import few_rows
from heedful.run.recipe_files import from_table, override
from heedful.run.run_config import KeepExamples
from heedful.storage.named_models import find_model, push_model
from heedful.tasks import Answer, SentenceModel, Text, TextModel, load_model
from heedful.tasks.task import LearnedFrom
from heedful.text.boundaries import AUTO
from heedful.training.progress import choose_reporter
from heedful.training.stages import stages_shown
from heedful.training.train_settings import OptimizerSettings

if TYPE_CHECKING:
    from sklearn.utils import Tags

_log = logging.getLogger(__name__)
_OWN = ("text", "features", "threads", "verbose", "keep_examples")
"""Arguments of the constructor that are no settings of a run."""

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


Model = TypeVar("Model", bound=TextModel[Any])
Reader = TypeVar("Reader", bound=SentenceModel[Any])


class Estimator(ReadsTables, KeptState, Generic[Model]):
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

    task: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    model_type: type[Model]
    metric: ClassVar[str] = "accuracy"
    data_options: ClassVar[frozenset[str]] = frozenset({"on_missing"})

    predictor_: Model
    result_: RunResult
    baseline_: Beside | None
    _teacher: PythonTeacher | None = None
    _strangers: list[Example] | None = None

    def __init__(
        self,
        config: RunConfig | None = None,
        *,
        text: str | Sequence[str] | None = None,
        features: Sequence[str] | None = None,
        threads: int | None = None,
        verbose: bool = False,
        keep_examples: KeepExamples | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        self.threads, self.verbose, self.keep_examples = threads, verbose, keep_examples
        self.text, self.features = text, features
        self._given, self._settings = config, dict[str, Any](**settings)

    @property
    def config(self) -> RunConfig:
        """All settings that `fit` uses: the single settings applied to ``config``, or to the defaults.

        Raises:
            UsageError: listing every setting that is wrong.
        """
        given = self._start() if self._given is None else self._given
        if not isinstance(given, RunConfig):
            raise UsageError(f"config: expected a RunConfig or None, got {given!r:.60}")
        dotted = {name.replace("__", "."): _plain(value) for name, value in self._settings.items()}
        if self.keep_examples is not None:
            dotted["data.keep_examples"] = self.keep_examples
        dotted |= self._named_columns()
        return override(given, dotted) if dotted else given

    def _start(self) -> RunConfig:
        """Return the settings that single ones are put on top of, where none are given as a whole."""
        return self._defaults()

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = RunConfig()
        optimizer = OptimizerSettings(name="adam", lr=1e-3)
        return replace(
            config,
            data=replace(config.data, truncate="head"),
            text=replace(config.text, tokenizer=AUTO, normalize=True),
            model=replace(config.model, task=cls.task, dropout=0.3),
            train=replace(
                config.train, metric=cls.metric, epochs=20, patience=5, least_steps=400, optimizer=optimizer
            ),
        )

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the constructor's arguments, as scikit-learn's ``clone`` and searches need them."""
        own = {name: getattr(self, name) for name in _OWN}
        return {"config": self._given, **own, **self._settings}

    def set_params(self, **params: Any) -> Self:
        """Change settings, named as in the constructor, for the next `fit`; a trained model stays until then."""
        self._given = params.pop("config", self._given)
        for name in _OWN:
            setattr(self, name, params.pop(name, getattr(self, name)))
        self._settings = {**self._settings, **params}
        return self

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
            baseline: train the baselines; see `baseline_`. They do not use ``sample_weight``.
            sample_weight: weight of each example, [N], 0 or more; None for equal weights. It reaches every part of the
                model, and everything that is chosen on the examples that are held out.

        Returns:
            The estimator.

        Raises:
            UsageError: if a setting is wrong, or X and y differ in length.
            DataError: if a text or target is invalid, with its position, or if there are too few.
        """
        y = list(y) if isinstance(y, Iterator) else y  # which is read twice
        how = How(dev, None if folder is None else Path(folder), progress, baseline, sample_weight)
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
        refuse_file_settings(self._settings, self.data_options)
        chosen = self._choose_columns(X)
        config = override(self.config, {"data.label_type": targets.label_type, **chosen, **changes})
        if config.model.task not in self.tasks:
            raise UsageError(
                f"{type(self).__name__}: expected model.task to be one of {', '.join(self.tasks)}, got "
                f"{config.model.task!r}"
            )
        source = from_examples(
            weighted(self._examples(X, y, targets).examples, sample_weight),
            None if dev is None else self._dev(dev, targets),
            config.model.task,
            config.data.dev_fraction,
            config.train.seed,
            labels=targets.names,
            few_rows=few_rows(config),
            learns_on=before is not None,
        )
        prepared = prepare_examples(config, source, self._teacher, strangers=self._strangers, before=before)
        with stages_shown(quiet=not progress):
            result = train(
                config,
                prepared,
                folder=how.folder,
                reporter=choose_reporter(quiet=not progress),
            )
            self.result_ = result
            self.baseline_, failures = (
                or_warning(lambda: beside_source(source, result)) if baseline else (None, [])
            )
        assert isinstance(result.predictor, self.model_type)  # what its task trains
        self._adopt(result.predictor, targets)
        self._report([*cautions(prepared, result), *failures], progress=progress)
        return self

    def _dev(self, dev: tuple[object, ...], targets: AnyTargets) -> list[Example]:
        """Return the examples that choose."""
        if not isinstance(dev, tuple | list) or not 2 <= len(dev) <= 3:
            raise UsageError(f"dev: expected (X, y) or (X, y, sample_weight), got {dev!r:.60}")
        weights = dev[2] if len(dev) == 3 else None
        return weighted(self._examples(dev[0], dev[1], targets).examples, weights)

    def _report(self, warnings: list[str], *, progress: bool) -> None:
        beside = self.baseline_
        for warning in [*([] if beside is None or not beside.warning else [beside.warning]), *warnings]:
            _log.warning(warning)
        if progress and beside is not None:
            sys.stderr.write(beside.render() + "\n")

    def _targets_of(self, y: object) -> AnyTargets:
        """Return what reads the targets of a training set."""
        return Scores()

    def _adopt(self, predictor: Model, targets: AnyTargets) -> None:
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
            if type(self.threads) is not int or self.threads < 1:
                raise UsageError(
                    f"threads must be a whole number of 1 or more, or None; got {self.threads!r:.60}"
                )
            threads.begin(self.threads)
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
    ) -> Explanation:
        """Show what each word contributes, and what the model looked at.

        Args:
            request: one text or one pair.
            method: see `heedful.tasks.SentenceModel.explain`.
            samples: likewise.
            seed: likewise.
            why: likewise.
            faithfulness: likewise.

        Returns:
            The explanation; ``.to_html(path)``, ``.to_figure(path)``, ``.to_text()``.
        """
        how: dict[str, object] = {
            "method": method,
            "samples": samples,
            "seed": seed,
            "why": why,
            "faithfulness": faithfulness,
        }
        return self.predictor.explain(self._request(request), **how)

    def save_pretrained(self, folder: Path | str) -> None:
        """Write the model folder; an old one stays until the new one is complete.

        Classes that are not strings, numbers or booleans are saved as strings (`str`), and a loaded model predicts
        these strings.

        Args:
            folder: the folder.
        """
        self.predictor.complete().save(Path(folder))

    def push_to_hub(
        self, name: str, *, private: bool = False, license: str = "", token: str | None = None
    ) -> str:
        """Write the model to the Hugging Face Hub; `heedful.storage.named_models.push_model` has the details.

        Args:
            name: "user/name"; the repository is created if it does not exist.
            private: whether a new repository is private.
            license: the Hub's short name of the license of the model, such as "apache-2.0".
            token: a token with write access; None for ``HF_TOKEN`` or the token that ``hf auth login`` stored.

        Returns:
            The address of the commit.
        """
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "model"
            self.save_pretrained(folder)
            return push_model(folder, name, private=private, license=license, token=token)

    @classmethod
    def from_pretrained(
        cls,
        folder: Path | str,
        *,
        revision: str | None = None,
        download: bool = False,
        max_tokens: int | None = None,
        truncate: Literal["error", "head"] | None = None,
    ) -> Self:
        """Read a model folder.

        Args:
            folder: a folder that `save_pretrained` or ``heedful train`` wrote, or the name of a model of an installed
                package or of the Hugging Face Hub (`heedful.storage.named_models.find_model`).
            revision: branch, tag or commit on the Hub.
            download: whether a model of the Hub that is not on this machine may be downloaded.
            max_tokens: longest text, in tokens; None for what the model was saved with.
            truncate: what happens to a longer text: "error", or "head" to read its beginning; None for what was saved.

        Returns:
            The estimator.

        Raises:
            UsageError: if the model is for another task.
            ArtifactError: if a file is missing or altered.
            DataError: if the Hub does not give the model.
        """
        folder = find_model(folder, revision=revision, download=download)
        predictor = load_model(folder, max_tokens=max_tokens, truncate=truncate)
        if not isinstance(predictor, cls.model_type) or predictor.model.task not in cls.tasks:
            raise UsageError(
                f"{folder}: this is a {predictor.model.task!r} model, which {cls.__name__} does not read: use "
                "heedful.from_pretrained"
            )
        return cls._around(predictor, folder)

    @classmethod
    def _around(cls, predictor: Model, folder: Path | str) -> Self:
        try:
            estimator = cls(from_table(predictor.about.run, f"{folder}"))
        except UsageError as error:
            raise ArtifactError(f"{error} Train the model again with this version of heedful.") from error
        estimator._adopt(predictor, cls._targets_in(predictor, estimator.config))
        return estimator

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


class SentenceEstimator(TransformerMixin, Estimator[Reader]):
    """Base of the estimators whose model has one vector for a text; see `Estimator` for the arguments."""

    def transform(self, X: object) -> NDArray[np.float32]:
        """Return the vector of each text, [N, D], so that a fitted model is a step in front of another estimator.

        Args:
            X: texts. Of pairs the vectors of both texts stand side by side, [N, 2 D].

        Returns:
            What `encode` returns.
        """
        if not self._pair():
            beside = self._beside()
            return self.encode(
                X if beside is None else [each.texts[0] for each in self._requests(X).examples]
            )
        sides = zip(*(example.texts for example in self._requests(X).examples), strict=True)
        return np.concatenate([self.encode(list(side)) for side in sides], axis=1)

    def __sklearn_tags__(self) -> Tags:
        """Declare to scikit-learn that vectors are single precision whatever X is."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Name the columns of `transform`, as scikit-learn's ``set_output`` and ColumnTransformer need them.

        Args:
            input_features: not used.

        Returns:
            The name of the class in small letters with a number, [D].
        """
        network = self.predictor.network
        width = network.sentence_encoder.width_out * (2 if self._pair() else 1)
        name = type(self).__name__.lower()
        return np.array([f"{name}{k}" for k in range(width)], object)

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = super()._defaults()
        return replace(
            config,
            data=replace(config.data, few_rows=1000),
            text=replace(config.text, vectors="auto"),
            model=replace(config.model, wide="linear", sentence="auto"),
        )

    def answer(self, X: object) -> list[Answer]:
        """Return the full prediction for each input, with counts of unknown and truncated words; see `Answer`."""
        return self.predictor.answer(self._requests(X))

    def promised(
        self, X: object, coverage: float, *, method: SetMethod = "lac", by_class: bool = False
    ) -> list[Any]:
        """Return what `answer` returns, with a set of labels or an interval that holds what is right so often.

        Args:
            X: texts or pairs.
            coverage: how often, above 0 and below 1; see docs/limits.md for what that assumes.
            method: of classes how sets are made: "lac", "aps" or "raps".
            by_class: of classes whether it is to hold for each class by itself.

        Returns:
            The answers; ``prediction_set`` or ``interval`` is what was asked for.

        Raises:
            UsageError: if the coverage is out of range, or the model keeps no scores of rows that chose nothing.
        """
        return self.predictor.promising(Wish(coverage, method, by_class)).answer(self._requests(X))

    def encode(self, texts: object) -> NDArray[np.float32]:
        """Return the vector of each text, [N, D]; exactly zero for a text without words."""
        return self.predictor.encode(read_requests(rows_of(texts, name="texts")))

    def neighbors(self, X: object, count: int = SHOWN) -> list[tuple[Neighbor, ...]]:
        """Return the training examples that each input resembles most, of a model that keeps them.

        Args:
            X: texts or pairs.
            count: how many for each, 1 to 100.

        Returns:
            For each input its neighbors, the most alike first; see `heedful.explain.neighbors.Neighbor`.

        Raises:
            UsageError: if the model was trained without ``keep_examples``, or the number is out of range.
        """
        return neighbors(self.predictor, self._requests(X), count)

    def similarity(self, first: object, second: object) -> NDArray[np.float32]:
        """Return the cosine of every text of ``first`` with every text of ``second``, [N, M]; 0 with an empty text."""
        a, b = (_unit(self.encode(texts)) for texts in (first, second))
        return np.clip(a @ b.T, -1, 1).astype(np.float32)


def _plain(value: object) -> object:
    """A search over an array of settings brings NumPy's numbers."""
    return value.item() if isinstance(value, np.generic) else value


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(norms == 0, 1, norms)
