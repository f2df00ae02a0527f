"""scikit-learn estimators for texts, pairs and words.

Importing this package imports scikit-learn and torch; importing ``heedful`` imports neither.
"""

from heedful.estimators.estimator import Estimator, UnfittedError
from heedful.estimators.of_label_columns import LabelColumnsClassifier
from heedful.estimators.of_tasks import (
    MultiLabelClassifier,
    PairClassifier,
    PairScorer,
    TextClassifier,
    TextScorer,
    from_pretrained,
    load,
)
from heedful.estimators.of_words import TokenTagger

__all__ = [
    "Estimator",
    "LabelColumnsClassifier",
    "MultiLabelClassifier",
    "PairClassifier",
    "PairScorer",
    "TextClassifier",
    "TextScorer",
    "TokenTagger",
    "UnfittedError",
    "from_pretrained",
    "load",
]
