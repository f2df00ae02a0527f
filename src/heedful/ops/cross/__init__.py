"""Soft alignment of two sentences, in both directions."""

from heedful.ops.cross.api import Alignment, soft_align
from heedful.ops.cross.reference import soft_align_reference

__all__ = ["Alignment", "soft_align", "soft_align_reference"]
