"""Predict with models that Heedful trained: NumPy, safetensors and compiled kernels, without torch.

>>> import heedful_runtime
>>> model = heedful_runtime.load("runs/trec")  # doctest: +SKIP
>>> next(model.predict(["Who wrote this?"])).label  # doctest: +SKIP
'HUM'
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heedful_runtime.runtime import Answer, LabelsAnswer, Model, TagsAnswer, load

__version__ = "0"  # that of heedful, in what setup.py gathers

__all__ = ["Answer", "LabelsAnswer", "Model", "TagsAnswer", "__version__", "explanation_of", "load"]


if TYPE_CHECKING:
    from heedful_runtime.explain import Explanation


def explanation_of(model: Model, request: str | Sequence[str], *, faithfulness: bool = True) -> "Explanation":
    """Show what a model looked at in a text or a pair; see `heedful_runtime.explain.explainer.explain`."""
    from heedful_runtime.explain.explainer import explain as explained

    return explained(model, request, faithfulness=faithfulness)
