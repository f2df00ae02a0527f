"""Source2token attention (DiSAN)."""

from heedful.ops.source_to_token.api import source_to_token

__all__ = ["source_to_token"]
