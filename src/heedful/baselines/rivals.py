"""The simple models that a reader would name first, for every task of sentences: they are trained beside every run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from heedful.baselines.linear import (
    NB_SVM,
    TFIDF_LOGISTIC,
    LinearBaseline,
    LinearEstimator,
    Sides,
    character_tfidf,
    word_tfidf,
)
from heedful.baselines.mean_vectors import CosineBaseline
from heedful.baselines.nearest_class import NearestClass
from heedful.baselines.settled_logistic import SettledLogistic
from heedful.baselines.shared_features import FeatureCache, ReadOnce
from heedful.baselines.splits import Features, Rows, Texts
from heedful.errors import DataError, MissingExtraError
from heedful.model.decisions import kind_of
from heedful.runtime.pair_features import ExampleFeatures, overlap
from heedful.runtime.sentence_features import MeanOfVectors
from heedful.text.english import ENGLISH, is_english, package_of
from heedful.text.tokenize import tokenizer

_STRENGTHS = (1.0, 10.0, 100.0)


class SideBySideRows(TransformerMixin, BaseEstimator):
    """The rows of several features side by side.

    Args:
        parts: what makes rows.
        dtype: of the rows: that of the estimator, which would copy others.
    """

    def __init__(self, parts: Sequence[Features], dtype: type = np.float32) -> None:
        self.parts, self.dtype = parts, dtype

    @property
    def bytes(self) -> int:
        """What the parts take on disk."""
        return sum(part.bytes for part in self.parts)

    def fit(self, X: Texts, y: object = None) -> Self:
        """Collect what the parts need from training texts."""
        for part in self.parts:
            part.fit(X)
        self.is_fitted_ = True
        return self

    def fit_transform(self, X: Texts, y: object = None) -> sparse.csr_matrix:
        """Collect what the parts need from training texts, and return their rows."""
        self.is_fitted_ = True
        return self._joined([part.fit_transform(X) for part in self.parts])

    def transform(self, X: Texts) -> sparse.csr_matrix:
        """Return one row an example."""
        return self._joined([part.transform(X) for part in self.parts])

    def _joined(self, rows: list[Rows]) -> sparse.csr_matrix:
        found = sparse.hstack(rows, format="csr")
        rows.clear()  # they are as large as what was made of them
        found.data = found.data.astype(self.dtype, copy=False)
        return found


class Frozen(TransformerMixin, BaseEstimator):
    """Rows that need no training: of a text its features, of a pair how the features of the two relate.

    Args:
        features: turns the words of examples into numbers.
        cutter: name of the tokenizer.
    """

    def __init__(self, features: ExampleFeatures, cutter: str = "treebank") -> None:
        self.features, self.cutter = features, cutter

    @property
    def bytes(self) -> int:
        """Nothing: the rows of vectors belong to their package."""
        return 0

    def fit(self, X: Texts, y: object = None) -> Self:
        """Learn nothing."""
        self.is_fitted_ = True
        return self

    def transform(self, X: Texts) -> NDArray[np.float32]:
        """Return one row an example."""
        words = tokenizer(self.cutter).words
        return self.features.of([[words(text) for text in texts] for texts in X])


class Overlap(TransformerMixin, BaseEstimator):
    """How much the two texts of a pair have in common: the words, their neighbors and their runs of characters.

    Args:
        makers: of what turns words, and runs of characters, into rows.
    """

    def __init__(self, makers: Sequence[Callable[[], Features]]) -> None:
        self.makers = makers

    @property
    def bytes(self) -> int:
        """Nothing is kept."""
        return 0

    def fit(self, X: Texts, y: object = None) -> Self:
        """Collect how rare words and runs of characters are."""
        self.cosines_ = [make().fit(X) for make in self.makers]
        return self

    def transform(self, X: Texts) -> NDArray[np.float32]:
        """Return one row a pair: `overlap`, and the cosines of TF-IDF over words and over runs of characters."""
        words = tokenizer("treebank").words
        rows = np.array([overlap(*(words(text) for text in texts)) for texts in X], np.float32)
        cosines = [_cosines(sides, X) for sides in self.cosines_]
        return np.concatenate([rows.reshape(len(X), -1), *(each[:, None] for each in cosines)], axis=1)


def _cosines(sides: Features, X: Texts) -> NDArray[np.float32]:
    first, second = (
        sparse.csr_matrix(sides.transform([(text,) for text in side])) for side in zip(*X, strict=True)
    )
    return np.asarray(first.multiply(second).sum(axis=1), np.float32).ravel()


class FrozenEncoder(TransformerMixin, BaseEstimator):
    """The sentence vectors of a pretrained encoder: the mean of its last states, at length 1; of pairs as `Sides` does.

    Args:
        folder: of the encoder, as transformers reads it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def bytes(self) -> int:
        """What the weights take on disk."""
        return sum(file.stat().st_size for file in Path(self.folder).glob("*.safetensors"))

    def fit(self, X: Texts, y: object = None) -> Self:
        """Load the encoder; nothing is trained."""
        try:
            from transformers import AutoModel, AutoTokenizer
        except ImportError as error:
            raise MissingExtraError("transformers", "transformers", "a frozen encoder") from error
        self.tokens_ = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        self.encoder_ = AutoModel.from_pretrained(self.folder, local_files_only=True).eval()
        return self

    def transform(self, X: Texts) -> NDArray[np.float32]:
        """Return one row an example."""
        sides = [self._vectors(side) for side in zip(*X, strict=True)]
        if len(sides) == 1:
            return sides[0]
        u, v = sides
        return np.concatenate([u, v, np.abs(u - v), u * v], axis=1)

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import torch

        found = np.zeros((len(texts), self.encoder_.config.hidden_size), np.float32)
        order = np.argsort([len(text) for text in texts], kind="stable")
        for start in range(0, len(order), 32):
            rows = order[start : start + 32]
            batch = self.tokens_(
                [texts[row] for row in rows],
                padding=True,
                truncation=True,
                max_length=256,
                return_tensors="pt",
            )
            with torch.inference_mode():
                states = self.encoder_(**batch).last_hidden_state
                valid = batch["attention_mask"][..., None].to(states.dtype)
                vectors = torch.nn.functional.normalize((states * valid).sum(1) / valid.sum(1).clamp(min=1))
            found[rows] = vectors.float().numpy()
        return found


