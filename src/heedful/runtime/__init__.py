"""Answers of a trained model without torch: NumPy, safetensors and the compiled kernels.

The wheel ``heedful-runtime`` is this package with the torch-free modules it needs (``packages/heedful-runtime``).
"""

from heedful.model.answers import Answer, LabelsAnswer, TagsAnswer
from heedful.runtime.loading import load
from heedful.runtime.runtime_model import RuntimeModel as Model
from heedful.runtime.sentence_vectors import SentenceVectors

__all__ = ["Answer", "LabelsAnswer", "Model", "SentenceVectors", "TagsAnswer", "load"]
