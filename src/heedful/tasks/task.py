"""What a task is: everything that a run, a saved model and the command line ask of it, and nothing that they know."""

from __future__ import annotations

import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import nn

from heedful.checked import Settings, read_table
from heedful.data.examples import Corpus, Example
from heedful.data.readers.reading import RequestFiles
from heedful.evaluation import Report
from heedful.model.answers import AnyAnswer
from heedful.model.decisions import kind_of
from heedful.model.text_reading import Limits
from heedful.models import ModelConfig
from heedful.storage.model_folder import ModelFolder
from heedful.structures import Batch
from heedful.tasks.saved_model import SavedModel
from heedful.training.step import Objective, TrainingData

if TYPE_CHECKING:
    from heedful.explain import Explanation
    from heedful.run.protocol import Protocol
    from heedful.run.run_config import DataConfig, RunConfig

Corpora = dict[str, Corpus]
"""The splits by name."""


class Examples(typing.Protocol):
    """What every data set of numbers has."""

    def __len__(self) -> int: ...

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each text, [N, sides] int64."""


Dataset = TypeVar("Dataset", bound=Examples)
Dataset_co = TypeVar("Dataset_co", bound=Examples, covariant=True)
Lexicon = TypeVar("Lexicon")
Lexicon_co = TypeVar("Lexicon_co", covariant=True)
Model = TypeVar("Model", bound=SavedModel[Any])
Answered = TypeVar("Answered", bound=AnyAnswer)


@dataclass(frozen=True, eq=False)
class LearnedFrom:
    """A model that another one begins with.

    Attributes:
        name: its folder, or what else it is called.
        model: the model.
        examples: its training examples that are learned again, each with the weight of those that it stands for.
        seen: from how many rows it learned; 0 if that is not known.
        whole: whether `examples` are all of them, so that everything is learned anew.
        checksum: of its manifest; empty for a model in memory.
    """

    name: str
    model: SavedModel[Any]
    examples: tuple[Example, ...] = ()
    seen: int = 0
    whole: bool = False
    checksum: str = ""


@dataclass(frozen=True)
class Source:
    """Where the examples of a run come from; nothing is read until `load` is called.

    Attributes:
        load: reads "train", "dev" and, if there is one, "test"; if the test split selects, the two are one object.
        task: the task of their labels, ``model.task``.
        protocol: how the splits are made.
        labels: class names in their fixed order; empty if they are collected from the training examples.
        fingerprint: file to SHA-256 of its content.
        unlabeled: texts without labels whose words are also added to the vocabulary; None for none.
        before: the model that the run begins with; None for none.
    """

    load: Callable[[], Corpora]
    task: str
    protocol: Protocol
    labels: tuple[str, ...] = ()
    fingerprint: dict[str, str] = field(default_factory=dict)
    unlabeled: Corpus | None = None
    before: LearnedFrom | None = None


@dataclass(frozen=True)
class Files:
    """The files of a run that the settings name.

    Attributes:
        read: reads every split that has a file.
        fingerprint: name of a file in the model card to the SHA-256 of its content.
    """

    read: Callable[[], Corpora]
    fingerprint: dict[str, str]


@dataclass(frozen=True)
class Place:
    """The folders of data sets and of the cache.

    Attributes:
        root: the folder of data sets; None if nothing is read from it.
        cache: the cache folder; None for the default.
        keep: whether prepared data is kept in the cache.
    """

    root: Path | None = None
    cache: Path | None = None
    keep: bool = True


@dataclass(frozen=True)
class Prepared(Generic[Dataset_co, Lexicon_co]):
    """Data that is ready for training.

    Attributes:
        datasets: "train", "dev" and, if there is one, "test".
        labels: class names in the order of their numbers; empty if there are none.
        task: the task of the labels, ``model.task``.
        lexicon: turns texts into numbers, in training and in prediction.
        notes: messages for the user about skipped and truncated examples.
        protocol: how the splits were made.
        fingerprint: name of each file to the SHA-256 of its content.
        transfer: with a teacher, the transfer set: the examples of "train" and those that were added. Its targets,
            [N, 1 + Y + V] float32, are the number of the class (-1 without a label), the teacher's probabilities (zeros
            without a prediction), and its sentence vectors (V is 0 if they are not learned); of
            several labels, scores and numbers they are those of "train", mixed with the teacher's answers.
        decided: settings that the data decided, by their dotted names; see `heedful.run.decided`.
        before: the model that the run begins with; None for none.
    """

    datasets: Mapping[str, Dataset_co]
    labels: tuple[str, ...]
    task: str
    lexicon: Lexicon_co
    notes: tuple[str, ...]
    protocol: Protocol
    fingerprint: dict[str, str]
    transfer: Dataset_co | None = None
    decided: Mapping[str, object] = field(default_factory=dict)
    before: LearnedFrom | None = None


AnyPrepared = Prepared[Examples, object]
"""Data of any task."""


@dataclass(frozen=True)
class Shared:
    """Examples that share texts, each of which is then read once.

    Attributes:
        groups: number of the group of each example that goes into one batch, [N].
        collate: makes a batch of rows.
    """

    groups: NDArray[np.int64]
    collate: Callable[[NDArray[np.int64]], Batch]


class Task(ABC, Generic[Dataset, Lexicon, Model, Answered]):
    """One task: its files, labels, network, loss, metrics and predictions.

    Attributes:
        name: the name in ``model.task`` and in the table of data sets.
        metrics: names of the metrics; the first is the main one.
        uses: settings that this task reads and some other tasks do not: names such as "data.score", or whole tables
            such as "model.tagger". A setting that only other tasks use is refused.
        options: command-line options that this task accepts and some other tasks do not, without the dashes.
        question: what the model predicts, for its card.
        usage: Python code that predicts with it, for its card.
        hub_task: the name of such a task on the Hugging Face Hub.
        kept: what the record of a run keeps: predicted "classes", "scores", or the "counts" behind the metrics.
        sides: number of texts in an example, 1 or 2.
        settings: the class of the settings of the task itself, ``model.task_options``.
        chooses_by_folds: whether a model of few rows is chosen by cross-validation, without a dev split.
    """

    name: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]
    uses: ClassVar[frozenset[str]]
    options: ClassVar[frozenset[str]] = frozenset()
    question: ClassVar[str]
    usage: ClassVar[str]
    hub_task: ClassVar[str] = "text-classification"
    kept: ClassVar[Literal["classes", "scores", "counts"]] = "classes"
    sides: ClassVar[int] = 1
    settings: ClassVar[type[Settings]] = Settings
    chooses_by_folds: ClassVar[bool] = False

    @property
    def noun(self) -> str:
        """Its subject, for messages: "a task of NOUN", "a model of NOUN"."""
        return kind_of(self.name).noun

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns that `rows` returns."""
        return kind_of(self.name).layout.header

    @property
    def shows_texts(self) -> bool:
        """Whether the texts are printed beside the rows on a terminal, because the rows do not contain them."""
        return not kind_of(self.name).of_words

    def problems(self, config: RunConfig) -> list[str]:
        """Return mistakes in the settings, one sentence each, other than settings that the task does not use."""
        return []

    def options_problems(self, model: ModelConfig) -> list[str]:
        """Return every mistake in the settings of the task itself, as one sentence each."""
        problems: list[str] = []
        read_table(self.settings, model.task_options, "model.task_options.", problems)
        return problems

    @abstractmethod
    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """Find the files of a run that the settings name.

        Args:
            names: name of each split to the name of its setting.
            data: the settings.
            root: the folder of data sets, or None.

        Returns:
            The files; only their checksums have been computed.

        Raises:
            UsageError: if the settings contradict each other.
            DataError: if a file is missing.
        """

    @abstractmethod
    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """Return the label names of a training split, in the order of their numbers; none for numbers."""

    def check_gold(self, corpora: Corpora, model: ModelConfig) -> None:
        """Refuse labels that the settings do not allow; by default nothing is refused.

        Args:
            corpora: the splits by name.
            model: the settings of the network.

        Raises:
            DataError: naming the row.
        """
        return

    @abstractmethod
    def prepare(self, config: RunConfig, source: Source, place: Place) -> Prepared[Dataset, Lexicon]:
        """Read and encode the examples of a source.

        Args:
            config: the settings.
            source: where the examples come from.
            place: where files are found and kept.

        Returns:
            All data that training needs.

        Raises:
            DataError: naming file and row, if something is wrong with the data.
        """

    @abstractmethod
    def untrained(self, config: RunConfig, prepared: Prepared[Dataset, Lexicon]) -> Model:
        """Build the network with its initial weights, together with the lexicon that reads its texts.

        Args:
            config: the settings of the run; its seed determines the weights.
            prepared: the data, which determines the number of classes, if there are classes.

        Returns:
            The model, to be trained in place.
        """

    @abstractmethod
    def collate(self, dataset: Dataset, rows: NDArray[np.int64]) -> Batch:
        """Pad rows of a data set to one batch with targets."""

    def shared(self, dataset: Dataset) -> Shared | None:
        """Return which examples share texts; None if the examples of the task are single texts."""
        return None

    @abstractmethod
    def objective(self, config: RunConfig, model: Model) -> Objective:
        """Return the loss function.

        Args:
            config: the settings.
            model: the model that is trained; its network may have values that the loss needs, such as a scale.

        Returns:
            The function from a network's output and a batch's targets to the loss of each example, [B].
        """

    def drawn(self, config: RunConfig, dataset: Dataset, data: TrainingData) -> TrainingData:
        """Return the batches that are trained on; by default those that are given.

        Args:
            config: the settings of the run.
            dataset: the training examples.
            data: their batches.

        Returns:
            The batches.
        """
        return data

    def end(self, config: RunConfig, model: Model, datasets: Mapping[str, Dataset]) -> None:
        """Fit what needs the trained network, before anything is calibrated; by default nothing.

        Args:
            config: the settings of the run.
            model: the trained model, changed in place.
            datasets: see `begin`.
        """
        return

    def begin(self, config: RunConfig, model: Model, datasets: Mapping[str, Dataset]) -> None:
        """Fit what does not need the network, before it is trained; by default nothing.

        Args:
            config: the settings of the run.
            model: the untrained model, changed in place.
            datasets: "train", and "dev" unless everything is chosen by cross-validation.
        """
        return

    def held_out(self, model: Model, datasets: Mapping[str, Dataset]) -> Report:
        """Report on the examples that chose: the dev split, or by cross-validation every training example.

        Args:
            model: the trained model.
            datasets: see `begin`.

        Returns:
            The report.
        """
        return self.measure(model, datasets["dev"])

    def judge(self, model: Model, dev: Dataset) -> Mapping[str, float]:
        """Measure a model in training on the dev split, as it would be delivered now: all its parts together.

        Args:
            model: the model; what `calibrate` will fit is fitted for this measurement alone.
            dev: examples with labels that the model is not trained on.

        Returns:
            The metrics, of which one selects the best checkpoint.
        """
        return self.measure(model, dev).metrics

    def calibrate(self, model: Model, datasets: Mapping[str, Dataset]) -> None:
        """Fit values after training on examples that the model was not trained on, such as a temperature.

        By default nothing is fitted.

        Args:
            model: the trained model, changed in place.
            datasets: see `begin`.
        """
        return

    def keep(self, config: RunConfig, model: Model, training: Dataset) -> None:
        """Keep training examples in a trained model, as ``data.keep_examples`` says; by default nothing is kept.

        Args:
            config: the settings of the run.
            model: the trained model, changed in place.
            training: the training examples.
        """
        return

    @abstractmethod
    def read(self, model: Model, corpus: Corpus, folder: Path | None = None) -> Dataset:
        """Turn examples with labels into the data set that `measure` needs.

        Args:
            model: the model that is to be measured.
            corpus: the examples.
            folder: the folder of data sets, where the model's parser may be a file; None for ``HEEDFUL_DATA``.

        Returns:
            The data set.

        Raises:
            DataError: naming the row, if a label is missing or wrong, or a text is too long.
        """

    @abstractmethod
    def measure(self, model: Model, dataset: Dataset) -> Report:
        """Compare a model's predictions with the gold labels.

        Args:
            model: the model.
            dataset: at least one example, with labels.

        Returns:
            The report.

        Raises:
            UsageError: if there are no labels.
        """

    @abstractmethod
    def read_gold(self, model: Model, file: Path, given: Mapping[str, object]) -> Corpus:
        """Read a file of examples with labels.

        Args:
            model: the model that is to be measured.
            file: the file.
            given: values of those of `options` that were given.

        Returns:
            The examples.

        Raises:
            UsageError: if an option that is needed is missing.
            DataError: naming the row, if the file is invalid.
        """

    def gold_blocks(self, model: Model, file: Path, given: Mapping[str, object]) -> Iterator[Corpus]:
        """Yield the examples of a file with labels in blocks, by default one; the last has the counts of skipped rows.

        See `read_gold`.
        """
        yield self.read_gold(model, file, given)

    def measure_blocks(self, model: Model, blocks: Iterable[Dataset]) -> Report:
        """Compare predictions with gold labels block by block, and keep only what the report needs; see `measure`.

        Each block has at least one example. The metrics are those that `measure` gives for all examples together.
        """
        return self.measure(model, *blocks)  # by default one block

    def request_files(self, model: Model) -> RequestFiles:
        """Return the kinds of input files that the task reads in its own way; by default none."""
        return RequestFiles()

    def answer(self, model: Model, corpus: Corpus, given: Mapping[str, object]) -> Sequence[Answered]:
        """Predict for the inputs of a command, with the values of those of `options` that were given."""
        return model.answer(corpus)

    def explain(self, model: Model, corpus: Corpus, given: Mapping[str, object]) -> Explanation:
        """Explain the prediction for one input of a command; see `answer`."""
        return model.explain(corpus)

    def rows(self, answer: Answered) -> Iterable[list[str]]:
        """Return a prediction as rows of a table, at least one, each with as many cells as `header`."""
        return [kind_of(self.name).layout.cells(answer)]

    @abstractmethod
    def vocabulary_note(self, lexicon: Lexicon) -> str:
        """Describe the vocabulary of a model for its card, without a final period."""

    @abstractmethod
    def limits(self, lexicon: Lexicon, network: nn.Module) -> str:
        """Describe the limits of a model for its card, in whole sentences."""

    @abstractmethod
    def load(self, folder: ModelFolder, path: Path, limits: Limits) -> Model:
        """Build the model from the content of its folder.

        Args:
            folder: the content, checked against its checksums; its ``model.task`` is this one.
            path: where it was read, for messages.
            limits: a limit on the length of a text that replaces the saved one.

        Returns:
            The model, in evaluation mode.

        Raises:
            ArtifactError: naming the parts of the folder that do not match.
            MissingExtraError: if the model needs a library that is not installed.
        """
