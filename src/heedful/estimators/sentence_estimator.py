"""The base of the estimators of texts and pairs: vectors, full answers with their limits, and neighbors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from heedful.data.readers.text_fields import read_requests
from heedful.estimators.columns import rows_of
from heedful.estimators.estimator import Estimator
from heedful.explain.neighbors import SHOWN, Neighbor, neighbors
from heedful.model.decisions import Wish
from heedful.model.decisions.conformal import Method as SetMethod
from heedful.run import RunConfig
from heedful.tasks import Answer, SentenceModel

if TYPE_CHECKING:
    from sklearn.utils import Tags

Reader = TypeVar("Reader", bound=SentenceModel[Any])


class SentenceEstimator(TransformerMixin, Estimator[Reader]):
    """Base of the estimators whose model has one vector for a text; see `Estimator` for the arguments."""

    def transform(self, X: object) -> NDArray[np.float32]:
        """Return the vector of each text, [N, D], so that a fitted model is a step in front of another estimator.

        Args:
            X: texts. Of pairs the vectors of both texts stand side by side, [N, 2 D].

        Returns:
            What `encode` returns.
        """
        if not self._pair():
            beside = self._beside()
            return self.encode(
                X if beside is None else [each.texts[0] for each in self._requests(X).examples]
            )
        sides = zip(*(example.texts for example in self._requests(X).examples), strict=True)
        return np.concatenate([self.encode(list(side)) for side in sides], axis=1)

    def __sklearn_tags__(self) -> Tags:
        """Declare to scikit-learn that vectors are single precision whatever X is."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Name the columns of `transform`, as scikit-learn's ``set_output`` and ColumnTransformer need them.

        Args:
            input_features: not used.

        Returns:
            The name of the class in small letters with a number, [D].
        """
        network = self.predictor.network
        width = network.sentence_encoder.width_out * (2 if self._pair() else 1)
        name = type(self).__name__.lower()
        return np.array([f"{name}{k}" for k in range(width)], object)

    @classmethod
    def _defaults(cls) -> RunConfig:
        config = super()._defaults()
        return replace(
            config,
            data=replace(config.data, few_rows=1000),
            text=replace(config.text, vectors="auto"),
            model=replace(config.model, wide="linear", sentence="auto"),
        )

    def answer(self, X: object) -> list[Answer]:
        """Return the full prediction for each input, with counts of unknown and truncated words; see `Answer`."""
        return self.predictor.answer(self._requests(X))

    def promised(
        self, X: object, coverage: float, *, method: SetMethod = "lac", by_class: bool = False
    ) -> list[Any]:
        """Return what `answer` returns, with a set of labels or an interval that holds what is right so often.

        Args:
            X: texts or pairs.
            coverage: how often, above 0 and below 1; see docs/limits.md for what that assumes.
            method: of classes how sets are made: "lac", "aps" or "raps".
            by_class: of classes whether it is to hold for each class by itself.

        Returns:
            The answers; ``prediction_set`` or ``interval`` is what was asked for.

        Raises:
            UsageError: if the coverage is out of range, or the model keeps no scores of rows that chose nothing.
        """
        return self.predictor.promising(Wish(coverage, method, by_class)).answer(self._requests(X))

    def encode(self, texts: object) -> NDArray[np.float32]:
        """Return the vector of each text, [N, D]; exactly zero for a text without words."""
        return self.predictor.encode(read_requests(rows_of(texts, name="texts")))

    def neighbors(self, X: object, count: int = SHOWN) -> list[tuple[Neighbor, ...]]:
        """Return the training examples that each input resembles most, of a model that keeps them.

        Args:
            X: texts or pairs.
            count: how many for each, 1 to 100.

        Returns:
            For each input its neighbors, the most alike first; see `heedful.explain.neighbors.Neighbor`.

        Raises:
            UsageError: if the model was trained without ``keep_examples``, or the number is out of range.
        """
        return neighbors(self.predictor, self._requests(X), count)

    def similarity(self, first: object, second: object) -> NDArray[np.float32]:
        """Return the cosine of every text of ``first`` with every text of ``second``, [N, M]; 0 with an empty text."""
        a, b = (_unit(self.encode(texts)) for texts in (first, second))
        return np.clip(a @ b.T, -1, 1).astype(np.float32)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(norms == 0, 1, norms)
