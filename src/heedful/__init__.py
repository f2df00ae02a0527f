"""Heedful: small, fast, explainable text models built on structure-guided self-attention.

Importing the package is light: torch and the rest are imported when a name below is first used.
"""

from __future__ import annotations

from importlib import import_module

from heedful.machine.waiting import spin_briefly
from heedful.version import __version__

# Type checkers take it for true. To import it from typing would delay the moment from which Ctrl-C gives one line.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from heedful.bulk.batch_predictor import BatchPredictor
    from heedful.estimators import (
        LabelColumnsClassifier,
        MultiLabelClassifier,
        PairClassifier,
        PairScorer,
        TextClassifier,
        TextScorer,
        TokenTagger,
        from_pretrained,
        load,
    )
    from heedful.tasks import Answer, Predictor

spin_briefly()  # the runtime of torch's threads reads it once, when torch is loaded

__all__ = [
    "Answer",
    "BatchPredictor",
    "LabelColumnsClassifier",
    "MultiLabelClassifier",
    "PairClassifier",
    "PairScorer",
    "Predictor",
    "TextClassifier",
    "TextScorer",
    "TokenTagger",
    "__version__",
    "from_pretrained",
    "load",
]

_HOMES = {
    "Answer": "heedful.tasks",
    "BatchPredictor": "heedful.bulk.batch_predictor",
    "LabelColumnsClassifier": "heedful.estimators",
    "MultiLabelClassifier": "heedful.estimators",
    "PairClassifier": "heedful.estimators",
    "PairScorer": "heedful.estimators",
    "Predictor": "heedful.tasks",
    "TextClassifier": "heedful.estimators",
    "TextScorer": "heedful.estimators",
    "TokenTagger": "heedful.estimators",
    "from_pretrained": "heedful.estimators",
    "load": "heedful.estimators",
}
_WITHOUT_TORCH = frozenset({"BatchPredictor"})


if not TYPE_CHECKING:  # a type checker knows the names above, and names those that are misspelled

    def __getattr__(name: str) -> object:
        """Import a public name on first use."""
        if name not in _HOMES:
            raise AttributeError(f"module 'heedful' has no attribute {name!r}")
        if name in _WITHOUT_TORCH:
            return getattr(import_module(_HOMES[name]), name)
        from heedful.machine import threads

        threads.begin()
        found = getattr(import_module(_HOMES[name]), name)
        threads.settle()
        return found


def __dir__() -> list[str]:
    """List the public names without importing them."""
    return sorted(__all__)
