"""Measure a saved model on a labeled file or a known data set."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from heedful.data import catalog
from heedful.data.examples import Corpus
from heedful.data.gold import refuse_unseen_alone
from heedful.data.readers.reading import ROLES
from heedful.errors import ArtifactError, UsageError
from heedful.evaluation import Report
from heedful.run.run import report
from heedful.storage.fields import Fields, read_json
from heedful.storage.layout import DATA, MODEL
from heedful.tasks import AnyModel, refuse_options, task_of
from heedful.tasks.tables import published, sum_of

_LOG = logging.getLogger(__name__)
WHOLE = 50_000
"""Up to so many examples of a file are held and measured together; the report keeps each answer."""


def read_gold(
    model: AnyModel, file: Path | None, split: str | None, folder: Path | None, options: Mapping[str, object]
) -> Corpus:
    """Read examples with gold.

    Args:
        model: the model; its task says what is needed.
        file: a file that the task reads, or None.
        split: ``set:split`` of a known data set, or None.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        options: value by name of the further options of the command: names of columns by role, "references" (a file);
            None is not given.

    Returns:
        The examples.

    Raises:
        UsageError: unless exactly one of ``file`` and ``split`` is given, or if an option or the data set is not for
            what the model answers.
    """
    task = task_of(model)
    if (source := _source(model, file, split, options)) is not None:
        return task.read_gold(model, source, options)
    assert split is not None  # one of the two is given
    named = sorted(name for name, value in options.items() if value is not None)
    if named:
        option = f"column {named[0]}=" if named[0] in ROLES else named[0].replace("_", "-")
        raise UsageError(f"--{option} goes with a FILE; {split} is a data set, which names its own")
    name, _, part = split.partition(":")
    if name not in catalog.data_sets() and Path(split).is_file():
        raise UsageError(f"--on {split}: is a file, not a known data set; leave out --on")
    wanted = catalog.data_set(name).task
    if task.name != wanted:
        raise UsageError(f"{name} is data for {wanted!r}, and the model answers {task.name!r}")
    return catalog.load(name, part or "test", catalog.data_folder(folder))


def was_trained_on(model: AnyModel, folder: Path, file: Path) -> bool:
    """Return whether a file is the one that a model learned from, by its content.

    Args:
        model: the model.
        folder: its folder, or that of the run that holds it.
        file: a file with labels.

    Returns:
        Whether its hash is that of the training file; False where the folder is of no run.
    """
    kept = (folder.parent if folder.name == MODEL else folder) / DATA
    with contextlib.suppress(ArtifactError):  # a damaged record says nothing
        named = Fields(model.run_settings, "").part("data", {}).text("train", "")
        if named and kept.is_file() and file.is_file():
            return read_json(kept, dict).get(published("train", named)) == sum_of(file)
    return False


def evaluate_gold(
    model: AnyModel, file: Path | None, split: str | None, folder: Path | None, options: Mapping[str, object]
) -> tuple[Report, Counter[str]]:
    """Evaluate a model on a file or a known data set.

    A file of more than `WHOLE` examples is read and measured in blocks if the task can do so (`Task.gold_blocks`).

    Args:
        model: the model.
        file: see `read_gold`.
        split: see `read_gold`.
        folder: the folder of data sets and of the model's parser; None for ``HEEDFUL_DATA``.
        options: see `read_gold`.

    Returns:
        The report, and how many rows were skipped, by reason.

    Raises:
        UsageError: see `read_gold`.
        DataError: naming the row, if the file is not what it should be.
    """
    source = _source(model, file, split, options)
    if source is None:
        corpus = read_gold(model, file, split, folder, options)
        return evaluate_corpus(model, corpus, folder), corpus.skipped
    task, skipped = task_of(model), Counter[str]()

    def blocks() -> Iterator[Corpus]:
        for block in task.gold_blocks(model, source, options):
            skipped.update(block.skipped)
            for note in block.notes:
                _LOG.warning(note)
            if block.examples:
                yield block

    first, others = _beginning(blocks())
    if len(first) == 1:
        return evaluate_corpus(model, first[0], folder), skipped
    datasets = (task.read(model, block, folder) for block in chain(first, others))
    return task.measure_blocks(model, datasets), skipped


def _beginning(blocks: Iterator[Corpus]) -> tuple[list[Corpus], Iterator[Corpus]]:
    """Return the first blocks, as one where they are all and have at most `WHOLE` examples, and the others."""
    first, count = list[Corpus](), 0
    for block in blocks:
        first.append(block)
        count += len(block.examples)
        if count > WHOLE:
            return first, blocks
    examples = [example for block in first for example in block.examples]
    return [Corpus(examples, source=first[0].source)], blocks


def _source(
    model: AnyModel, file: Path | None, split: str | None, given: Mapping[str, object]
) -> Path | None:
    """Return the file that is to be read; None if it is a known data set."""
    if (file is None) == (split is None):
        raise UsageError("give either FILE or --on SET:SPLIT")
    refuse_options(task_of(model), given)
    return file


def evaluate_corpus(model: AnyModel, corpus: Corpus, folder: Path | None = None) -> Report:
    """Evaluate a model on examples with gold.

    Args:
        model: the model.
        corpus: the examples.
        folder: the folder of data sets, where the model's parser may be a file; None for ``HEEDFUL_DATA``.

    Returns:
        The report.
    """
    if isinstance(labels := getattr(model, "labels", ()), tuple):
        refuse_unseen_alone(corpus, labels)
    return report(model, task_of(model).read(model, corpus, folder))
