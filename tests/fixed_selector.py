"""A selector of words whose choice is given, in place of one that is learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.nn import Selection


class Fixed(nn.Module):
    """Stands in for the selector."""

    def __init__(self, query: list[bool], key: list[bool]) -> None:
        super().__init__()
        self.actions = (torch.tensor([query]), torch.tensor([key]))

    def forward(self, x: Tensor, valid: Tensor) -> Selection:
        """Return the given choice, without the words that are padding."""
        return Selection(self.actions[0] & valid, self.actions[1] & valid, x.new_zeros(len(x)))
