"""Pure functions of tensors: a reference that is the specification, and faster forms that equal it."""

from heedful.attention.additive import additive_attention
from heedful.attention.dot_product import head_attention, head_bias, masked_head_attention
from heedful.attention.dropouts import dropout
from heedful.attention.implementation import AttentionResult, Impl, TorchImpl
from heedful.attention.precomputed_scores import (
    Alignment,
    clear_padding,
    feature_scored_attention,
    scored_attention,
    soft_align,
)
from heedful.attention.source2token import source_to_token
from heedful.attention.tensorized import tensorized_attention
from heedful.attention.visibility import Band

__all__ = [
    "Alignment",
    "AttentionResult",
    "Band",
    "Impl",
    "TorchImpl",
    "additive_attention",
    "clear_padding",
    "dropout",
    "feature_scored_attention",
    "head_attention",
    "head_bias",
    "masked_head_attention",
    "scored_attention",
    "soft_align",
    "source_to_token",
    "tensorized_attention",
]
