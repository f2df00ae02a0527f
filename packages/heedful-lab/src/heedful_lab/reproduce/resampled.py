"""Comparisons by resampling, kept beside the runs: the same answers are resampled once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import ArtifactError
from heedful.evaluation.significance import RESAMPLES, Comparison, Interval, paired_bootstrap
from heedful.evaluation.statistics import STATISTICS, Statistic, Values, Weights
from heedful.storage import write_text
from heedful.storage.fields import Fields
from heedful_lab.translation.bleu import bleu_of_copies

FILE = "resampled.jsonl"
"""Name of the file, in the folder of all runs."""
Array = NDArray[Any]


def _mean_share(_: Values, shares: Values, counts: Weights) -> Weights:
    """Return the mean of shares that were drawn so many times."""
    return np.asarray((shares * counts).sum(axis=-1) / counts.sum(axis=-1))


def _bleu_share(gold: Values, predicted: Values, counts: Weights) -> Weights:
    return bleu_of_copies(gold, predicted, counts) / 100


_OF_METRIC: Mapping[str, Statistic] = {
    "accuracy": _mean_share,
    "pearson": STATISTICS["pearson"],
    "f1": STATISTICS["f1"],
    "bleu": _bleu_share,
}
"""Metric that is tested to how it is computed of answers as `Runs.answers` gives them."""
_METHOD = f"paired bootstrap, {RESAMPLES:,} resamples"


@dataclass
class Resampled:
    """Paired bootstraps by a checksum of what they were made of.

    Attributes:
        known: checksum to comparison.
        asked: checksums of the comparisons that were asked for.
        made: how many of them were not known.
    """

    known: dict[str, Comparison] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    made: int = 0

    @classmethod
    def read(cls, folder: Path) -> Resampled:
        """Read what is kept in a folder of all runs.

        Args:
            folder: its path.

        Returns:
            The comparisons; none where there is no file.

        Raises:
            ArtifactError: if the file is not what `write` writes.
        """
        file = folder / FILE
        if not file.exists():
            return cls()
        try:
            lines = [
                Fields(json.loads(line), "", error=ValueError)
                for line in file.read_text(encoding="utf-8").splitlines()
            ]
            return cls({line.text("answers"): _comparison(line) for line in lines})
        except (OSError, ValueError) as error:
            raise ArtifactError(
                f"{file}: expected kept comparisons; {error}. Delete it to make them again."
            ) from error

    def write(self, folder: Path, *, asked_only: bool = False) -> None:
        """Keep the comparisons in a folder of all runs; where none was made, nothing is written.

        Args:
            folder: its path.
            asked_only: whether those that nobody asked for are left out.

        Raises:
            OutputError: if the file cannot be written.
        """
        kept = {key: one for key, one in self.known.items() if not asked_only or key in self.asked}
        if not self.made and len(kept) == len(self.known):
            return
        lines = [json.dumps(_line(key, kept[key]), separators=(",", ":")) for key in sorted(kept)]
        write_text(folder / FILE, "".join(f"{line}\n" for line in lines))

    def compare(self, metric: str, gold: Array, first: Array, second: Array) -> Comparison:
        """Test two systems by the paired bootstrap, or take the test that is known of these answers.

        Args:
            metric: "accuracy" of shares that are right, "pearson", "f1" or "bleu".
            gold: [N].
            first: answers of the first system, [N] or [runs, N].
            second: of the second.

        Returns:
            Second minus first.
        """
        key = checksum(metric, gold, first, second)
        self.asked.add(key)
        if key not in self.known:
            self.known[key] = paired_bootstrap(_OF_METRIC[metric], gold, first, second)
            self.made += 1
        return self.known[key]


def checksum(metric: str, gold: Array, first: Array, second: Array) -> str:
    """Return what a comparison depends on as 32 hexadecimal digits of a SHA-256."""
    sum_ = hashlib.sha256(f"{metric} {_METHOD}".encode())
    for array in (gold, first, second):
        whole = array.dtype.kind in "biu"
        sum_.update(f" {array.shape} {'whole' if whole else 'real'} ".encode())
        sum_.update(np.ascontiguousarray(array, "<i8" if whole else "<f8").tobytes())
    return sum_.hexdigest()[:32]


def _line(key: str, one: Comparison) -> dict[str, object]:
    interval = one.interval
    assert interval is not None  # the bootstrap gives one
    ends = [interval.low, interval.high]
    return {
        "answers": key,
        "n": one.n,
        "first": one.first,
        "second": one.second,
        "interval": ends,
        "p": one.p,
    }


def _comparison(line: Fields) -> Comparison:
    first, second, (low, high) = line.number("first"), line.number("second"), line.numbers("interval")
    interval, p = Interval(low, high, _METHOD), line.number("p") if "p" in line else None
    return Comparison(_METHOD, line.whole("n"), "examples", first, second, second - first, interval, p)
