"""Which words may look at which: masks as named values that combine."""

from heedful.masks.spec import (
    Mask,
    backward,
    everything,
    forward,
    not_self,
    parse_mask,
    window,
)
from heedful.masks.visibility import Band, Visible, dense_keep

__all__ = [
    "Band",
    "Mask",
    "Visible",
    "backward",
    "dense_keep",
    "everything",
    "forward",
    "not_self",
    "parse_mask",
    "window",
]