def logistic(strength: float) -> LinearEstimator:
    """Return logistic regression over a few hundred features that every text has."""
    return SettledLogistic(strength, max_iter=1_000, tol=1e-5)


def _ridge(strength: float) -> LinearEstimator:
    return Ridge(alpha=1 / strength)


def _lsqr(strength: float) -> LinearEstimator:
    return Ridge(alpha=1 / strength, solver="lsqr")


def _words_and_characters(dtype: type = np.float32) -> Features:
    return SideBySideRows([Sides(word_tfidf()), Sides(character_tfidf())], dtype)


WORDS_AND_CHARACTERS = LinearBaseline(
    "TF-IDF (words 1-2, characters 2-5) + linear SVM",
    partial(_words_and_characters, np.float64),
    lambda strength: LinearSVC(C=strength, random_state=0, max_iter=5_000),
    (0.1, 0.3, 1.0, 3.0),
)
WORDS_AND_CHARACTERS_RIDGE = LinearBaseline(
    "TF-IDF (words 1-2, characters 2-5) + ridge regression",
    _words_and_characters,
    _lsqr,
    (0.1, 0.3, 1.0, 3.0, 10.0),
)
NEAREST_CLASS = LinearBaseline(
    "TF-IDF (words 1-2, characters 2-5), nearest class",
    _words_and_characters,
    lambda strength: NearestClass(),
    (1.0,),
)
MOST_CLASSES = 200
"""Classes above which only the nearest class is tried: other models have a weight for each feature and class."""
CHARACTER_COSINE = CosineBaseline("TF-IDF (characters 2-5), cosine", lambda: Sides(character_tfidf()))


