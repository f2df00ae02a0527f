"""One system on one run of a data set: trained, measured on the test split, and measured again with typos.

The typos are one edit in a tenth of the words, the same for every system and every run.
"""

from __future__ import annotations

import re
import string
import time
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.splits import Numbers, Split, Splits
from heedful.baselines.systems import System, TrainedSystem
from heedful.evaluation import calibration, fit_temperature, relatedness_metrics

SHARE = 0.1
"""Of the words, each by itself, that get one edit."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def with_typos(text: str, *, share: float = SHARE, seed: int = 0) -> str:
    """Mistype some words of a text.

    Each word of two letters or more is chosen with this chance, and gets one edit at a random place: a letter left out,
    a random one put in, one replaced by a random one, or two neighbors exchanged. The draws depend on the seed and the
    text alone, so that every system reads the same mistakes in any order of texts.

    Args:
        text: the text.
        share: chance of each word.
        seed: of the draws.

    Returns:
        The text; everything between the chosen words is as it was.
    """
    random = np.random.default_rng([seed, zlib.crc32(text.encode("utf-8", "surrogatepass"))])

    def edited(match: re.Match[str]) -> str:
        return _edit(match[0], random) if random.random() < share else match[0]

    return _WORD.sub(edited, text)


def mistyped(split: Split, seed: int = 0) -> Split:
    """Mistype the texts of a split; gold stays."""
    return Split([tuple(with_typos(text, seed=seed) for text in texts) for texts in split.texts], split.gold)


def _edit(word: str, random: np.random.Generator) -> str:
    kind = random.integers(4)
    letter = string.ascii_lowercase[random.integers(26)]
    place = int(random.integers(len(word)))
    if kind == 0:
        return word[:place] + word[place + 1 :]
    if kind == 1:
        return word[:place] + letter + word[place:]
    if kind == 2:
        return word[:place] + letter + word[place + 1 :]
    place = min(place, len(word) - 2)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]


@dataclass(frozen=True)
class Measured:
    """What one trained system did on a test split.

    Attributes:
        metric: accuracy, or Pearson's correlation for scores.
        predicted: for classes 1 where the prediction is right and 0 where it is wrong; the scores themselves, [N].
        ece: expected calibration error at the temperature that dev gives; None for scores.
        typos: the metric with one edit in a tenth of the words.
        train_cpu_seconds: processor time of training, the choice on dev included.
        texts_per_cpu_second: test texts or pairs that a second of processor time takes.
        megabytes: what the model takes on disk.
        chosen: what the dev split chose.
    """

    metric: float
    predicted: Numbers
    ece: float | None
    typos: float | None
    train_cpu_seconds: float | None
    texts_per_cpu_second: float | None
    megabytes: float | None
    chosen: str


def measure(system: System, splits: Splits) -> Measured:
    """Train a system and measure it.

    Args:
        system: what is trained.
        splits: the data; there is a test split.

    Returns:
        Its figures.
    """
    assert splits.test is not None  # the board refuses data without one
    started = time.process_time()
    model = system.train(splits)
    trained = time.process_time()
    outputs = model.outputs(splits.test.texts)
    predicting = max(time.process_time() - trained, 1e-9)
    with_typos = model.outputs(mistyped(splits.test).texts)
    return Measured(
        _metric(splits.test, outputs),
        outputs if outputs.ndim == 1 else (outputs.argmax(axis=1) == splits.test.gold).astype(np.int64),
        None if outputs.ndim == 1 else _ece(model, splits.choosing, splits.test, outputs),
        _metric(splits.test, with_typos),
        trained - started,
        len(splits.test) / predicting,
        model.megabytes,
        model.chosen,
    )


def _metric(split: Split, outputs: NDArray[np.float64]) -> float:
    if outputs.ndim == 1:
        return relatedness_metrics(split.scores, outputs)["pearson"]
    return float(np.mean(outputs.argmax(axis=1) == split.gold))


def _ece(model: TrainedSystem, dev: Split, test: Split, outputs: NDArray[np.float64]) -> float:
    temperature = fit_temperature(model.outputs(dev.texts), dev.classes, dev.weights)
    return calibration(outputs, test.classes, temperature).after.ece
