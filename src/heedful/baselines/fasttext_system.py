"""fastText's classifier (Joulin et al., EACL 2017), its epochs and learning rate chosen on dev."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.sparse_rows import WORD
from heedful.baselines.splits import Split, Splits, Texts

_LABEL = "__label__"
_SMALLEST = 1e-9
"""A probability that fastText rounds to 0 counts as this much."""


@dataclass(frozen=True)
class FastTextBaseline:
    """The classifier with pairs of words, 100 features and random vectors; one thread, since more are not repeatable.

    Attributes:
        name: for tables.
        rates: learning rates that dev chooses from, with
            epochs: each of these numbers of epochs.
    """

    name: str = "fastText (words 1-2)"
    rates: tuple[float, ...] = (0.1, 0.5, 1.0)
    epochs: tuple[int, ...] = (5, 25)

    def train(self, splits: Splits) -> FastTextModel:
        """See `System.train`; words of a pair's second text are marked."""
        import fasttext

        best: tuple[float, FastTextModel] | None = None
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            file.write_text(_lines(splits.train), encoding="utf-8")
            for rate, epochs in itertools.product(self.rates, self.epochs):
                trained = fasttext.train_supervised(
                    str(file), lr=rate, epoch=epochs, wordNgrams=2, dim=100, thread=1, seed=1, verbose=0
                )
                model = FastTextModel(trained, len(splits.labels), f"learning rate {rate:g}, {epochs} epochs")
                right = float(np.mean(model.outputs(splits.dev.texts).argmax(axis=1) == splits.dev.gold))
                if best is None or right > best[0]:
                    best = right, model
        assert best is not None  # the grid is not empty
        return best[1]


@dataclass(frozen=True)
class FastTextModel:
    """A trained model.

    Attributes:
        model: fastText's own.
        classes: how many there are.
        chosen: what dev chose.
    """

    model: Any
    classes: int
    chosen: str

    @property
    def megabytes(self) -> float:
        """What fastText writes, not quantized: rows of words and buckets, and of classes."""
        numbers = self.model.get_input_matrix().size + self.model.get_output_matrix().size
        return float(4 * numbers / 1e6)

    def outputs(self, texts: Texts) -> NDArray[np.float64]:
        """See `Model.outputs`: logarithms of the probabilities."""
        labels, probabilities = self.model.predict([_line(text) for text in texts], k=self.classes)
        logits = np.full((len(texts), self.classes), np.log(_SMALLEST))
        for row, (names, values) in enumerate(zip(labels, probabilities, strict=True)):
            for name, value in zip(names, values, strict=True):
                logits[row, int(name.removeprefix(_LABEL))] = np.log(max(float(value), _SMALLEST))
        return logits


def _line(texts: tuple[str, ...]) -> str:
    import re

    sides = [re.findall(WORD, text.lower()) for text in texts]
    marked = [word for words in sides[:1] for word in words] + [
        f"2_{word}" for words in sides[1:] for word in words
    ]
    return " ".join(marked)


def _lines(split: Split) -> str:
    rows = zip(split.texts, split.gold.tolist(), strict=True)
    return "".join(f"{_LABEL}{number} {_line(texts)}\n" for texts, number in rows)
