"""A saved model against gold from a file or a known data set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.data import catalogue
from heedful.data.examples import Corpus
from heedful.data.readers.table import read_table
from heedful.errors import UsageError
from heedful.evaluation import Report
from heedful.pipeline.run import report
from heedful.pipeline.tasks import BY_NAME
from heedful.predictor import Predictor


def read_gold(
    predictor: Predictor,
    file: Path | None,
    split: str | None,
    folder: Path | None,
    columns: Mapping[str, str | None],
) -> Corpus:
    """Read examples with gold.

    Args:
        predictor: the model; it says which columns are needed.
        file: a table, or None.
        split: ``set:split`` of a known data set, or None.
        folder: the folder of data sets; None for ``HEEDFUL_DATA``.
        columns: column names by role.

    Returns:
        The examples.

    Raises:
        UsageError: unless exactly one of ``file`` and ``split`` is given.
    """
    if (file is None) == (split is None):
        raise UsageError("give either FILE or --on SET:SPLIT")
    if split is not None:
        name, _, part = split.partition(":")
        return catalogue.load(name, part or "test", catalogue.data_folder(folder))
    roles = ["premise", "hypothesis"] if predictor.is_pair else ["text"]
    roles.append("score" if predictor.model.task == "relatedness" else "label")
    if columns.get("group"):
        roles.append("group")
    wanted: dict[str, Any] = {role: columns[role] for role in roles}
    assert file is not None  # one of the two is given, and it is not the split
    return read_table(file, **wanted, labels=predictor.labels, keep_empty=True)


def evaluate_corpus(predictor: Predictor, corpus: Corpus) -> Report:
    """Evaluate a model on examples with gold.

    Args:
        predictor: the model.
        corpus: the examples.

    Returns:
        The report.
    """
    return report(predictor, BY_NAME[predictor.model.task].read(predictor, corpus))
