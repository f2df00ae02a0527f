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
from heedful.data.examples import Corpus
from heedful.data.readers.reading import RequestFiles
from heedful.evaluation import Report
from heedful.models import ModelConfig
from heedful.storage.model_folder import ModelFolder
from heedful.structures import Batch
from heedful.tasks.records import AnyAnswer
from heedful.tasks.saved_model import Limits, SavedModel
from heedful.training.step import Objective

if TYPE_CHECKING:
    from heedful.config import DataConfig, RunConfig
    from heedful.explain import Explanation
    from heedful.run.protocol import Protocol

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


@dataclass(frozen=True)
class Source:
    """Where the examples of a run come from; nothing is read until `load` is called.

    Attributes:
        load: reads "train", "dev" and, if there is one, "test"; if the test part selects, the two are one object.
        task: what their gold is for, ``model.task``.
        protocol: how the parts come about.
        labels: class names in their fixed order; empty where they are collected from the training examples.
        fingerprint: file to SHA-256 of its content.
        unlabelled: texts without gold whose words belong into the vocabulary too; None for none.
    """

    load: Callable[[], Corpora]
    task: str
    protocol: Protocol
    labels: tuple[str, ...] = ()
    fingerprint: dict[str, str] = field(default_factory=dict)
    unlabelled: Corpus | None = None


@dataclass(frozen=True)
class Files:
    """The files of a run that the settings name.

    Attributes:
        read: reads every part that has a file.
        fingerprint: what a card calls a file, to the SHA-256 of its content.
    """

    read: Callable[[], Corpora]
    fingerprint: dict[str, str]


@dataclass(frozen=True)
class Place:
    """Where the data side finds and keeps things.

    Attributes:
        root: the folder of data sets; None where nothing is read from it.
        cache: the cache folder; None for the default.
        keep: whether what was prepared is kept in the cache.
    """

    root: Path | None = None
    cache: Path | None = None
    keep: bool = True


