"""Pure attention functions: a reference that is the specification, and faster forms that equal it."""

from heedful.ops.additive import additive_attention
from heedful.ops.source_to_token import source_to_token
from heedful.ops.types import AttentionResult, Impl

__all__ = ["AttentionResult", "Impl", "additive_attention", "source_to_token"]
