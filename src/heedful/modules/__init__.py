"""Reusable blocks without paper names."""

from heedful.modules.activation import Activation, activate
from heedful.modules.dense import Dense, Regularised, l2_factors, regularised_parameters
from heedful.modules.embedding import WordEmbedding
from heedful.modules.feed_forward import FeedForward
from heedful.modules.fusion_gate import FusionGate
from heedful.modules.heads import HeadDense, join_heads, split_heads
from heedful.modules.highway import Highway
from heedful.modules.projected_gate import ProjectedGate
from heedful.modules.two_layers import two_layers

__all__ = [
    "Activation",
    "Dense",
    "FeedForward",
    "FusionGate",
    "HeadDense",
    "Highway",
    "ProjectedGate",
    "Regularised",
    "WordEmbedding",
    "activate",
    "join_heads",
    "l2_factors",
    "regularised_parameters",
    "split_heads",
    "two_layers",
]
