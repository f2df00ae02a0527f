"""Measure a saved model on a labeled file or a known data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.data import catalogue
from heedful.data.examples import Corpus
from heedful.data.readers.reading import ROLES
from heedful.errors import UsageError
from heedful.evaluation import Report
from heedful.run.run import report
from heedful.tasks import AnyModel, refuse_options, task_of


def read_gold(
    model: AnyModel, file: Path | None, split: str | None, folder: Path | None, given: Mapping[str, Any]
) -> Corpus:
    """Read examples with gold.

    Args:
        model: the model; its task says what is needed.
        file: a file that the task reads, or None.
        split: ``set:split`` of a known data set, or None.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        given: value by name of the further options of the command: names of columns by role, "references" (a file);
            None is not given.

    Returns:
        The examples.

    Raises:
        UsageError: unless exactly one of ``file`` and ``split`` is given, or if an option or the data set is not for
            what the model answers.
    """
    if (file is None) == (split is None):
        raise UsageError("give either FILE or --on SET:SPLIT")
    task = task_of(model)
    refuse_options(task, given)
    if split is None:
        assert file is not None  # one of the two is given
        return task.read_gold(model, file, given)
    named = sorted(name for name, value in given.items() if value is not None)
    if named:
        option = f"column {named[0]}=" if named[0] in ROLES else named[0].replace("_", "-")
        raise UsageError(f"--{option} goes with a FILE; {split} is a data set, which names its own")
    name, _, part = split.partition(":")
    wanted = catalogue.data_set(name).task
    if task.name != wanted:
        raise UsageError(f"{name} is data for {wanted!r}, and the model answers {task.name!r}")
    return catalogue.load(name, part or "test", catalogue.data_folder(folder))


def evaluate_corpus(model: AnyModel, corpus: Corpus, folder: Path | None = None) -> Report:
    """Evaluate a model on examples with gold.

    Args:
        model: the model.
        corpus: the examples.
        folder: the folder of data sets, where the model's parser may be a file; None for ``HEEDFUL_DATA``.

    Returns:
        The report.
    """
    return report(model, task_of(model).read(model, corpus, folder))
