"""What may teach a student: models of Heedful, several of them, a file of soft labels, a function of Python."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from heedful.data.cache import load_or_build_arrays
from heedful.data.examples import Corpus, Example
from heedful.data.readers.class_folders import find_named
from heedful.data.readers.soft_labels import (
    SoftLabels,
    checked_probabilities,
    probabilities_of,
    read_soft_labels,
)
from heedful.data.readers.text_lines import bare_suffix
from heedful.errors import ArtifactError, UsageError
from heedful.model.decisions import ScoreDecision, kind_of
from heedful.storage.fields import read_fields
from heedful.storage.layout import MODEL
from heedful.storage.manifest import MANIFEST, answers_checksum
from heedful.tasks import load_model, model_folder
from heedful.tasks.corpus_reading import in_whole
from heedful.tasks.prepared import TeacherAnswers
from heedful.tasks.sentences.sentence_model import SentenceModel
from heedful.tasks.tables import PAIR, TEXT, sum_of
from heedful.tasks.words.tags_model import TagsModel
from heedful.training.stages import stage

BLOCK = 1_024
"""Texts that are answered at once; the answers to each such block are kept, so that a killed run goes on after them."""
Answering = Callable[[list[Any]], Any]
"""A teacher in Python: strings, or pairs of strings, to one row of probabilities each, or one mapping by label each."""


class Teacher(ABC):
    """Answers texts with probabilities.

    Attributes:
        names: what was named as a teacher, with the SHA-256 of its content; empty where there is none.
        everything: whether it answers any text.
        labels: of the student, in order.
    """

    names: dict[str, str]
    everything: bool = True
    labels: tuple[str, ...]

    @abstractmethod
    def teach(self, corpus: Corpus, *, vectors: bool = False) -> TeacherAnswers:
        """Answer examples.

        Args:
            corpus: texts or pairs.
            vectors: whether sentence vectors are wanted.

        Returns:
            One row an example.

        Raises:
            UsageError: if vectors are wanted and there are none.
        """


class ModelTeacher(Teacher):
    """A model folder of Heedful; its answers are kept in the cache.

    Args:
        folder: the model folder, or its run folder.
        labels: of the student, in order.
        task: of the student, ``model.task``.
        cache: the cache folder; None for the default.

    Raises:
        ArtifactError: if there is no such model, or it was altered.
        UsageError: if it answers something else than the student.
    """

    def __init__(self, folder: Path, labels: tuple[str, ...], task: str, cache: Path | None) -> None:
        model = load_model(folder, truncate="head")
        kind = kind_of(task)
        same = model.kind.outputs == kind.outputs or (model.kind.is_score and kind.is_score)
        if not same or model.is_pair != (kind.texts == 2):
            raise UsageError(
                f"{folder}: a model of {model.noun} cannot teach one of {kind.noun}; name a teacher of {kind.noun}"
            )
        if kind.has_labels and set(model.labels) != set(labels):
            alien = [name for name in (*model.labels, *labels) if (name in model.labels) != (name in labels)]
            raise UsageError(
                f"{folder}: it has {len(model.labels)} classes and the training data {len(labels)}, of which "
                f"{_some(alien)} are not in both; a teacher must know the same ones"
            )
        self.labels, self._cache = labels, cache
        self._words: TagsModel | None = None
        if kind.of_words:
            tagger = cast(TagsModel, model)
            self._words = tagger.reading_as(in_whole(tagger.text))
        self.model = cast("SentenceModel[Any]", model)
        self._identity = answers_checksum(model_folder(folder))
        self.names = {str(folder): self._identity}

    def teach(self, corpus: Corpus, *, vectors: bool = False) -> TeacherAnswers:
        """See `Teacher.teach`."""
        parts, examples = [], corpus.examples
        with stage("texts that the teacher answers", len(examples)) as answered:
            for start in range(0, len(examples), BLOCK):
                block = Corpus(examples[start : start + BLOCK], source=corpus.source)
                parts.append(self._kept(block, vectors))
                answered.reach(start + BLOCK)
        if not parts:
            return TeacherAnswers(
                np.zeros((0, len(self.labels) or 1), np.float32), np.zeros((0, 0), np.float32)
            )
        return TeacherAnswers(
            *(np.concatenate([part[name] for part in parts]) for name in ("probabilities", "vectors"))
        )

    def _kept(self, block: Corpus, vectors: bool) -> dict[str, NDArray[np.generic]]:
        content = [
            self._identity,
            self.labels,
            vectors,
            [(e.texts, e.words, e.heads) for e in block.examples],
        ]
        key = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return load_or_build_arrays("teachers", key, partial(self._answers, block, vectors), self._cache)

    def _of_words(self, block: Corpus, tagger: TagsModel) -> dict[str, NDArray[np.generic]]:
        """Return the probabilities of the tags of each ready-made word; zeros where the words were read otherwise."""
        columns = [tagger.labels.index(label) for label in self.labels]
        rows = [np.zeros((0, len(columns)), np.float32)]
        logits = tagger.word_logits(tagger.encode_examples(block.examples, block.source)[0])
        for example, own in zip(block.examples, logits, strict=True):
            words = len(example.words[0] or ())
            none = np.zeros((words, len(columns)), np.float32)
            found = tagger.decision.probabilities(own)[:, columns] if len(own) == words and words else none
            rows.append(found.astype(np.float32))
        vectors = np.zeros((len(block.examples), 0), np.float32)
        return {"probabilities": np.concatenate(rows), "vectors": vectors}

    def _answers(self, block: Corpus, vectors: bool) -> dict[str, NDArray[np.generic]]:
        if self._words is not None:
            return self._of_words(block, self._words)
        logits, read = self.model.run(self.model.encode_examples(block.examples, block.source)[0])
        decision = self.model.decision
        if isinstance(decision, ScoreDecision):
            found = decision.scores(logits)[:, None]
        else:
            columns = [self.model.labels.index(label) for label in self.labels]
            found = self.model.probabilities(logits)[:, columns]
        sides = read if vectors else []
        return {
            "probabilities": found.astype(np.float32),
            "vectors": np.concatenate([np.zeros((len(found), 0), np.float32), *sides], axis=1),
        }


class Ensemble(Teacher):
    """Several teachers, whose probabilities are averaged.

    Args:
        members: at least one.
    """

    def __init__(self, members: Sequence[Teacher]) -> None:
        self.members, self.labels = tuple(members), members[0].labels
        self.names = {name: identity for member in members for name, identity in member.names.items()}

    def teach(self, corpus: Corpus, *, vectors: bool = False) -> TeacherAnswers:
        """See `Teacher.teach`."""
        taught = [member.teach(corpus, vectors=vectors) for member in self.members]
        mean: NDArray[np.float32] = np.stack([one.probabilities for one in taught]).mean(axis=0)
        return TeacherAnswers(mean, np.concatenate([one.vectors for one in taught], axis=1))


class FileTeacher(Teacher):
    """A file of soft labels; a text that stands in it several times has the mean of its rows.

    Args:
        file: the file.
        labels: of the student, in order.
        sides: texts of an example, 1 or 2.
    """

    everything = False

    def __init__(self, file: Path, labels: tuple[str, ...], sides: int) -> None:
        self.labels, self.names = labels, {str(file): sum_of(file)}
        self.given: SoftLabels = read_soft_labels(file, TEXT if sides == 1 else PAIR, labels)
        rows: dict[tuple[str, ...], list[NDArray[np.float64]]] = {}
        for example, row in zip(self.given.corpus.examples, self.given.probabilities, strict=True):
            rows.setdefault(example.texts, []).append(row)
        self._answers = {texts: np.mean(found, axis=0) for texts, found in rows.items()}

    def teach(self, corpus: Corpus, *, vectors: bool = False) -> TeacherAnswers:
        """See `Teacher.teach`; what the file does not hold has no answer."""
        _refuse_vectors(vectors, "a file of soft labels")
        none = np.zeros(len(self.labels))
        rows = [self._answers.get(example.texts, none) for example in corpus.examples]
        found = np.array(rows, np.float32).reshape(len(rows), len(self.labels))
        return TeacherAnswers(found, np.zeros((len(rows), 0), np.float32))


class FunctionTeacher(Teacher):
    """A function of Python; its answers are not kept.

    Args:
        function: see `Answering`.
        labels: of the student, in order; columns of what the function returns are in this order.
    """

    def __init__(self, function: Answering, labels: tuple[str, ...]) -> None:
        self._function, self.labels = function, labels
        self.names = {}

    def teach(self, corpus: Corpus, *, vectors: bool = False) -> TeacherAnswers:
        """See `Teacher.teach`.

        Raises DataError, naming the text, if an answer is not what it should be.
        """
        _refuse_vectors(vectors, "a function")
        texts = [_plain(example) for example in corpus.examples]
        given = list(self._function(texts)) if texts else []
        if len(given) != len(texts):
            raise UsageError(f"teacher: expected {len(texts)} answers, one a text, got {len(given)}")
        rows = [self._row(answer, number) for number, answer in enumerate(given, start=1)]
        found = np.array(rows, np.float32).reshape(len(rows), len(self.labels))
        return TeacherAnswers(found, np.zeros((len(rows), 0), np.float32))

    def _row(self, answer: object, number: int) -> list[float]:
        where = f"teacher: answer {number}"
        if hasattr(answer, "items"):
            return probabilities_of({str(label): p for label, p in answer.items()}, self.labels, where)
        values = np.asarray(answer, dtype=np.float64)
        if values.shape != (len(self.labels),):
            raise UsageError(
                f"{where}: expected {len(self.labels)} probabilities, in the order {', '.join(self.labels)}; got an "
                f"array of shape {list(values.shape)}"
            )
        return checked_probabilities(values.tolist(), where)


def find_teacher(
    names: Sequence[str], labels: tuple[str, ...], task: str, root: Path | None, cache: Path | None
) -> Teacher:
    """Return the teacher that the settings name.

    Args:
        names: ``distil.teacher``: model folders, or one file of soft labels.
        labels: of the student, in order.
        task: of the student, ``model.task``.
        root: the folder of data sets, or None.
        cache: the cache folder; None for the default.

    Returns:
        The teacher.

    Raises:
        UsageError: if a file stands beside another teacher, or a model answers something else.
        DataError: if a file is missing or wrong.
        ArtifactError: if a model is missing or altered.
    """
    files = [name for name in names if bare_suffix(Path(name)) in (".jsonl", ".json")]
    if files and len(names) > 1:
        raise UsageError(
            f"distil.teacher: {files[0]} is a file of soft labels, which must be the only teacher"
        )
    kind = kind_of(task)
    if files and kind.outputs != "classes":
        raise UsageError(
            f"distil.teacher: {files[0]}: soft labels are of classes; a model of {kind.noun} learns from a model"
        )
    if files:
        return FileTeacher(find_named(files[0], root), labels, kind.texts)
    models = [_model_teacher(_folder(name, root), labels, task, cache) for name in names]
    return models[0] if len(models) == 1 else Ensemble(models)


def _model_teacher(folder: Path, labels: tuple[str, ...], task: str, cache: Path | None) -> ModelTeacher:
    """Open a teacher; where there is neither a model nor a transformer, both are named."""
    try:
        return ModelTeacher(folder, labels, task, cache)
    except ArtifactError:
        if any((place / MANIFEST).is_file() for place in (folder, folder / MODEL)):
            raise
        raise ArtifactError(
            f"distil.teacher: {folder}: {_what_is(folder)}; expected a folder of a model of Heedful (with {MANIFEST}), "
            "a transformer (a folder with config.json and weights, or a name OWNER/NAME of the Hugging Face Hub), or a "
            ".jsonl file of soft labels"
        ) from None


def _what_is(folder: Path) -> str:
    """Return what a path is that is no teacher, as a clause."""
    if not folder.is_dir():
        return "is a file" if folder.exists() else "there is nothing"
    if (folder / "adapter_config.json").exists():
        return "is an adapter without the model that it changes: merge the two first (peft: merge_and_unload)"
    if (folder / "config.json").exists():
        if not names_its_kind(folder / "config.json"):
            return "its config.json is no JSON with a model_type"
        return (
            "is a transformer, which `heedful train --teacher`, `heedful distil` and the estimators fine-tune first; "
            "name what one of them trained (RUN/teacher)"
        )
    return "is neither"


def names_its_kind(file: Path) -> bool:
    """Return whether the configuration of a transformer names its kind."""
    with suppress(ArtifactError):
        read_fields(file, finite=False).text("model_type")
        return True
    return False


def _folder(name: str, root: Path | None) -> Path:
    inside = Path(name) if root is None else root / name
    return inside if inside.exists() else Path(name)


def _some(names: Sequence[str], most: int = 5) -> str:
    """Return a few names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _refuse_vectors(wanted: bool, what: str) -> None:
    if wanted:
        raise UsageError(f"distil.vectors: {what} has no sentence vectors; set distil.vectors=0")


def _plain(example: Example) -> object:
    return example.texts[0] if len(example.texts) == 1 else example.texts
