"""One state a token to one vector a sentence."""

from heedful.pooling.additive import AdditiveAttention
from heedful.pooling.attentive_max import AttentiveMax, NormalisedAttentiveMax
from heedful.pooling.base import Pooling
from heedful.pooling.simple import MaxPooling, MeanPooling
from heedful.pooling.source2token import SourceToToken

__all__ = [
    "AdditiveAttention",
    "AttentiveMax",
    "MaxPooling",
    "MeanPooling",
    "NormalisedAttentiveMax",
    "Pooling",
    "SourceToToken",
]
