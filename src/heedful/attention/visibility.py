"""Which keys a query may see, as a value that an attention operation can exploit.

A `Band` is a rule on the offset ``j - i`` alone (forward, backward, not-self, window and their intersections): a fast
implementation visits only what is visible. Anything else is a dense tensor of booleans.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

import torch
from torch import Tensor

from heedful.errors import UsageError

FAR = 1 << 30
"""An offset that is larger than any text is long."""


@dataclass(frozen=True)
class Band:
    """Key j is visible to query i iff ``low <= j - i <= high`` and (``diagonal`` or ``j != i``).

    Attributes:
        low: smallest offset; None means no lower bound (every earlier key).
        high: largest offset; None means no upper bound (every later key).
        diagonal: whether a token may see itself.
    """

    low: int | None = None
    high: int | None = None
    diagonal: bool = True

    def __and__(self, other: Band) -> Band:
        lows = [x for x in (self.low, other.low) if x is not None]
        highs = [x for x in (self.high, other.high) if x is not None]
        return Band(
            max(lows) if lows else None, min(highs) if highs else None, self.diagonal and other.diagonal
        )

    @property
    def bounds(self) -> tuple[int, int, bool]:
        """Both ends as numbers, and whether a token sees itself; `FAR` stands for no bound, whatever the length is."""
        return (
            -FAR if self.low is None else self.low,
            FAR if self.high is None else self.high,
            self.diagonal,
        )

    def keep(self, length: int, device: torch.device | str | None = None) -> Tensor:
        """Write the rule out.

        Args:
            length: number of tokens L.
            device: where to put the result.

        Returns:
            keep, [L, L] bool, rows are queries.
        """
        position = torch.arange(length, device=device)
        return self.sees(position[None, :] - position[:, None])

    def sees(self, offset: Tensor) -> Tensor:
        """Apply the rule to offsets j - i.

        Returns whether the key is visible, same shape, bool.
        """
        keep = torch.ones_like(offset, dtype=torch.bool)
        if self.low is not None:
            keep &= offset >= self.low
        if self.high is not None:
            keep &= offset <= self.high
        if not self.diagonal:
            keep &= offset != 0
        return keep


Visible = Band | Tensor
"""A band, or keep as a tensor [L, L] or [B, L, L] of booleans."""


def check_visible(visible: Visible, valid: Tensor, name: str = "visible") -> None:
    """Refuse what is neither a band of whole numbers nor booleans [L, L] or [B, L, L]."""
    batch, length = valid.shape
    if isinstance(visible, Band):
        fits = all(isinstance(end, SupportsIndex) and abs(end.__index__()) <= FAR for end in visible.bounds)
    else:
        fits = isinstance(visible, Tensor) and visible.dtype == torch.bool
        # By the number of axes first: an export for any length must not ask whether B is L.
        fits = fits and visible.shape == ((batch, length, length) if visible.dim() == 3 else (length, length))
    if not fits:
        found = (
            f"{visible.dtype} {list(visible.shape)}" if isinstance(visible, Tensor) else f"{visible!r:.99}"
        )
        raise UsageError(
            f"{name} must be a Band or booleans [L, L] or [B, L, L] = [{batch}, {length}, {length}]; got {found}. "
            "Build one with heedful.attention.masks."
        )


def dense_keep(visible: Visible, valid: Tensor) -> Tensor:
    """Write visibility out for a batch; padded queries see nothing and padded keys are never seen.

    Args:
        visible: a band, or booleans [L, L] or [B, L, L].
        valid: True at a real token, [B, L] bool.

    Returns:
        keep, [B, L, L] bool, rows are queries.

    Raises:
        UsageError: if a dense visible has the wrong type or shape.
    """
    check_visible(visible, valid)
    keep = visible.keep(valid.shape[1], valid.device) if isinstance(visible, Band) else visible
    return keep & valid[:, :, None] & valid[:, None, :]
