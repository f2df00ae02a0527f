"""The gold of a task: its files and labels, and the numbers that examples with labels become."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from heedful.data.examples import Corpus
from heedful.models import ModelConfig
from heedful.tasks.prepared import Corpora, DataFolders, Dataset, Files, Lexicon, Model, Prepared, Source

if TYPE_CHECKING:
    from heedful.run.run_config import DataConfig, RunConfig


class TaskGold(ABC, Generic[Dataset, Lexicon, Model]):
    """What a task knows of files and labels; see `heedful.tasks.task.Task`."""

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
    def prepare(self, config: RunConfig, source: Source, place: DataFolders) -> Prepared[Dataset, Lexicon]:
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
    def read_gold(self, model: Model, file: Path, options: Mapping[str, object]) -> Corpus:
        """Read a file of examples with labels.

        Args:
            model: the model that is to be measured.
            file: the file.
            options: values of those of `options` that were given.

        Returns:
            The examples.

        Raises:
            UsageError: if an option that is needed is missing.
            DataError: naming the row, if the file is invalid.
        """

    def gold_blocks(self, model: Model, file: Path, options: Mapping[str, object]) -> Iterator[Corpus]:
        """Yield the examples of a file with labels in blocks, by default one; the last has the counts of skipped rows.

        See `read_gold`.
        """
        yield self.read_gold(model, file, options)
