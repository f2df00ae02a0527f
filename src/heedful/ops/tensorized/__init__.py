"""Tensorized attention (MTSA): pairwise and feature-wise at the price of matrix products."""

from heedful.ops.tensorized.api import tensorized_attention
from heedful.ops.types import TensorizedImpl

__all__ = ["TensorizedImpl", "tensorized_attention"]
