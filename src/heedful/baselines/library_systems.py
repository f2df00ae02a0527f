"""The text classifiers of two other libraries: fastText's (Joulin et al., EACL 2017) and spaCy's two.

The dev split chooses fastText's epochs and learning rate, and the epoch of spaCy's, which start from a blank pipeline.
"""

from __future__ import annotations

import itertools
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from heedful.baselines.linear import WORD
from heedful.baselines.splits import Split, Splits, Texts

if TYPE_CHECKING:
    from spacy.language import Language


_LABEL = "__label__"
_SMALLEST = 1e-9
"""A probability that a library rounds to 0 counts as this much."""


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
                right = float(
                    np.mean(model.outputs(splits.choosing.texts).argmax(axis=1) == splits.choosing.gold)
                )
                if best is None or right > best[0]:
                    best = right, model
        assert best is not None  # the grid is not empty
        return best[1]


class _FastText(Protocol):
    """What is used of a model of fastText."""

    def get_input_matrix(self) -> NDArray[np.float32]: ...

    def get_output_matrix(self) -> NDArray[np.float32]: ...

    def predict(self, texts: list[str], k: int) -> tuple[list[list[str]], list[NDArray[np.float32]]]: ...


@dataclass(frozen=True)
class FastTextModel:
    """A trained model.

    Attributes:
        model: fastText's own.
        classes: how many there are.
        chosen: what dev chose.
    """

    model: _FastText
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


_ARCHITECTURES = {
    "bag of words": {
        "@architectures": "spacy.TextCatBOW.v3",
        "exclusive_classes": True,
        "ngram_size": 2,
        "no_output_layer": False,
        "length": 262144,
    },
    "ensemble": None,  # spaCy's own default: a bag of words beside a convolutional network
}


@dataclass(frozen=True)
class SpacyBaseline:
    """A classifier of spaCy's with its default settings, for texts.

    Attributes:
        form: "bag of words" or "ensemble".
        epochs: trained at most; the best on dev is kept.
        patience: epochs without a better one that end training.
        batch: texts a step.
    """

    form: Literal["bag of words", "ensemble"]
    epochs: int = 20
    patience: int = 4
    batch: int = 32

    @property
    def name(self) -> str:
        """For tables."""
        return f"spaCy, {self.form}"

    def train(self, splits: Splits) -> SpacyModel:
        """See `System.train`."""
        import spacy
        from spacy.pipeline import TextCategorizer
        from spacy.training import Example
        from spacy.util import fix_random_seed, minibatch

        fix_random_seed(1)
        nlp = spacy.blank("en")
        model = _ARCHITECTURES[self.form]
        categorizer = nlp.add_pipe("textcat", config={} if model is None else {"model": model})
        assert isinstance(categorizer, TextCategorizer)
        names = [str(number) for number in range(len(splits.labels))]
        for name in names:
            categorizer.add_label(name)
        examples = [
            Example.from_dict(
                nlp.make_doc(text), {"cats": {name: float(name == str(gold)) for name in names}}
            )
            for (text,), gold in zip(splits.train.texts, splits.train.gold.tolist(), strict=True)
        ]
        optimizer = nlp.initialize(lambda: examples[:200])
        shuffle, best, weights, chosen = random.Random(1), -1.0, b"", 0
        for epoch in range(1, self.epochs + 1):
            shuffle.shuffle(examples)
            for batch in minibatch(examples, self.batch):
                nlp.update(batch, sgd=optimizer, drop=0.2)
            outputs = SpacyModel(nlp, len(names), "").outputs(splits.choosing.texts)
            right = float(np.mean(outputs.argmax(axis=1) == splits.choosing.gold))
            if right > best:
                best, weights, chosen = right, nlp.to_bytes(), epoch
            if epoch - chosen >= self.patience:
                break
        nlp.from_bytes(weights)
        return SpacyModel(nlp, len(names), f"epoch {chosen}")


@dataclass(frozen=True)
class SpacyModel:
    """A trained pipeline.

    Attributes:
        nlp: spaCy's own.
        classes: how many there are.
        chosen: what dev chose.
    """

    nlp: Language
    classes: int
    chosen: str

    @property
    def megabytes(self) -> float:
        """What the pipeline takes on disk, its words included."""
        return len(self.nlp.to_bytes()) / 1e6

    def outputs(self, texts: Texts) -> NDArray[np.float64]:
        """See `Model.outputs`: logarithms of the probabilities."""
        logits = np.zeros((len(texts), self.classes))
        for row, doc in enumerate(self.nlp.pipe([text for (text,) in texts], batch_size=128)):
            logits[row] = [np.log(max(doc.cats[str(number)], _SMALLEST)) for number in range(self.classes)]
        return logits
