"""Inverted dropout whose mask is recomputed, not stored."""

from heedful.ops.dropout.api import dropout

__all__ = ["dropout"]
