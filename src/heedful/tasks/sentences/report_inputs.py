"""What a report is made of: gold, weights, groups and counts of a data set with one gold value an example."""

from __future__ import annotations

from collections.abc import Callable
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


def notes_of(dataset: EncodedDataset, knows: Callable[[str], bool]) -> dict[str, int]:
    """Return the counts that matter for trust.

    Args:
        dataset: what is reported on.
        knows: says whether a model, with the parts beside its network, has a vector of a word.

    Returns:
        The counts by name.
    """
    return {
        "texts without words": dataset.report.empty,
        "unknown words": unknown_words(dataset, knows),
        "texts cut": dataset.report.truncated,
    }


def unknown_words(dataset: EncodedDataset, knows: Callable[[str], bool]) -> int:
    """Return how many words a model does not know; see `notes_of`."""
    if dataset.kept is None:  # then no part beside the network reads words
        return dataset.report.unknown
    unknown = np.array([not knows(word) for word in dataset.kept.forms], bool)
    return sum(int(unknown[side.values].sum()) for side in dataset.kept.sides)


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
