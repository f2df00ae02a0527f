"""Answers of a trained model without torch: NumPy, safetensors and the compiled kernels.

The wheel ``heedful-runtime`` is this package with the torch-free modules it needs (``packages/heedful-runtime``).
"""

from heedful.runtime.answers import Answer, LabelsAnswer
from heedful.runtime.loading import load
from heedful.runtime.model import Model
from heedful.runtime.tag_answers import TagsAnswer

__all__ = ["Answer", "LabelsAnswer", "Model", "TagsAnswer", "load"]
