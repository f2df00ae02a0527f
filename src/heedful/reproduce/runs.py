"""The finished runs of one cell: read from its folder, and what they answered."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.config import load_config
from heedful.config.kept import completed, plain_settings, read_run
from heedful.errors import ArtefactError
from heedful.reproduce.runner import Cell

COUNTED = {"roles": "f1", "translation": "bleu"}
"""Tasks whose answers are kept as counts, and the metric that is a function of their sums."""


@dataclass(frozen=True)
class Runs:
    """The finished runs of one cell.

    Attributes:
        cell: the system and the experiment.
        found: one record a run, as `heedful study` keeps it; in the order of seeds or folds.
        unlike: files that lie in the cell's place but were made with other settings; they are not among ``found``.
    """

    cell: Cell
    found: tuple[Mapping[str, Any], ...]
    unlike: tuple[Path, ...] = ()

    @property
    def lacking(self) -> int:
        """Return how many runs of the cell are still to be made."""
        return len(self.cell.runs) - len(self.found)

    def figures(self, path: str, *, partial: bool = False) -> list[float]:
        """Return one figure of each run.

        Args:
            path: dotted path into the summary, for example "test.metrics.accuracy".
            partial: leave out runs without this figure.

        Returns:
            One number a run.

        Raises:
            ArtefactError: if a run has none and none may be left out.
        """
        found = [(record, _follow(record["summary"], path)) for record in self.found]
        lacking = [record["summary"]["varied"] for record, value in found if value is None]
        if lacking and not partial:
            raise ArtefactError(
                f"{self.cell.name}: {', '.join(lacking)} has no figure {path!r}; delete it to run it again"
            )
        return [float(value) for _, value in found if value is not None]

    @property
    def names(self) -> tuple[str, ...]:
        """Return what varied from run to run, as `Cell.runs` names it."""
        return tuple(str(record["summary"]["varied"]) for record in self.found)

    def only(self, names: Collection[str]) -> Runs:
        """Return the runs of these names alone."""
        pairs = zip(self.names, self.found, strict=True)
        return replace(self, found=tuple(record for name, record in pairs if name in names))

    @property
    def sums(self) -> frozenset[str]:
        """Return the checksums of the data of its runs: one, unless some of them read other data."""
        return frozenset(_checksum(record["data"]) for record in self.found)

    def peak(self, of: str) -> int | None:
        """Return the highest peak of memory over the runs, in MB: of "peak_megabytes" or "peak_gpu_megabytes"."""
        return max((record[of] for record in self.found if record.get(of)), default=None)

    @property
    def answered(self) -> bool:
        """Say whether the answers of all runs were kept; runs that are passed on may come without."""
        return all(record["answers"].get("gold") for record in self.found)

    @property
    def task(self) -> str:
        """Say what the models answer, ``model.task``."""
        return str(self.found[0]["settings"].get("model", {}).get("task", ""))

    @property
    def tested(self) -> str:
        """Return the path of the one figure that `compare` tests: the metric that the answers add up to."""
        scored = any(isinstance(gold, float) for gold in self.found[0]["answers"].get("gold", ()))
        return f"test.metrics.{COUNTED.get(self.task, 'pearson' if scored else 'accuracy')}"

    def answers(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return gold and answers for a test over examples.

        Seeds answer the same examples: for classes the share of runs that are right stands for each example, whose mean
        is the mean accuracy of the runs. Correlation, F1 and BLEU are no means over examples, so that scores, roles and
        translations keep the answers of every run, and a test averages the runs' figures. Folds answer different
        examples, which are put one after the other.

        Returns:
            Gold [N] and answers: of classes [N], gold 1 everywhere and an answer the share that is right; else
            [runs, N], of folds [1, N].
        """
        gold = [np.asarray(record["answers"]["gold"]) for record in self.found]
        predicted = [np.asarray(record["answers"]["predicted"]) for record in self.found]
        if self.task in COUNTED or gold[0].dtype.kind == "f":
            if self.cell.experiment.folds:
                return np.concatenate(gold), np.concatenate(predicted, axis=-1)[None]
            return gold[0], np.stack(predicted)
        right = [(g == p).astype(float) for g, p in zip(gold, predicted, strict=True)]
        share = np.concatenate(right) if self.cell.experiment.folds else np.mean(right, axis=0)
        return np.ones_like(share), share


def _checksum(files: Mapping[str, str]) -> str:
    """Return the SHA-256 over the sums of files, one a line before the file's name, sorted by file."""
    text = "\n".join(f"{files[name]}  {name}" for name in sorted(files))
    return hashlib.sha256(text.encode()).hexdigest()


def read_runs(cell: Cell, folder: Path) -> Runs:
    """Read what is there of a cell's runs.

    Args:
        cell: system, experiment and budget, which name the runs and their settings.
        folder: the folder of all runs.

    Returns:
        The runs that the cell's command would make and need not make any more; none of other seeds or settings.

    Raises:
        ArtefactError: if a file is not what a study writes.
    """
    found, unlike = [], []
    for name in cell.runs:
        file = folder / cell.folder / f"{name}.json"
        if not file.exists():
            continue
        record = read_run(file)
        if completed(record["settings"]) == _expected(cell, name):
            found.append(record)
        else:
            unlike.append(file)
    return Runs(cell, tuple(found), tuple(unlike))


def _expected(cell: Cell, name: str) -> Mapping[str, Any]:
    folds = cell.experiment.folds
    changes = (*cell.changes, f"data.folds={folds}") if folds else tuple(cell.changes)
    settings = {**_settings(cell.experiment.recipe, changes)}
    path, _, value = name.partition("=")
    table, _, key = path.partition(".")
    return {**settings, table: {**settings[table], key: int(value)}}


@cache
def _settings(recipe: str, changes: tuple[str, ...]) -> Mapping[str, Any]:
    return plain_settings(load_config(recipe, changes))


def _follow(value: Any, path: str) -> Any:
    """Return what a dotted path leads to; None where it leads nowhere."""
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value
