"""Pure functions of tensors: a reference that is the specification, and faster forms that equal it."""

from heedful.ops.additive import additive_attention
from heedful.ops.cross import Alignment, soft_align
from heedful.ops.dropout import dropout
from heedful.ops.padding import clear_padding
from heedful.ops.scored import scored_attention
from heedful.ops.source_to_token import source_to_token
from heedful.ops.types import AttentionResult, Impl

__all__ = [
    "Alignment",
    "AttentionResult",
    "Impl",
    "additive_attention",
    "clear_padding",
    "dropout",
    "scored_attention",
    "soft_align",
    "source_to_token",
]
