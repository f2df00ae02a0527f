"""Tensorized attention (MTSA): pairwise and feature-wise at the price of matrix products."""

from heedful.ops.tensorized.api import TensorizedImpl, choose_tensorized, tensorized_attention

__all__ = ["TensorizedImpl", "choose_tensorized", "tensorized_attention"]
