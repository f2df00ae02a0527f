"""What every report says beside its figures."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from heedful.data.encode import EncodedDataset
from heedful.errors import UsageError


def gold_of(dataset: EncodedDataset) -> NDArray[Any]:
    """Return the targets of a data set.

    Args:
        dataset: the examples.

    Returns:
        Its targets, [N].

    Raises:
        UsageError: if there are none.
    """
    if dataset.targets is None or not len(dataset):
        raise UsageError("there is no gold to evaluate against: name the column of the label or score")
    return dataset.targets


def group_of_each(dataset: EncodedDataset) -> list[str]:
    """Return the group of each example; empty where there is but one."""
    if len(dataset.group_names) < 2:
        return []
    return [dataset.group_names[code] for code in dataset.groups]


def notes_of(dataset: EncodedDataset) -> dict[str, int]:
    """Return the counts that matter for trust."""
    report = dataset.report
    return {
        "texts without words": report.empty,
        "unknown words": report.unknown,
        "texts cut": report.truncated,
    }
