"""What a report is made of: gold, weights, groups and counts of a data set with one gold value an example."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from heedful.data.encoding import EncodedDataset
from heedful.errors import UsageError

UNJUDGED = (
    "The %d training rows have too few different texts for cross-validation: nothing could be chosen or measured. "
    "Add rows."
)


def gold_of(dataset: EncodedDataset) -> NDArray[np.generic]:
    """Return the targets of a data set, [N, ...].

    Raises UsageError if there are none.
    """
    if dataset.targets is None or not len(dataset):
        raise UsageError(
            "there are no gold labels to evaluate against: name the column of the label or score"
        )
    return dataset.targets


def example_weights(dataset: EncodedDataset) -> NDArray[np.float64]:
    """Return how much each example counts, [N]; 1 for all where none is given."""
    return np.ones(len(dataset)) if dataset.weights is None else dataset.weights.astype(np.float64)


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


def unseen_of(dataset: EncodedDataset, known: int) -> dict[str, int]:
    """Return how many labels of the gold the model does not know, for a report; of its labels ``known`` are counted."""
    unseen = len(dataset.labels) - known
    return {"labels of the gold that the model does not know": unseen} if unseen else {}


def weights_of(dataset: EncodedDataset) -> NDArray[np.float64] | None:
    """Return how much each example counts, [N]; None where all count alike."""
    return None if dataset.weights is None else dataset.weights.astype(np.float64)


def equally_weighted(dataset: EncodedDataset) -> EncodedDataset:
    """Return examples without weights, where all of them weigh the same."""
    weights = dataset.weights
    return dataset if weights is None or np.ptp(weights) else replace(dataset, weights=None)
