"""Where the examples of a run come from and by which protocol, and what they are when they are ready for training."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus, Example
from heedful.models.config import NO_NETWORK
from heedful.structures import Batch
from heedful.tasks.saved_model import SavedModel

Corpora = dict[str, Corpus]
"""The splits by name."""


class Examples(typing.Protocol):
    """What every data set of numbers has."""

    def __len__(self) -> int: ...

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each text, [N, sides] int64."""


FOLD_SEED = 0
"""Folds are the same for every training seed, so that seeds and folds vary apart."""
TRANSFER = "transfer"
"""The examples that a student learns from, in the data sets that a task fits its linear parts with."""


@dataclass(frozen=True, eq=False)
class TeacherAnswers:
    """A teacher's answers.

    Attributes:
        probabilities: [N, Y] float32, in the order of the student's labels; of classes rows sum to 1, or are zero where
            there is no answer. Of several labels each has its own; of scores and numbers they are these, [N, 1]. Of
            tags there is a row for each word, those of all examples end to end.
        vectors: the teacher's sentence vectors, those of all sides and of all teachers side by side, [N, V] float32; V
            is 0 where they were not asked for, or there are none.
    """

    probabilities: NDArray[np.float32]
    vectors: NDArray[np.float32]


Dataset = TypeVar("Dataset", bound=Examples)
Dataset_co = TypeVar("Dataset_co", bound=Examples, covariant=True)
Lexicon = TypeVar("Lexicon")
Lexicon_co = TypeVar("Lexicon_co", covariant=True)
Model = TypeVar("Model", bound=SavedModel[Any])


@dataclass(frozen=True)
class Protocol:
    """Which examples train, which split selects the best checkpoint, and which split is tested.

    Attributes:
        origin: "splits" of a known data set, "folds" of one or of a named file, the "generated" corpus, named "files",
            or examples from "python".
        selects: "dev" for a split of its own, "cut" for one that is held out from the training examples, "folds" for
            cross-validation on few training examples, "taught" for texts without labels as a teacher answers them,
            "test" for the best of all evaluations on the test split itself, as the papers report it.
        train: the split that trains; only if the origin is splits.
        dev: the split or file that selects; empty unless ``selects`` is "dev".
        test: the split or file that is tested; empty if there is none.
        train_limit: how many of the first training examples are used; 0 for all.
        dev_fraction: share that is held out from the training examples, or from the texts without labels; 0 unless
            ``selects`` is "cut" or "taught".
        cut_seed: random seed of that choice; None if each of several runs uses its own seed.
        folds: number of folds; 0 unless the origin is folds.
        fold: the fold that is held out, from 1; 0 if each is held out in turn.
        fold_seed: random seed of the shuffle before the examples are divided into folds.
    """

    origin: Literal["splits", "folds", "generated", "files", "python"]
    selects: Literal["dev", "cut", "test", "folds", "taught"]
    train: str = ""
    dev: str = ""
    test: str = "test"
    train_limit: int = 0
    dev_fraction: float = 0.0
    cut_seed: int | None = None
    folds: int = 0
    fold: int = 0
    fold_seed: int = FOLD_SEED

    def of_all_runs(self) -> Protocol:
        """Return what the runs of a study share: neither one seed nor one fold."""
        return replace(self, cut_seed=None, fold=0)

    def sentence(self) -> str:
        """Return it in words, without a final stop."""
        return f"{self._examples()}; {self._selection()}"

    def _examples(self) -> str:
        if self.origin == "folds":
            which = (
                f"fold {self.fold} of {self.folds}" if self.fold else f"each of {self.folds} folds in turn"
            )
            return f"{which} (shuffle seed {self.fold_seed}) is the test split"
        if self.origin == "splits":
            official = (self.train, self.test) == ("train", "test")
            how = (
                "official splits" if official else f"training split {self.train!r}, test split {self.test!r}"
            )
            return how + (f"; the first {self.train_limit:,} training examples" if self.train_limit else "")
        return {"generated": "generated corpus", "files": "named files", "python": "examples from Python"}[
            self.origin
        ]

    def _selection(self) -> str:
        if self.selects == "test":
            return "the papers' own protocol: the best of all evaluations on the test split itself"
        once = "; the test split is read once" if self.test else ""
        if self.selects == "folds":
            return f"everything is chosen by cross-validation on the training examples, and fitted on all of them{once}"
        if self.selects == "taught":
            return (
                f"{self.dev_fraction:.0%} of the texts without labels, with the teacher's answers as labels, are the "
                f"dev split, which selects the best checkpoint: figures on it are agreement with the teacher{once}"
            )
        if self.selects == "dev":
            return f"{self._dev()} selects the best checkpoint{once}"
        seed = "with the run's seed" if self.cut_seed is None else f"seed {self.cut_seed}"
        held = f"{self.dev_fraction:.0%} of the training split ({seed})"
        return f"{held} is held out as the dev split, which selects the best checkpoint{once}"

    def _dev(self) -> str:
        if self.origin == "generated":
            return "its dev split"
        if self.origin == "splits":
            return "the official dev split" if self.dev == "dev" else f"the split {self.dev!r}"
        return "the dev file"


@dataclass(frozen=True, eq=False)
class LearnedFrom:
    """A model that another one begins with.

    Attributes:
        name: its folder, or what else it is called.
        model: the model.
        examples: its training examples that are learned again, each with the weight of those that it stands for.
        seen: from how many rows it learned; 0 if that is not known.
        whole: whether `examples` are all of them, so that everything is learned anew.
        checksum: of what it answers with (`answers_checksum`); empty for a model in memory.
        each: for how many examples each of `examples` stands.
        judging: further examples of it, which choose and are not learned; with a network alone.
        judging_each: for how many examples each of `judging` stands.
    """

    name: str
    model: SavedModel[Any]
    examples: tuple[Example, ...] = ()
    seen: int = 0
    whole: bool = False
    checksum: str = ""
    each: float = 1.0
    judging: tuple[Example, ...] = ()
    judging_each: float = 1.0

    @property
    def has_network(self) -> bool:
        """Whether it has a network, which is trained on or anew."""
        return bool(self.model.model.encoder != NO_NETWORK)

    @property
    def recalls(self) -> bool:
        """Whether its network goes on, rather than that all rows are learned anew."""
        return self.has_network and not self.whole


@dataclass(frozen=True, eq=False)
class StartsFrom:
    """A model that gives a network its first weights (`model.start`).

    Attributes:
        name: its folder or its name.
        model: the model.
        checksum: of what it answers with (`answers_checksum`).
    """

    name: str
    model: SavedModel[Any]
    checksum: str


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
class DataFolders:
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
        decided: settings that the data decided, by their dotted names; see `heedful.run.decided_by_data`.
        before: the model that the run begins with; None for none.
        start: the model that gives the network its first weights; None for none.
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
    start: StartsFrom | None = None


AnyPrepared = Prepared[Examples, object]
"""Data of any task."""


@dataclass(frozen=True)
class SharedTexts:
    """Examples that share texts, each of which is then read once.

    Attributes:
        groups: number of the group of each example that goes into one batch, [N].
        collate: makes a batch of rows.
    """

    groups: NDArray[np.int64]
    collate: Callable[[NDArray[np.int64]], Batch]
