"""Files that a student learns from: soft labels, the probabilities of a teacher's answers; and texts without labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.data.examples import Corpus
from heedful.data.readers.corpus_builder import CorpusBuilder
from heedful.data.readers.record_files import json_records
from heedful.data.readers.table_files import is_table_name, read_table
from heedful.data.readers.text_fields import text_fields
from heedful.data.readers.text_lines import find_file, numbered_lines
from heedful.errors import DataError, check_known

MOST_VOTES = 1_000_000_000
SUM = 1e-3
"""How far the probabilities of a row may be from a sum of 1."""
PROBABILITIES = "probabilities"
VOTES = "votes"
"""What people or prompts that disagree have said: how many chose each label, or one label for each of them."""


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """What a file of soft labels holds.

    Attributes:
        corpus: the texts or pairs, without gold.
        probabilities: one row a text, one column a label, [N, Y] float64; rows sum to 1.
    """

    corpus: Corpus
    probabilities: NDArray[np.float64]


def read_soft_labels(path: str | Path, fields: Sequence[str], labels: Sequence[str]) -> SoftLabels:
    """Read ``{"text": ..., "probabilities": {"pos": 0.9, "neg": 0.1}}``, an object a line or an array of objects.

    In place of probabilities there may be votes, ``{"pos": 3, "neg": 1}`` or ``["pos", "pos", "neg", "pos"]``, of
    which the shares count.

    Args:
        path: the file.
        fields: what holds the text, or the two texts of a pair.
        labels: the labels of the student; one that a row does not name has probability 0.

    Returns:
        The texts with their probabilities, in order.

    Raises:
        DataError: naming file and row: a text or the probabilities are missing, a label is unknown, a probability is no
            finite number from 0 on, or they do not sum to 1.
    """
    file = find_file(path)
    builder = CorpusBuilder(file, keep_empty=True)
    rows = []
    for row, record in json_records(file):
        counted = VOTES in record and PROBABILITIES not in record
        for name in (*fields, VOTES if counted else PROBABILITIES):
            builder.field(row, record, name)
        texts = text_fields(builder, row, record, fields, "error")
        assert texts is not None  # a missing one is an error
        if counted:
            rows.append(shares_of(record[VOTES], labels, builder.where(row, VOTES)))
        else:
            rows.append(probabilities_of(record[PROBABILITIES], labels, builder.where(row, PROBABILITIES)))
        builder.add(row, texts, None)
    return SoftLabels(builder.build(), np.array(rows))


def probabilities_of(values: object, labels: Sequence[str], where: str) -> list[float]:
    """Return the probability of each label.

    Args:
        values: label to probability.
        labels: all labels, in order.
        where: it stands, for messages.

    Returns:
        One number a label.

    Raises:
        DataError: see `read_soft_labels`.
    """
    if not isinstance(values, Mapping):
        raise DataError(f"{where}: expected an object of labels and probabilities, got {values!r:.80}")
    for label in values:
        check_known(label, labels, f"{where}: unknown label {label!r:.80}", error=DataError)
    return checked_probabilities([values.get(label, 0.0) for label in labels], where)


def shares_of(votes: object, labels: Sequence[str], where: str) -> list[float]:
    """Return the share of each label among votes.

    Args:
        votes: label to count, or a list of labels.
        labels: all labels, in order.
        where: it stands, for messages.

    Returns:
        One number a label; they sum to 1.

    Raises:
        DataError: if a label is unknown, a count is no whole number from 0 on, or there is no vote.
    """
    if isinstance(votes, list):
        found: Mapping[object, object] = Counter(map(str, votes))
    elif isinstance(votes, Mapping):
        found = votes
    else:
        raise DataError(
            f"{where}: expected labels and how many chose them, or a list of labels, got {votes!r:.80}"
        )
    counts = dict.fromkeys(labels, 0)
    for label, count in found.items():
        check_known(str(label), labels, f"{where}: unknown label {label!r:.80}", error=DataError)
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MOST_VOTES:
            raise DataError(
                f"{where}: expected how many chose {label}, a whole number from 0 on, got {count!r:.80}"
            )
        counts[str(label)] = count
    total = sum(counts.values())
    if not total:
        raise DataError(f"{where}: there is no vote; leave the row out")
    return [counts[label] / total for label in labels]


def checked_probabilities(values: Sequence[object], where: str) -> list[float]:
    """Return numbers that are probabilities.

    Args:
        values: one a label.
        where: they stand, for messages.

    Returns:
        The numbers as floats.

    Raises:
        DataError: if one is no finite number from 0 on, or their sum is not 1.
    """
    numbers: list[float] = []
    for value in values:
        number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
        if not math.isfinite(number) or number < 0:
            raise DataError(f"{where}: expected finite probabilities from 0 on, got {value!r:.80}")
        numbers.append(float(number))
    total = math.fsum(numbers)
    if abs(total - 1) > SUM:
        raise DataError(f"{where}: the probabilities sum to {total:.6g}, expected 1 (within {SUM})")
    return numbers


def read_unlabeled(path: str | Path, fields: Sequence[str], features: Sequence[str] = ()) -> Corpus:
    """Read texts or pairs without labels: a table with named columns, or a text a line, of a pair with a tab between.

    Args:
        path: the file; further columns of a table are not read.
        fields: columns of the text, or of the two texts of a pair.
        features: columns of a table that are read beside them.

    Returns:
        The examples; rows of which a text is empty are left out and counted.

    Raises:
        DataError: naming row and field, if something is missing or is no text.
    """
    file = find_file(path)
    if is_table_name(file):
        if len(fields) == 1:
            return read_table(file, text=fields[0], features=features)
        return read_table(file, premise=fields[0], hypothesis=fields[1], features=features)
    if features:
        raise DataError(
            f"{file}: holds texts alone, and the columns {', '.join(features)} are read beside them: give a table that "
            "has them too"
        )
    builder = CorpusBuilder(file)
    for row, line in numbered_lines(file):
        texts = tuple(line.split("\t")) if len(fields) == 2 else (line,)
        if len(texts) != len(fields):
            raise DataError(
                f"{builder.where(row)}: expected premise TAB hypothesis, got {len(texts)} field(s)"
            )
        builder.add(row, texts, None)
    return builder.build()
