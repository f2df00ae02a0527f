"""SICK: sentence pairs with a relatedness score and an entailment label."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from heedful.data.examples import Corpus
from heedful.data.readers.build import OTHER_SPLIT, CorpusBuilder
from heedful.data.readers.nli import NLI_LABELS
from heedful.data.readers.opening import find_file
from heedful.data.readers.records import Record, split_records
from heedful.errors import UsageError, nearest

LOWEST, HIGHEST = 1.0, 5.0
_TASKS = ("relatedness", "entailment")
_SPLITS = ("TRAIN", "TRIAL", "TEST")


def read_sick(
    path: str | Path,
    *,
    task: Literal["relatedness", "entailment"] = "relatedness",
    split: str | None = None,
    keep_empty: bool = False,
) -> Corpus:
    """Read ``SICK.txt`` (Marelli et al., 2014): 12 tab-separated columns, all splits in one file.

    Args:
        path: the file, plain or compressed.
        task: "relatedness" gives a score from 1 to 5, "entailment" a label in lower case.
        split: "TRAIN", "TRIAL" (the dev part) or "TEST" of the column ``SemEval_set``; None for all.
        keep_empty: keep pairs of which a sentence is empty.

    Returns:
        The pairs; rows of other splits are counted as skipped.

    Raises:
        UsageError: if task or split is unknown.
        DataError: naming the row, if a column is missing, a score out of range or a label unknown.
    """
    if task not in _TASKS:
        raise UsageError(f"task {task!r} is unknown; {nearest(task, _TASKS)}")
    if split is not None and split not in _SPLITS:
        raise UsageError(f"split {split!r} is unknown; {nearest(split, _SPLITS)}")
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=keep_empty)
    for row, record in split_records(file):
        if split is not None and builder.field(row, record, "SemEval_set") != split:
            builder.skip(OTHER_SPLIT)
            continue
        texts = (builder.field(row, record, "sentence_A"), builder.field(row, record, "sentence_B"))
        builder.add(row, texts, _target(builder, record, task, row))
    return builder.build()


def _target(builder: CorpusBuilder, record: Record, task: str, row: int) -> str | float:
    field = "relatedness_score" if task == "relatedness" else "entailment_label"
    value = builder.field(row, record, field)
    if task == "relatedness":
        return builder.score(row, field, value, LOWEST, HIGHEST)
    return builder.label(row, field, value.lower(), NLI_LABELS)
