"""Reusable blocks without paper names."""

from heedful.modules.activation import Activation, activate
from heedful.modules.dense import Dense, regularised_parameters
from heedful.modules.embedding import WordEmbedding
from heedful.modules.fusion_gate import FusionGate
from heedful.modules.highway import Highway

__all__ = [
    "Activation",
    "Dense",
    "FusionGate",
    "Highway",
    "WordEmbedding",
    "activate",
    "regularised_parameters",
]