def mean_of_package(task: str) -> LinearBaseline:
    """Return a linear model over the mean of the word vectors of the English package, which must be installed.

    Args:
        task: what the gold is for, ``model.task``.

    Returns:
        Logistic regression for classes, and ridge regression for numbers.
    """
    kind = kind_of(task)
    classes, pairs = kind.outputs == "classes", kind.texts == 2
    features = ExampleFeatures(MeanOfVectors.packaged(ENGLISH), "ordered" if pairs else "none")
    ending = "logistic regression" if classes else "ridge regression"
    name = f"mean of word vectors ({ENGLISH}) + {ending}"
    return LinearBaseline(name, lambda: Frozen(features), logistic if classes else _ridge, _STRENGTHS)


def frozen_encoder(task: str, folder: Path) -> LinearBaseline:
    """Return a linear model over the vectors of a pretrained encoder, which is not trained.

    Args:
        task: what the gold is for, ``model.task``.
        folder: of the encoder.

    Returns:
        Logistic regression for classes, and ridge regression for numbers.

    Raises:
        DataError: if the folder holds no encoder.
    """
    if not (folder / "config.json").is_file():
        raise DataError(f"{folder}: is no encoder of transformers: there is no config.json")
    classes = kind_of(task).outputs == "classes"
    name = f"{folder.name}, frozen + {'logistic regression' if classes else 'ridge regression'}"
    return LinearBaseline(name, partial(FrozenEncoder, folder), logistic if classes else _ridge, _STRENGTHS)


def rivals(
    task: str, texts: Texts, encoders: Sequence[Path] = (), outputs: int = 0
) -> list[LinearBaseline | CosineBaseline]:
    """Return the simple models for a task.

    Args:
        task: what the gold is for, ``model.task``.
        texts: of the training examples, which say whether English word vectors suit them.
        encoders: folders of pretrained encoders, whose frozen vectors are tried too.
        outputs: how many classes there are, if that matters.

    Returns:
        The models; none for a task that has none.
    """
    classes = kind_of(task).outputs == "classes"
    if not (classes or kind_of(task).is_score):
        return []
    if classes and outputs > MOST_CLASSES:
        return [NEAREST_CLASS]
    pairs = bool(texts) and len(texts[0]) == 2
    words, characters = (
        FeatureCache(word_tfidf),
        FeatureCache(character_tfidf),
    )  # each text is read once for all of them

    def of_words() -> Features:
        return Sides(ReadOnce(words))

    def of_characters() -> Features:
        return Sides(ReadOnce(characters))

    def of_both() -> Features:
        # Nothing else reads the characters of single texts.
        runs = of_characters() if pairs else Sides(character_tfidf())
        return SideBySideRows([of_words(), runs], np.float64 if classes else np.float32)

    def there() -> Features:
        return Sides(ReadOnce(words, presence=True))

    make: Callable[[float], LinearEstimator] = logistic if classes else _ridge
    ending = "logistic regression" if classes else "ridge regression"
    found: list[LinearBaseline | CosineBaseline] = (
        [
            replace(TFIDF_LOGISTIC, features=of_words),
            replace(NB_SVM, features=there),
            replace(WORDS_AND_CHARACTERS, features=of_both),
        ]
        if classes
        else [replace(WORDS_AND_CHARACTERS_RIDGE, features=of_both)]
    )
    if pairs:
        overlaps = partial(Overlap, (of_words, of_characters))
        found.append(LinearBaseline(f"overlap of the texts + {ending}", overlaps, make, _STRENGTHS))
    if pairs and not classes:
        found.append(replace(CHARACTER_COSINE, features=of_characters))
    if package_of(ENGLISH) and is_english(text for each in texts[:500] for text in each):
        found.append(mean_of_package(task))
    found += [frozen_encoder(task, folder) for folder in encoders]
    return found
