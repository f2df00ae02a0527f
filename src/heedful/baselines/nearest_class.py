"""The rival for very many classes: the class whose training texts are most like a text; its memory grows with them."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import normalize

from heedful.baselines.splits import Numbers


class NearestClass(ClassifierMixin, BaseEstimator):
    """The class with the largest cosine between a row and the mean of its training rows.

    A linear model has a weight for each feature and class, which 10,000 classes make some billions; the means are
    sparse, and have no more numbers than the training rows.

    Attributes:
        classes_: the classes, sorted.
        coef_: the means at length 1, sparse [Y, V].
        intercept_: zeros, [Y].
    """

    def fit(self, X: sparse.csr_matrix, y: Numbers, sample_weight: NDArray[np.float64] | None = None) -> Self:
        """Average the rows of each class.

        Args:
            X: rows, [N, V].
            y: classes, [N].
            sample_weight: how much each row counts, [N]; None for once.

        Returns:
            The classifier.
        """
        self.classes_, places = np.unique(y, return_inverse=True)
        times = np.ones(len(places)) if sample_weight is None else sample_weight
        member = sparse.csr_matrix((times, (places, np.arange(len(places)))))
        self.coef_ = normalize(member @ X).astype(np.float32)
        self.intercept_ = np.zeros(len(self.classes_))
        return self

    def decision_function(self, X: sparse.csr_matrix) -> NDArray[np.float64]:
        """Return the cosine with each class, [N, Y]; of two classes the second's minus the first's, [N]."""
        cosines = (X @ self.coef_.T).toarray().astype(np.float64)
        return cosines[:, 1] - cosines[:, 0] if len(self.classes_) == 2 else cosines

    def predict(self, X: sparse.csr_matrix) -> NDArray[np.int64]:
        """Return the class of the largest cosine, [N]."""
        found: NDArray[np.int64] = self.classes_[(X @ self.coef_.T).toarray().argmax(axis=1)]
        return found