@dataclass(frozen=True)
class Prepared(Generic[Dataset_co, Lexicon_co]):
    """Data that is ready for training.

    Attributes:
        datasets: "train", "dev" and, where there is one, "test".
        labels: class names in the order of their numbers; empty where there are none.
        task: what the gold is for, ``model.task``.
        lexicon: what turned the texts into numbers, and will do so for requests.
        notes: what was left out or cut, as lines for a person.
        protocol: how the parts came about.
        fingerprint: file to SHA-256 of what was read.
        transfer: with a teacher the transfer set: the examples of "train" and what was added to them. Its targets are
            [N, 1 + Y + V] float32: the number of the class, -1 without gold; the teacher's probabilities, zeros where
            it gave no answer; and its sentence vectors, V being 0 where they are not learned.
    """

    datasets: Mapping[str, Dataset_co]
    labels: tuple[str, ...]
    task: str
    lexicon: Lexicon_co
    notes: tuple[str, ...]
    protocol: Protocol
    fingerprint: dict[str, str]
    transfer: Dataset_co | None = None


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
    """One task: its files, its gold, its network, its loss, its figures, its answers.

    Attributes:
        name: ``model.task``, and what a data set of it names.
        noun: what it is about, for messages: "a task of NOUN", "a model of NOUN".
        metrics: what is measured; the first is the usual one.
        uses: settings that not every task reads and this one does: names such as "data.score", or whole tables such as
            "translation". What another task uses and this one does not is refused for it.
        options: options of the commands that not every task takes and this one does, without the dashes.
        question: what the model answers, for its card.
        usage: how it is asked, as Python, for its card.
        hub_task: what the Hugging Face Hub calls such a task.
        header: names of the columns that `rows` gives.
        kept: what a run's record keeps of its answers: "classes", "scores", or the "counts" of its metrics.
        sides: texts of an example, 1 or 2.
        settings: the class of the task's own settings, ``model.task_options``; a task without any has no use for them.
        shows_texts: whether a terminal shows the texts beside the rows, which do not hold them.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    metrics: ClassVar[tuple[str, ...]]
    uses: ClassVar[frozenset[str]]
    options: ClassVar[frozenset[str]] = frozenset()
    question: ClassVar[str]
    usage: ClassVar[str]
    hub_task: ClassVar[str] = "text-classification"
    header: ClassVar[tuple[str, ...]]
    kept: ClassVar[Literal["classes", "scores", "counts"]] = "classes"
    sides: ClassVar[int] = 1
    settings: ClassVar[type[Settings]] = Settings
    shows_texts: ClassVar[bool] = True

    def problems(self, config: RunConfig) -> list[str]:
        """Return what is wrong with the settings for this task, a sentence each; what it does not use is left out."""
        return []

    def options_problems(self, model: ModelConfig) -> list[str]:
        """Return every mistake in the settings of the task's own, a sentence each."""
        problems: list[str] = []
        read_table(self.settings, model.task_options, "model.task_options.", problems)
        return problems

    @abstractmethod
    def files(self, names: Mapping[str, str], data: DataConfig, root: Path | None) -> Files:
        """Find the files of a run that the settings name.

        Args:
            names: part to what the settings call its file.
            data: the settings.
            root: the folder of data sets, or None.

        Returns:
            The files; nothing is read yet but their hashes.

        Raises:
            UsageError: if the settings contradict each other.
            DataError: if a file is missing.
        """

    @abstractmethod
    def collect_labels(self, corpus: Corpus) -> tuple[str, ...]:
        """Return the names that the gold of a training part uses, in the order of their numbers; none for numbers."""

    def check_gold(self, corpora: Corpora, model: ModelConfig) -> None:
        """Refuse gold that the settings do not allow; by default nothing is refused.

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
            Everything that training needs from the data side.

        Raises:
            DataError: naming file and row, if something is wrong with the data.
        """

    @abstractmethod
    def untrained(self, config: RunConfig, prepared: Prepared[Dataset, Lexicon]) -> Model:
        """Build the network with its initial weights, together with what reads its texts.

        Args:
            config: the settings of the run; its seed decides the weights.
            prepared: the data, which decides the number of outputs where there are classes.

        Returns:
            The model, to be trained in place.
        """

    @abstractmethod
    def collate(self, dataset: Dataset, rows: NDArray[np.int64]) -> Batch:
        """Pad rows of a data set to one batch with targets."""

    def shared(self, dataset: Dataset) -> Shared | None:
        """Return which examples share texts; None for a task of which the examples are single texts."""
        return None

    @abstractmethod
    def objective(self, config: RunConfig, model: Model) -> Objective:
        """Return what training minimises.

        Args:
            config: the settings.
            model: what is trained; a network may hold what its loss needs, such as a scale.

        Returns:
            The function from a network's output and a batch's targets to the loss of each example, [B].
        """

    def calibrate(self, model: Model, dev: Dataset, training: Dataset) -> None:
        """Fit what is fitted on the dev split once the weights stand, such as a temperature; by default nothing.

        Args:
            model: the trained model, changed in place.
            dev: examples with gold that it was not trained on.
            training: those that it was trained on.
        """
        return

    @abstractmethod
    def read(self, model: Model, corpus: Corpus, folder: Path | None = None) -> Dataset:
        """Turn examples with gold into the data set that `measure` takes.

        Args:
            model: the model that is to be measured.
            corpus: the examples.
            folder: the folder of data sets, where the model's parser may be a file; None for ``HEEDFUL_DATA``.

        Returns:
            The data set.

        Raises:
            DataError: naming the row, if gold is missing or wrong, or a text too long.
        """

    @abstractmethod
    def measure(self, model: Model, dataset: Dataset) -> Report:
        """Compare a model's answers with gold.

        Args:
            model: the model.
            dataset: at least one example, with gold.

        Returns:
            The report.

        Raises:
            UsageError: if there is no gold.
        """

    @abstractmethod
    def read_gold(self, model: Model, file: Path, given: Mapping[str, object]) -> Corpus:
        """Read a file of examples with gold.

        Args:
            model: the model that is to be measured.
            file: the file.
            given: values of those of `options` that were given.

        Returns:
            The examples.

        Raises:
            UsageError: if an option that is needed is missing.
            DataError: naming the row, if the file is not what it should be.
        """

    def gold_blocks(self, model: Model, file: Path, given: Mapping[str, object]) -> Iterator[Corpus]:
        """Yield the examples of a file with gold in blocks, the last with what was skipped; by default in one block.

        See `read_gold`.
        """
        yield self.read_gold(model, file, given)

    def measure_blocks(self, model: Model, blocks: Iterable[Dataset]) -> Report:
        """Compare a model's answers with gold, block after block, keeping what the report needs; see `measure`.

        Each block has at least one example. The metrics are those that `measure` gives for all examples together.
        """
        return self.measure(model, *blocks)  # by default one block

    def request_files(self, model: Model) -> RequestFiles:
        """Return which files of requests a model reads in its own way; by default none."""
        return RequestFiles()

    def answer(self, model: Model, corpus: Corpus, given: Mapping[str, object]) -> Sequence[Answered]:
        """Answer requests as a command asks.

        Args:
            model: the model.
            corpus: the requests.
            given: values of those of `options` that were given.

        Returns:
            One answer a request, in order.
        """
        return model.answer(corpus)

    def explain(self, model: Model, corpus: Corpus, given: Mapping[str, object]) -> Explanation:
        """Explain the answer to one request as a command asks; see `answer`."""
        return model.explain(corpus)

    @abstractmethod
    def rows(self, answer: Answered) -> Iterable[list[str]]:
        """Lay an answer out.

        Args:
            answer: the answer to one request.

        Returns:
            At least one row of as many cells as `header` has.
        """

    @abstractmethod
    def vocabulary_note(self, lexicon: Lexicon) -> str:
        """Say what the vocabulary of a model holds, for its card, without a final stop."""

    @abstractmethod
    def limits(self, lexicon: Lexicon, network: nn.Module) -> str:
        """Say what a user of a model should know, for its card, in whole sentences."""

    @abstractmethod
    def load(self, folder: ModelFolder, path: Path, limits: Limits) -> Model:
        """Put together what a model folder holds.

        Args:
            folder: the content, checked against its checksums; its ``model.task`` is this one.
            path: where it was read, for messages.
            limits: another limit on the length of a text than the one that was saved.

        Returns:
            The model, in evaluation mode.

        Raises:
            ArtefactError: naming what does not belong together.
            MissingExtraError: if it needs a library that is not installed.
        """
