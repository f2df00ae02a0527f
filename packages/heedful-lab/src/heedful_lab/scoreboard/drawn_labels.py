"""Some labels of a data set, and the rest of its training texts without labels."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.splits import Split, Splits
from heedful.data.folds import shuffled
from heedful.errors import UsageError
from heedful.storage import write_text

LEAST_OF_CLASS = 2
"""Examples of every class that a draw has, where the number of labels allows it."""
MOST_UNLABELED = 4_000
"""Texts without labels that a student reads at most."""
_HELD_OUT = 0.1


@dataclass(frozen=True)
class Drawn:
    """What systems are trained on and measured with.

    Attributes:
        data: name of the data set.
        labels: how many labels were asked for; 0 for all.
        splits: the drawn examples as training split, no dev split, and the test split.
        unlabeled: training texts whose labels were not drawn, `MOST_UNLABELED` at most.
        folder: where the systems that are trained from files keep them and their runs.
    """

    data: str
    labels: int
    splits: Splits
    unlabeled: tuple[str, ...]
    folder: Path

    @property
    def test(self) -> Split:
        """The test split."""
        assert self.splits.test is not None  # `draw` looked
        return self.splits.test

    def train_file(self) -> Path:
        """Write the drawn examples as a table of texts and labels, and return its place."""
        names = self.splits.labels
        rows = [
            [text, names[number]]
            for (text,), number in zip(self.splits.train.texts, self.splits.train.classes, strict=True)
        ]
        return self._written("train.csv", ["text", "label"], rows)

    def unlabeled_file(self) -> Path | None:
        """Write the texts without labels as a table, and return its place; None where there are none."""
        if not self.unlabeled:
            return None
        return self._written("unlabeled.csv", ["text"], [[text] for text in self.unlabeled])

    def _written(self, name: str, head: list[str], rows: list[list[str]]) -> Path:
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows([head, *rows])
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != table.getvalue():
            write_text(path, table.getvalue())
        return path


def draw(data: str, splits: Splits, labels: int, folder: Path) -> Drawn:
    """Draw labels of a data set.

    A dev split that was cut from the training examples joins them first, and one that the data set has of its own is
    not used, so that every system has exactly these labels, whatever it chooses by.

    Args:
        data: name of the data set.
        splits: its splits; the seed is that of the draw.
        labels: how many; 0 for all.
        folder: where systems keep their files.

    Returns:
        The draw.

    Raises:
        UsageError: if the data is not of single texts with classes, has no test split, or has fewer examples.
    """
    if not splits.labels or (splits.train.texts and len(splits.train.texts[0]) != 1):
        raise UsageError(f"{data}: --sizes compares classifiers of texts; leave it out for other data")
    if splits.test is None:
        raise UsageError(f"{data}: has no test split; name a file: --set data.test=FILE")
    every = _joined(splits)
    if labels > len(every):
        raise UsageError(f"{data}: has {len(every):,} training examples; --sizes asks for {labels:,}")
    rows = _rows(every.classes, labels or len(every), splits.seed)
    kept = set(rows.tolist())
    rest = [row for row in shuffled(len(every), splits.seed) if row not in kept]
    own = Split([every.texts[row] for row in rows], every.gold[rows])
    unlabeled = tuple(dict.fromkeys(every.texts[row][0] for row in rest))[:MOST_UNLABELED]
    return Drawn(data, labels, replace(splits, train=own, dev=None), unlabeled, folder)


def with_dev(splits: Splits) -> Splits:
    """Hold a tenth of the training examples out, for systems that cannot do without a dev split.

    Args:
        splits: training examples, and no dev split.

    Returns:
        The same with one; at least one example is in it.
    """
    order = np.array(shuffled(len(splits.train), splits.seed))
    held, own = np.split(order, [max(1, round(_HELD_OUT * len(order)))])
    train, dev = (
        Split([splits.train.texts[row] for row in rows], splits.train.gold[rows]) for rows in (own, held)
    )
    return replace(splits, train=train, dev=dev)


def _joined(splits: Splits) -> Split:
    if splits.dev is None or splits.protocol.selects != "cut":
        return splits.train
    gold = np.concatenate([splits.train.gold, splits.dev.gold])
    return Split([*splits.train.texts, *splits.dev.texts], gold)


def _rows(classes: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """Draw rows, a few of every class first where there is room; in ascending order."""
    order = np.array(shuffled(len(classes), seed))
    first: list[int] = []
    known = np.unique(classes)
    if count >= LEAST_OF_CLASS * len(known):
        for each in known:
            first += [int(row) for row in order if classes[row] == each][:LEAST_OF_CLASS]
    taken = set(first)
    rest = [int(row) for row in order if int(row) not in taken]
    return np.sort(np.array([*first, *rest][:count]))
